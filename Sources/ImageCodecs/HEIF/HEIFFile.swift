import SystemModule

/// The boxes of a HEIF or AVIF file, as far as they are needed before libheif sees it: its brand, and the largest image in it.
struct HEIFFile {
  /// The width of the image with the most pixels: the image itself, since its tiles, its thumbnails and its transparency are no
  /// larger.
  let width: Int
  let height: Int
  /// True if it is an AVIF of 8 bits whose colours are stored for every second pixel and row.
  let isSubsampledAVIF: Bool
  /// True if it is an AVIF of 8 bits without colours.
  let isMonochromeAVIF: Bool
  /// The number of its pictures and the profile of the one that is shown.
  let facts: FileFacts

  /// The brands of images, and whether they say that they are AVIF; nil where it may be either.
  private static let brands: [(name: StaticString, isAVIF: Bool?)] = [
    ("avif", true), ("avis", true), ("heic", false), ("heix", false), ("heim", false), ("heis", false),
    ("hevc", false), ("hevx", false), ("mif1", nil), ("msf1", nil),
  ]

  static func isRecognized(_ bytes: UnsafeRawBufferPointer) -> Bool { brand(bytes) != nil }

  /// True if the brand is one of AVIF's; nil where it does not tell.
  static func isAVIF(_ bytes: UnsafeRawBufferPointer) -> Bool? { brand(bytes)?.isAVIF }

  private static func brand(_ bytes: UnsafeRawBufferPointer) -> (name: StaticString, isAVIF: Bool?)? {
    let reader = ByteReader(bytes)
    guard reader.holds("ftyp", at: 4) else { return nil }
    return brands.first { reader.holds($0.name, at: 8) }
  }

  init(_ bytes: UnsafeRawBufferPointer) throws(DermaFusionError) {
    let reader = ByteReader(bytes, isBigEndian: true)
    var largest = (width: 0, height: 0)
    var codecs: [Int] = []
    var items = HEIFItems()
    // A full box: four bytes of version and flags come first.
    Self.forEachBox(reader, "meta", in: 0..<bytes.count) { meta in
      items.read(reader, meta.dropFirst(4))
      Self.forEachBox(reader, "iprp", in: meta.dropFirst(4)) { properties in
        Self.forEachBox(reader, "ipco", in: properties) { list in
          Self.forEachBox(reader, "ispe", in: list) { size in
            guard size.count >= 12, let width = reader.integer32(at: size.lowerBound + 4),
              let height = reader.integer32(at: size.lowerBound + 8),
              width < 1 << 31, height < 1 << 31, width * height > largest.width * largest.height
            else { return }
            largest = (width, height)
          }
          Self.forEachBox(reader, "av1C", in: list) { codec in
            if let kind = reader.byte(at: codec.lowerBound + 2) { codecs.append(kind) }
          }
        }
      }
    }
    Self.forEachBox(reader, "moov", in: 0..<bytes.count) { items.readFilm(reader, $0) }
    facts = items.facts
    guard largest.width > 0 else {
      throw .corrupt(.heif, reason: "it states no size, or the data end before")
    }
    (width, height) = largest
    // High depth, 12 bits, monochrome, and whether columns and rows are halved. An image's alpha is monochrome too.
    let isAVIF = Self.isAVIF(bytes) != false
    isSubsampledAVIF = isAVIF && codecs.contains { $0 & 0x7C == 0x0C }
    isMonochromeAVIF = isAVIF && !codecs.isEmpty && codecs.allSatisfy { $0 & 0x70 == 0x10 }
  }

  static func forEachBox(
    _ reader: ByteReader, _ wanted: StaticString? = nil, in range: Range<Int>,
    _ visit: (_ content: Range<Int>) -> Void
  ) {
    var position = range.lowerBound
    while position + 8 <= range.upperBound, let size = reader.integer32(at: position) {
      var (start, length) = (position + 8, size)
      if size == 1 {
        guard let long = reader.integer64(at: position + 8) else { return }
        (start, length) = (position + 16, long)
      }
      if size == 0 { length = range.upperBound - position }
      guard length >= start - position, length <= range.upperBound - position else { return }
      if wanted.map({ reader.holds($0, at: position + 4) }) ?? true { visit(start..<position + length) }
      position += length
    }
  }
}
