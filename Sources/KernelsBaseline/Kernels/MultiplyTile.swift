import Builtin
import KernelInterface

/// Keeps the compiler from moving loads from one step of the depth to another: it would gather more of them than there
/// are registers. No instruction.
@inline(__always)
private func keepLoadsApart() { Builtin.fence_seqcst_singlethread() }

/// A register tile of `rows` rows by `vectors` vectors of `C`.
///
/// The arrays have constant lengths, so that the compiler unrolls the loops and keeps every accumulator in a register.
enum Tile<let rows: Int, let vectors: Int> {
  static var rowCount: Int { rows }

  /// Computes the tile whose first element is `C[row, column]`.
  @inline(__always)
  static func compute<Function: ActivationFunction>(
    _ product: MatrixProduct, panel: UnsafePointer<Float>, row: Int, column: Int, next: inout NextPanel,
    _: Function.Type
  ) {
    let width = Vector.scalarCount
    let aStride = product.aStride
    let bias = product.bias + column
    let start = InlineArray<vectors, Vector> { load(bias + $0 &* width) }
    var sums = InlineArray<rows, InlineArray<vectors, Vector>> { _ in start }
    var segment = product.a + row &* aStride
    var b = panel
    next.startTile()
    for _ in 0..<product.segmentCount {
      var a = segment
      #if arch(wasm32)
        // Every step ends the loop's body: compilers of WebAssembly know no fence for loads.
        for _ in 0..<product.segmentDepth {
          step(a, aStride, b, &sums)
          a += 1
          b += vectors &* width
        }
      #else
        for _ in 0..<product.segmentDepth / 4 {
          step(a, aStride, b, &sums)
          keepLoadsApart()
          step(a + 1, aStride, b + vectors &* width, &sums)
          keepLoadsApart()
          step(a + 2, aStride, b + 2 &* vectors &* width, &sums)
          keepLoadsApart()
          step(a + 3, aStride, b + 3 &* vectors &* width, &sums)
          keepLoadsApart()
          next.ask()
          a += 4
          b += 4 &* vectors &* width
        }
        for _ in 0..<product.segmentDepth % 4 {
          step(a, aStride, b, &sums)
          a += 1
          b += vectors &* width
        }
      #endif
      segment += product.segmentStride
    }
    let cStride = product.cStride
    let offset = row &* cStride &+ column
    let c = product.c + offset
    // A loop over the sums need not be unrolled, and where it is not the array would lie in memory, stored by every step
    // above. Stored once here, they are read back from the first-level cache.
    for i in 0..<rows {
      for j in 0..<vectors { store(sums[i][j], c + (i &* cStride &+ j &* width)) }
    }
    if let residual = product.residual {
      let residual = residual + offset
      for i in 0..<rows {
        for j in 0..<vectors {
          let place = i &* cStride &+ j &* width
          store(Function.apply(load(c + place) + load(residual + place)), c + place)
        }
      }
    } else if Function.self != Identity.self {
      for i in 0..<rows {
        for j in 0..<vectors {
          let place = c + (i &* cStride &+ j &* width)
          store(Function.apply(load(place)), place)
        }
      }
    }
  }

  /// One step of the depth, for tiles of at most twelve rows.
  @inline(__always)
  private static func step(
    _ a: UnsafePointer<Float>, _ aStride: Int, _ b: UnsafePointer<Float>,
    _ sums: inout InlineArray<rows, InlineArray<vectors, Vector>>
  ) {
    let bRow = InlineArray<vectors, Vector> { load(b + $0 &* Vector.scalarCount) }
    feed(0, a, aStride, bRow, &sums)
    feed(1, a, aStride, bRow, &sums)
    feed(2, a, aStride, bRow, &sums)
    feed(3, a, aStride, bRow, &sums)
    feed(4, a, aStride, bRow, &sums)
    feed(5, a, aStride, bRow, &sums)
    feed(6, a, aStride, bRow, &sums)
    feed(7, a, aStride, bRow, &sums)
    feed(8, a, aStride, bRow, &sums)
    feed(9, a, aStride, bRow, &sums)
    feed(10, a, aStride, bRow, &sums)
    feed(11, a, aStride, bRow, &sums)
  }

  @inline(__always)
  private static func feed(
    _ i: Int, _ a: UnsafePointer<Float>, _ aStride: Int, _ bRow: InlineArray<vectors, Vector>,
    _ sums: inout InlineArray<rows, InlineArray<vectors, Vector>>
  ) {
    if i >= rows { return }
    let element = Vector(repeating: a[i &* aStride])
    for j in 0..<vectors { sums[i][j].accumulate(bRow[j], element) }
  }

  /// Computes all rows of one panel. The last tile of a run reaches back over rows already done rather than have a
  /// variant for every remainder: the same sums give the same bits.
  @inline(never)
  static func computePanel<Function: ActivationFunction>(
    _ product: MatrixProduct, panel: UnsafePointer<Float>, column: Int, _: Function.Type
  ) {
    let count = product.rowCount
    let tileCount = product.runCount &* (count < rows ? count : (count &+ rows &- 1) / rows)
    let panelCount = vectors &* Vector.scalarCount &* product.depth
    var next = NextPanel(panel + panelCount, count: panelCount, requestCount: tileCount &* product.depth / 4)
    var product = product
    for _ in 0..<product.runCount {
      var row = 0
      while row < count {
        if count < rows {
          Tile<1, vectors>.compute(
            product, panel: panel, row: row, column: column, next: &next, Function.self)
          row &+= 1
        } else {
          compute(
            product, panel: panel, row: min(row, count &- rows), column: column, next: &next, Function.self)
          row &+= rows
        }
      }
      product.a += count &* product.aStride
      product.c += product.runStride
      if let residual = product.residual { product.residual = residual + product.runStride }
    }
  }
}
