import KernelInterface

/// A register tile of `rows` rows by `vectors` vectors of `C`.
///
/// The arrays have constant lengths, so that the compiler unrolls the loops and keeps every accumulator in a register.
enum Tile<let rows: Int, let vectors: Int> {
  static var rowCount: Int { rows }

  /// Computes the tile whose first element is `C[row, column]`.
  @inline(__always)
  static func compute<Function: ActivationFunction>(
    _ product: MatrixProduct, panel: UnsafePointer<Float>, row: Int, column: Int, _: Function.Type
  ) {
    let width = Vector.scalarCount
    let aStride = product.aStride
    let bias = product.bias + column
    let start = InlineArray<vectors, Vector> { load(bias + $0 &* width) }
    var sums = InlineArray<rows, InlineArray<vectors, Vector>> { _ in start }
    var a = product.a + row &* aStride
    var b = panel
    for _ in 0..<product.depth {
      let bRow = InlineArray<vectors, Vector> { load(b + $0 &* width) }
      for i in 0..<rows {
        let element = Vector(repeating: a[i &* aStride])
        for j in 0..<vectors { sums[i][j].accumulate(bRow[j], element) }
      }
      a += 1
      b += vectors &* width
    }
    let cStride = product.cStride
    let offset = row &* cStride &+ column
    let c = product.c + offset
    // The loops below are unrolled over 12 sums but not over 24. There, the array would have to stay in memory, stored
    // by every step of the loop above; instead it is stored once, and read back from the first-level cache.
    let readsBack = rows &* vectors > 12
    if readsBack {
      for i in 0..<rows {
        for j in 0..<vectors { store(sums[i][j], c + (i &* cStride &+ j &* width)) }
      }
    }
    if let residual = product.residual {
      let residual = residual + offset
      for i in 0..<rows {
        for j in 0..<vectors {
          let place = i &* cStride &+ j &* width
          let sum = readsBack ? load(c + place) : sums[i][j]
          store(Function.apply(sum) + load(residual + place), c + place)
        }
      }
    } else if !readsBack || Function.self != Identity.self {
      for i in 0..<rows {
        for j in 0..<vectors {
          let place = i &* cStride &+ j &* width
          let sum = readsBack ? load(c + place) : sums[i][j]
          store(Function.apply(sum), c + place)
        }
      }
    }
  }

  /// Computes all rows of one panel. The last tile reaches back over rows already done rather than have a
  /// variant for every remainder: the same sums give the same bits.
  @inline(never)
  static func computePanel<Function: ActivationFunction>(
    _ product: MatrixProduct, panel: UnsafePointer<Float>, column: Int, _: Function.Type
  ) {
    let count = product.rowCount
    if count < rows {
      for row in 0..<count {
        Tile<1, vectors>.compute(product, panel: panel, row: row, column: column, Function.self)
      }
      return
    }
    var row = 0
    while row < count {
      compute(product, panel: panel, row: min(row, count &- rows), column: column, Function.self)
      row &+= rows
    }
  }
}

private struct Panels: ActivationLoop {
  let product: MatrixProduct

  @inline(__always)
  func run<Function: ActivationFunction>(_: Function.Type) {
    for index in product.panelRange {
      let column = index &* 2 &* Vector.scalarCount
      let panel = product.panels + column &* product.depth
      var run = product
      for _ in 0..<product.runCount {
        switch product.layout.vectorCount(ofPanel: index) {
        case 1: OneVectorTile.computePanel(run, panel: panel, column: column, Function.self)
        case 2: TwoVectorTile.computePanel(run, panel: panel, column: column, Function.self)
        default: ThreeVectorTile.computePanel(run, panel: panel, column: column, Function.self)
        }
        run.a += product.rowCount &* product.aStride
        run.c += product.runStride
        if let residual = run.residual { run.residual = residual + product.runStride }
      }
    }
  }
}

/// See ``MatrixProduct``.
func multiply(_ product: MatrixProduct) {
  product.activation.select(Panels(product: product))
}
