import CBuiltins
import KernelInterface

/// The elements of a product: how the values of a word are multiplied and added up. A type of elements is one such type and
/// a line in `KernelChoice`'s table.
protocol ProductElements {
  /// A word of a row of `A`.
  associatedtype Word: BitwiseCopyable
  /// A vector of words of `B`, one for each column.
  associatedtype Words: BitwiseCopyable
  /// A vector of sums, one for each column.
  associatedtype Sums: BitwiseCopyable
  /// True if the sums are whole numbers, which are multiplied by a scale and may become levels.
  static var areWholeNumbers: Bool { get }
  /// True if four steps of the depth follow one another in a loop's body. Where products are no operation of the compiler's
  /// own, it would load the words of all four before it multiplies the first, and has no registers for them.
  static var areStepsUnrolled: Bool { get }

  /// Adds the products of a word of `A` and the words of `B`.
  static func accumulate(_ sums: inout Sums, _ a: Word, _ b: Words)
  /// Adds the products of a row's word and the words of each vector; of a pair, see ``KernelInterface/MatrixProduct/isPair``, of
  /// two words.
  static func accumulate<let vectors: Int>(
    _ sums: inout InlineArray<vectors, Sums>, _ a: UnsafePointer<Word>, _ b: InlineArray<vectors, Words>)
  /// The sums as floats.
  static func floats(_ sums: Sums) -> Vector
}

extension ProductElements {
  @inline(__always)
  static func accumulate<let vectors: Int>(
    _ sums: inout InlineArray<vectors, Sums>, _ a: UnsafePointer<Word>, _ b: InlineArray<vectors, Words>
  ) {
    let word = a[0]
    for j in 0..<vectors { accumulate(&sums[j], word, b[j]) }
  }
}

/// Computes a product, panel by panel.
@inline(__always)
func multiply<Elements: ProductElements>(_ product: MatrixProduct, _: Elements.Type) {
  let bias = product.bias.loadUnaligned(as: Elements.Sums.self)
  var sums = InlineArray<24, Elements.Sums>(repeating: bias)
  withUnsafeMutableBytes(of: &sums) {
    let scratch = $0.baseAddress!.assumingMemoryBound(to: Float.self)
    for index in product.panelRange {
      let column = index &* 2 &* Vector.scalarCount
      let panel = product.panels.assumingMemoryBound(to: Elements.Word.self) + column &* product.matrixDepth
      switch product.layout.vectorCount(ofPanel: index) {
      case 1: OneVectorTile<Elements>.computePanel(product, panel: panel, column: column, scratch: scratch)
      case 2: TwoVectorTile<Elements>.computePanel(product, panel: panel, column: column, scratch: scratch)
      default: ThreeVectorTile<Elements>.computePanel(product, panel: panel, column: column, scratch: scratch)
      }
    }
  }
}

/// Computes a product of two groups of columns, see ``KernelInterface/MatrixProduct/isPair``.
@inline(__always)
func multiplyPair<Elements: ProductElements>(_ product: MatrixProduct, _: Elements.Type) {
  withUnsafeTemporaryAllocation(of: Float.self, capacity: 24 &* Vector.scalarCount) {
    PairTile<Elements>.computePanel(
      product, panel: product.panels.assumingMemoryBound(to: Elements.Word.self), column: 0,
      scratch: $0.baseAddress!)
  }
}

// The register budget of each instruction set, for every type of elements. A tile of R rows by W vectors takes R * W
// accumulators, W registers for the panel's row and one or two for the broadcast element and, where products and sums are
// two instructions, the product.
#if KERNEL_AVX512 || arch(arm64)
  /// 32 registers: 24 accumulators.
  typealias TwoVectorTile<Elements: ProductElements> = Tile<Elements, 12, 2>
  typealias ThreeVectorTile<Elements: ProductElements> = Tile<Elements, 8, 3>
  typealias OneVectorTile<Elements: ProductElements> = Tile<Elements, 12, 1>
  /// The compiler multiplies the second words of all rows last, and keeps them until then.
  typealias PairTile<Elements: ProductElements> = Tile<Elements, 6, 3>
  let rowTile = 12
