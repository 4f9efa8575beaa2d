import ImagePipeline

/// 256 bits of a photograph, by which its copies are found: for each cell of a grid 1 where the cell is brighter than those around
/// it. 64 bits are of a grid of 8x8 cells, 192 of one of 16x16 without its corners. They say where a picture has light and dark
/// spots, and nothing of its colours, its brightness, or details smaller than a cell.
package struct Fingerprint: Sendable, Equatable {
  package static let byteCount = 32
  static let grid = 16
  static let coarseGrid = 8
  /// Pictures of less contrast, in grey levels, say nothing.
  private static let leastContrast: Float = 0.25

  let coarse: UInt64
  /// The middle of the grid first.
  let fine: SIMD4<UInt64>

  /// Nil for a picture without contrast.
  package init?(_ thumbnail: Thumbnail) {
    let sums = ThumbnailSums(thumbnail)
    let contrasts = sums.contrasts(grid: Self.grid, in: .whole)
    guard contrasts.mean >= Self.leastContrast else { return nil }
    fine = Self.fineWords(contrasts.values)
    coarse = Self.word(sums.contrasts(grid: Self.coarseGrid, in: .whole).values)
  }

  private init(coarse: UInt64, fine: SIMD4<UInt64>) {
    self.coarse = coarse
    self.fine = fine
  }

  /// The bytes in a file; zeros stand for a photograph without a fingerprint.
  package var bytes: [UInt8] {
    [coarse, fine.x, fine.y, fine.z].flatMap { word in
      (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) }
    }
  }

  /// - Parameter bytes: 32.
  package init?(bytes: ArraySlice<UInt8>) {
    precondition(bytes.count == Self.byteCount, "\(bytes.count) bytes of a fingerprint")
    guard bytes.contains(where: { $0 != 0 }) else { return nil }
    let words = (0..<4).map { word in
      (0..<8).reduce(UInt64(0)) { $0 | UInt64(bytes[bytes.startIndex + 8 * word + $1]) << (8 * $1) }
    }
    self.init(coarse: words[0], fine: SIMD4(words[1], words[2], words[3], 0))
  }

  /// As it would be if the picture were turned or mirrored.
  func turned(_ turn: Int) -> Fingerprint {
    Fingerprint(coarse: Turn.turned(coarse, turn), fine: Turn.turned(fine, turn))
  }

  // MARK: - Bits

  /// The cells of the fine grid that have a bit: those in the middle, then the others but for the corners.
  static let places: [Int] = {
    let all = (0..<grid * grid).map { (row: $0 / grid, column: $0 % grid) }
    let isMiddle = { (index: Int) in (grid / 4..<3 * grid / 4).contains(index) }
    return all.filter { isMiddle($0.row) && isMiddle($0.column) }.map { $0.row * grid + $0.column }
      + all.filter { isMiddle($0.row) != isMiddle($0.column) }.map { $0.row * grid + $0.column }
  }()

  /// - Parameter values: of all cells of the fine grid.
  static func fineWords(_ values: [Float]) -> SIMD4<UInt64> { words(values) { $0 > 0 } }

  /// - Parameter isSet: true if a cell's bit is 1.
  static func words<Value>(_ values: [Value], isSet: (Value) -> Bool) -> SIMD4<UInt64> {
    let places = places
    var words = SIMD4<UInt64>.zero
    for index in 0..<places.count / 64 {
      var word: UInt64 = 0
      for bit in 0..<64 { word |= (isSet(values[places[64 * index + bit]]) ? 1 : 0) << UInt64(bit) }
      words[index] = word
    }
    return words
  }

  static func word(_ values: [Float]) -> UInt64 {
    values.enumerated().reduce(0) { $1.element > 0 ? $0 | 1 << UInt64($1.offset) : $0 }
  }
}

/// The eight ways to lay a square on itself: four quarter turns, and those of its mirror image.
enum Turn {
  private static let all = ImageViews.symmetries.symmetriesOfSquare
  static let count = all.count

  private static let fine = all.map { $0.places(side: Fingerprint.grid) }
  private static let coarse = all.map { $0.places(side: Fingerprint.coarseGrid) }

  /// For each turn the cell from which each cell of the turned grid comes.
  static func places(grid: Int) -> [[Int]] { grid == Fingerprint.grid ? fine : coarse }

  /// The bits of the coarse grid, turned.
  static func turned(_ word: UInt64, _ turn: Int) -> UInt64 {
    var turned: UInt64 = 0
    for (place, source) in coarse[turn].enumerated() {
      turned |= (word >> UInt64(source) & 1) << UInt64(place)
    }
    return turned
  }

  /// The bits of the fine grid, turned.
  static func turned(_ words: SIMD4<UInt64>, _ turn: Int) -> SIMD4<UInt64> {
    let sources = fineSources[turn]
    var turned = SIMD4<UInt64>.zero
    for index in 0..<sources.count / 64 {
      var word: UInt64 = 0
      for bit in 0..<64 {
        let source = sources[64 * index + bit]
        word |= (words[source / 64] >> UInt64(source % 64) & 1) << UInt64(bit)
      }
      turned[index] = word
    }
    return turned
  }

  /// For each turn the one that undoes it.
  static let inverses: [Int] = coarse.map { turn in
    coarse.firstIndex { other in turn.indices.allSatisfy { other[turn[$0]] == $0 } }!
  }

  /// For each turn the bit from which each bit of a turned fingerprint comes.
  private static let fineSources: [[Int]] = {
    let places = Fingerprint.places
    let bits = Dictionary(uniqueKeysWithValues: places.enumerated().map { ($1, $0) })
    return fine.map { turned in places.compactMap { bits[turned[$0]] } }
  }()
}
