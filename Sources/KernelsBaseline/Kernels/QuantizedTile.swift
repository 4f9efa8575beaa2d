import KernelInterface

/// A register tile of `rows` rows by `vectors` vectors of an int8 product; see ``Tile``, which it follows.
enum QuantizedTile<let rows: Int, let vectors: Int> {
  @inline(__always)
  private static func compute<Function: ActivationFunction>(
    _ product: QuantizedProduct, panel: UnsafePointer<Int32>, row: Int, column: Int, _: Function.Type
  ) {
    let width = Words.scalarCount
    let aStride = product.aStride
    let bias = product.bias + column
    let start = InlineArray<vectors, Words> { load(bias + $0 &* width) }
    var sums = InlineArray<rows, InlineArray<vectors, Words>> { _ in start }
    var a = product.a + row &* aStride
    var b = panel
    for _ in 0..<product.wordCount {
      step(a, aStride, b, &sums)
      a += 1
      b += vectors &* width
    }
    let cStride = product.cStride
    let offset = row &* cStride &+ column
    let c = product.c + offset
    // As in ``Tile``, the sums are stored as they are, so that they stay in registers until then.
    for i in 0..<rows {
      for j in 0..<vectors { store(sums[i][j], c + (i &* cStride &+ j &* width)) }
    }
    if let residual = product.residual {
      finish(c, cStride, product.scale + column, residual: residual + offset, Function.self)
    } else {
      finish(c, cStride, product.scale + column, residual: nil, Function.self)
    }
  }

  /// Turns the sums into the product's elements.
  @inline(__always)
  private static func finish<Function: ActivationFunction>(
    _ c: UnsafeMutablePointer<Float>, _ cStride: Int, _ scale: UnsafePointer<Float>,
    residual: UnsafePointer<Float>?, _: Function.Type
  ) {
    for j in 0..<vectors {
      let column = j &* Words.scalarCount
      let scale = load(scale + column)
      for i in 0..<rows {
        let place = i &* cStride &+ column
        let sum = load(UnsafeRawPointer(c + place).assumingMemoryBound(to: Int32.self))
        var value = sum.floats * scale
        if let residual { value += load(residual + place) }
        store(Function.apply(value), c + place)
      }
    }
  }

  /// One word of the depth, for tiles of at most twelve rows.
  @inline(__always)
  private static func step(
    _ a: UnsafePointer<Int32>, _ aStride: Int, _ b: UnsafePointer<Int32>,
    _ sums: inout InlineArray<rows, InlineArray<vectors, Words>>
  ) {
    let bRow = InlineArray<vectors, Words> { load(b + $0 &* Words.scalarCount) }
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
    _ i: Int, _ a: UnsafePointer<Int32>, _ aStride: Int, _ bRow: InlineArray<vectors, Words>,
    _ sums: inout InlineArray<rows, InlineArray<vectors, Words>>
  ) {
    if i >= rows { return }
    let word = Words(repeating: a[i &* aStride])
    for j in 0..<vectors { sums[i][j].accumulate(word, bRow[j]) }
  }

  /// Computes all rows of one panel; the last tile of a run reaches back over rows already done.
  @inline(never)
  static func computePanel<Function: ActivationFunction>(
    _ product: QuantizedProduct, panel: UnsafePointer<Int32>, column: Int, _: Function.Type
  ) {
    let count = product.rowCount
    var product = product
    for _ in 0..<product.runCount {
      var row = 0
      while row < count {
        if count < rows {
          QuantizedTile<1, vectors>.compute(product, panel: panel, row: row, column: column, Function.self)
          row &+= 1
        } else {
          compute(product, panel: panel, row: min(row, count &- rows), column: column, Function.self)
          row &+= rows
        }
      }
      product.a += count &* product.aStride
      product.c += product.runStride
      if let residual = product.residual { product.residual = residual + product.runStride }
    }
  }
}
