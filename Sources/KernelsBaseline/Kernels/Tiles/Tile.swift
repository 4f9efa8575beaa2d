import Builtin
import KernelInterface

/// Keeps the compiler from moving loads from one step of the depth to another: it would gather more of them than there
/// are registers. No instruction.
@inline(__always)
private func keepLoadsApart() { Builtin.fence_seqcst_singlethread() }

/// A register tile of `rows` rows by `vectors` vectors of `C`.
///
/// The arrays have constant lengths, so that the compiler unrolls the loops and keeps every accumulator in a register.
enum Tile<Elements: ProductElements, let rows: Int, let vectors: Int> {
  typealias Sums = InlineArray<rows, InlineArray<vectors, Elements.Sums>>

  /// Computes the tile whose first element is `C[row, column]`.
  @inline(__always)
  static func compute(
    _ product: MatrixProduct, panel: UnsafePointer<Elements.Word>, row: Int, column: Int,
    next: inout NextPanel
  ) {
    let width = Vector.scalarCount
    let aStride = product.aStride
    let bias = product.bias + 4 &* column
    let start = InlineArray<vectors, Elements.Sums> {
      (bias + 4 &* $0 &* width).loadUnaligned(as: Elements.Sums.self)
    }
    var sums = Sums { _ in start }
    var segment = product.a.assumingMemoryBound(to: Elements.Word.self) + row &* aStride
    var b = panel
    next.startTile()
    for _ in 0..<product.segmentCount {
      var a = segment
      var left = product.segmentDepth
      if Elements.areStepsUnrolled {
        while left >= 4 {
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
          left &-= 4
        }
      }
      while left > 0 {
        step(a, aStride, b, &sums)
        if !Elements.areStepsUnrolled { next.ask() }
        a += 1
        b += vectors &* width
        left &-= 1
      }
      segment += product.segmentStride
    }
    let cStride = product.cStride
    let c = product.c + (row &* cStride &+ column)
    // A loop over the sums need not be unrolled, and where it is not the array would lie in memory, stored by every step
    // above. Stored once here, they are read back from the first-level cache by what ends the tile.
    for i in 0..<rows {
      for j in 0..<vectors {
        UnsafeMutableRawPointer(c + (i &* cStride &+ j &* width))
          .storeBytes(of: sums[i][j], as: Elements.Sums.self)
      }
    }
  }

  /// One step of the depth, for tiles of at most twelve rows.
  @inline(__always)
  private static func step(
    _ a: UnsafePointer<Elements.Word>, _ aStride: Int, _ b: UnsafePointer<Elements.Word>, _ sums: inout Sums
  ) {
    let bRow = InlineArray<vectors, Elements.Words> {
      UnsafeRawPointer(b + $0 &* Vector.scalarCount).loadUnaligned(as: Elements.Words.self)
    }
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
    _ i: Int, _ a: UnsafePointer<Elements.Word>, _ aStride: Int,
    _ bRow: InlineArray<vectors, Elements.Words>, _ sums: inout Sums
  ) {
    if i >= rows { return }
    let word = a[i &* aStride]
    for j in 0..<vectors { Elements.accumulate(&sums[i][j], word, bRow[j]) }
  }

  /// Computes all rows of one panel. The last tile of a run reaches back over rows already done rather than have a
  /// variant for every remainder: the same sums give the same bits.
  @inline(never)
  static func computePanel(_ product: MatrixProduct, panel: UnsafePointer<Elements.Word>, column: Int) {
    let count = product.rowCount
    let tileCount = product.runCount &* (count < rows ? count : (count &+ rows &- 1) / rows)
    let panelCount = vectors &* Vector.scalarCount &* product.depth
    let requestCount = tileCount &* product.depth / (Elements.areStepsUnrolled ? 4 : 1)
    var next = NextPanel(panel + panelCount, count: panelCount, requestCount: requestCount)
    var product = product
    for _ in 0..<product.runCount {
      var row = 0
      while row < count {
        if count < rows {
          Tile<Elements, 1, vectors>.compute(product, panel: panel, row: row, column: column, next: &next)
          TileEnding<Elements>.finish(product, row: row, rows: 1, column: column, vectors: vectors)
          row &+= 1
        } else {
          let first = min(row, count &- rows)
          compute(product, panel: panel, row: first, column: column, next: &next)
          TileEnding<Elements>.finish(product, row: first, rows: rows, column: column, vectors: vectors)
          row &+= rows
        }
      }
      product.a += 4 &* count &* product.aStride
      product.c += product.runStride
      if let residual = product.residual { product.residual = residual + product.runStride }
    }
  }
}