#else
  /// 16 registers: 12 accumulators in the wide tile, 9 in the other, for with 12 the compiler spills one.
  typealias TwoVectorTile<Elements: ProductElements> = Tile<Elements, 6, 2>
  typealias ThreeVectorTile<Elements: ProductElements> = Tile<Elements, 3, 3>
  typealias OneVectorTile<Elements: ProductElements> = Tile<Elements, 6, 1>
  typealias PairTile<Elements: ProductElements> = Tile<Elements, 3, 3>
  let rowTile = 6
#endif

/// A register tile of `rows` rows by `vectors` vectors of `C`.
///
/// The arrays have constant lengths, so that the compiler unrolls the loops and keeps every accumulator in a register.
enum Tile<Elements: ProductElements, let rows: Int, let vectors: Int> {
  typealias Sums = InlineArray<rows, InlineArray<vectors, Elements.Sums>>

  /// Computes the sums of the tile whose first row of `A` is given, and writes them to rows `stride` floats apart.
  @inline(__always)
  static func compute(
    _ product: MatrixProduct, panel: UnsafePointer<Elements.Word>, first: UnsafePointer<Elements.Word>,
    column: Int,
    into target: UnsafeMutablePointer<Float>, stride: Int, prefetch: inout Prefetch
  ) {
    let width = Vector.scalarCount
    let aStride = product.aStride
    let bias = product.bias + 4 &* column
    let start = InlineArray<vectors, Elements.Sums> {
      (bias + 4 &* $0 &* width).loadUnaligned(as: Elements.Sums.self)
    }
    var sums = Sums { _ in start }
    var segment = first
    var b = panel
    prefetch.startTile()
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
          prefetch.next()
          a += 4
          b += 4 &* vectors &* width
          left &-= 4
        }
      }
      while left > 0 {
        step(a, aStride, b, &sums)
        if !Elements.areStepsUnrolled { prefetch.next() }
        a += 1
        b += vectors &* width
        left &-= 1
      }
      segment += product.segmentStride
    }
    // A loop over the sums need not be unrolled, and where it is not the array would lie in memory, stored by every step
    // above. Stored once here, they are read back from the first-level cache by the epilogue.
    for i in 0..<rows {
      for j in 0..<vectors {
        UnsafeMutableRawPointer(target + (i &* stride &+ j &* width))
          .storeBytes(of: sums[i][j], as: Elements.Sums.self)
      }
    }
  }

  /// One step of the depth, for tiles of at most twelve rows. In the higher ones the compiler might load the words of all rows
  /// first, for which there are no registers, and keep sums in memory instead.
  @inline(__always)
  private static func step(
    _ a: UnsafePointer<Elements.Word>, _ aStride: Int, _ b: UnsafePointer<Elements.Word>,
    _ sums: inout Sums
  ) {
    let bRow = InlineArray<vectors, Elements.Words> {
      UnsafeRawPointer(b + $0 &* Vector.scalarCount).loadUnaligned(as: Elements.Words.self)
    }
    feed(0, a, aStride, bRow, &sums)
    feed(1, a, aStride, bRow, &sums)
    feed(2, a, aStride, bRow, &sums)
    feed(3, a, aStride, bRow, &sums)
    if rows > 6 { keepLoadsApart() }
    feed(4, a, aStride, bRow, &sums)
    feed(5, a, aStride, bRow, &sums)
    feed(6, a, aStride, bRow, &sums)
    feed(7, a, aStride, bRow, &sums)
    if rows > 6 { keepLoadsApart() }
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
    Elements.accumulate(&sums[i], a + i &* aStride, bRow)
  }

  /// Computes the tile of some rows that follow, its epilogue included. A tile that would leave the run reaches back over rows
  /// already done: the same sums give the same bits.
  ///
  /// The sums that an epilogue reads lie in `scratch`: a load from a row of `C` waits for stores to other rows whose addresses
  /// end in the same twelve bits.
  @inline(__always)
  private static func finish(
    _ product: MatrixProduct, _ panel: UnsafePointer<Elements.Word>, _ run: Int, _ row: inout Int,
    _ column: Int,
    _ scratch: UnsafeMutablePointer<Float>, _ prefetch: inout Prefetch
  ) {
    let width = vectors &* Vector.scalarCount
    let first = min(row, product.rowCount &- rows)
    let place = run &* product.runStride &+ first &* product.cStride &+ column
    let hasEpilogue = Epilogue<Elements>.isNeeded(product)
    if let residual = product.residual { prefetchRows(residual + place, product.cStride) }
    compute(
      product, panel: panel + (product.firstRow &+ run &* product.runDepth) &* width,
      first: product.a.assumingMemoryBound(to: Elements.Word.self)
        + (run &* product.runAStride &+ first &* product.aStride),
      column: column, into: hasEpilogue ? scratch : product.c + place,
      stride: hasEpilogue ? width : product.cStride, prefetch: &prefetch)
    if hasEpilogue {
      Epilogue<Elements>.apply(
        product, sums: scratch, place: place, rows: rows, column: column, vectors: vectors)
    }
    row &+= rows
  }

  /// Prefetches the tile's part of some rows.
  @inline(__always)
  private static func prefetchRows(_ first: UnsafePointer<Float>, _ stride: Int) {
    for i in 0..<rows {
      var column = 0
      while column < vectors &* Vector.scalarCount {
        CBuiltins.prefetch(first + (i &* stride &+ column))
        column &+= 16
      }
    }
  }

  /// Computes all rows of one panel. What is left of a run takes the lowest of the tiles of 4, 8 and all rows that covers it,
  /// rather than a variant for every remainder.
  @inline(never)
  static func computePanel(
    _ product: MatrixProduct, panel: UnsafePointer<Elements.Word>, column: Int,
    scratch: UnsafeMutablePointer<Float>
  ) {
    let count = product.rowCount
    let tileCount = product.runCount &* (count < rows ? count : (count &+ rows &- 1) / rows)
    let depth = product.segmentCount &* product.segmentDepth
    let panelCount = vectors &* Vector.scalarCount &* depth
    let requestCount = tileCount &* depth / (Elements.areStepsUnrolled ? 4 : 1)
    // Those of the next run, or the next panel.
    let isStack = product.runCount > 1 && product.runDepth > 0
    let next = isStack ? depth : product.matrixDepth &+ product.firstRow
    var prefetch = Prefetch(
      panel + next &* vectors &* Vector.scalarCount,
      count: isStack ? product.runCount &* panelCount : panelCount, requestCount: requestCount)
    for run in 0..<product.runCount {
      var row = 0
      while row < count {
        let left = count &- row
        if rows > 8, left <= 8, left > 4, count >= 8 {
          Tile<Elements, 8, vectors>.finish(product, panel, run, &row, column, scratch, &prefetch)
        } else if rows > 4, left <= 4 || count < rows, count >= 4 {
          Tile<Elements, 4, vectors>.finish(product, panel, run, &row, column, scratch, &prefetch)
        } else if count < rows {
          Tile<Elements, 1, vectors>.finish(product, panel, run, &row, column, scratch, &prefetch)
        } else {
          finish(product, panel, run, &row, column, scratch, &prefetch)
        }
      }
    }
  }
}

/// Prefetches the next panel, piece by piece, while the kernel computes with this one.
///
/// The weights of a late block do not fit in the second-level cache beside the pixels, and the first tile of each panel
/// would wait for it.
struct Prefetch {
  private var address: UnsafePointer<Float>
  private let end: UnsafePointer<Float>
  private var step: Int

  /// - Parameter requestCount: The calls of ``next()`` while the kernel computes with the panel in use.
  @inline(__always)
  init(_ start: UnsafeRawPointer, count: Int, requestCount: Int) {
    address = start.assumingMemoryBound(to: Float.self)
    end = address + count
    // Rounded up: otherwise half a panel would be left of one that 17 tiles pass over.
    step = max((count &+ requestCount &- 1) / max(requestCount, 1), 1)
  }

  /// To be called before each tile: prefetches end with the panel.
  @inline(__always)
  mutating func startTile() {
    if address >= end { step = 0 }
  }

  /// Prefetches the next piece.
  @inline(__always)
  mutating func next() {
    CBuiltins.prefetch(address)
    address += step
  }
}
