/// Writes TIFF files of several pages of grey bytes, with directories below them.
struct TIFFBuilder {
  struct Page {
    var tags: [Int: Int] = [:]
    /// The value of every pixel.
    var value: UInt8 = 0
    var side = 32
    var below: [Page] = []
  }

  var isBigEndian = false
  /// BigTIFF, with offsets of 64 bits.
  var isBig = false

  /// Pages in a chain, the pixels before the directories and the directories in the opposite order, as some programs write them.
  func file(_ pages: [Page]) -> [UInt8] {
    var file = isBigEndian ? Array("MM".utf8) : Array("II".utf8)
    file += number(isBig ? 43 : 42, 2)
    if isBig { file += number(8, 2) + number(0, 2) }
    let start = file.count
    file += number(0, offsetSize)
    var next = 0
    for page in pages.reversed() { next = append(page, next: next, to: &file) }
    file.replaceSubrange(start..<start + offsetSize, with: number(next, offsetSize))
    return file
  }

  private var offsetSize: Int { isBig ? 8 : 4 }

  /// - Returns: where the directory lies.
  private func append(_ page: Page, next: Int, to file: inout [UInt8]) -> Int {
    let below = page.below.map { append($0, next: 0, to: &file) }
    let pixels = file.count
    file += [UInt8](repeating: page.value, count: page.side * page.side)
    var values = page.tags.mapValues { [$0] }
    values.merge(
      [
        256: [page.side], 257: [page.side], 258: [8], 259: [1], 262: [1], 273: [pixels], 277: [1],
        278: [page.side], 279: [page.side * page.side],
      ], uniquingKeysWith: { given, _ in given })
    if !below.isEmpty { values[330] = below }
    let longs = isBig ? 16 : 4
    var entries: [UInt8] = []
    for (tag, numbers) in values.sorted(by: { $0.key < $1.key }) {
      var field = numbers.flatMap { number($0, offsetSize) }
      if numbers.count > 1 {
        let place = file.count
        file += field
        field = number(place, offsetSize)
      }
      entries += number(tag, 2) + number(longs, 2) + number(numbers.count, offsetSize) + field
    }
    let directory = file.count
    file += number(values.count, isBig ? 8 : 2) + entries + number(next, offsetSize)
    return directory
  }

  private func number(_ value: Int, _ count: Int) -> [UInt8] {
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    return isBigEndian ? bytes.reversed() : bytes
  }
}
