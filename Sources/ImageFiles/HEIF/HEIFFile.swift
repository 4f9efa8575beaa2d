import ImagePipeline

/// The boxes of a HEIF or AVIF file, as far as they are needed before libheif sees it: its brand, and the largest image in it.
struct HEIFFile {
  /// Of the image with the most pixels: the image itself, since its tiles, its thumbnails and its transparency are no larger.
  let width: Int
  let height: Int

  /// The brands of images, and whether they say that they are AVIF.
  private static let brands: [(name: StaticString, isAVIF: Bool)] = [
    ("avif", true), ("avis", true), ("heic", false), ("heix", false), ("heim", false), ("heis", false),
    ("hevc", false), ("hevx", false), ("mif1", false), ("msf1", false),
  ]

  /// Whether a file begins with a brand of images.
  static func isRecognized(_ bytes: UnsafeRawBufferPointer) -> Bool { isAVIF(bytes) != nil }

  /// Whether the brand is one of AVIF's; nil where it is none of images.
  static func isAVIF(_ bytes: UnsafeRawBufferPointer) -> Bool? {
    let reader = ByteReader(bytes)
    guard reader.holds("ftyp", at: 4) else { return nil }
    return brands.first { reader.holds($0.name, at: 8) }?.isAVIF
  }

  init(_ bytes: UnsafeRawBufferPointer) throws(ImageError) {
    let reader = ByteReader(bytes, isBigEndian: true)
    var largest = (width: 0, height: 0)
    Self.forEachBox(reader, in: 0..<bytes.count) { type, content in
      // A full box: four bytes of version and flags come first.
      guard type == "meta", content.count >= 4 else { return }
      Self.forEachBox(reader, in: content.lowerBound + 4..<content.upperBound) { type, content in
        guard type == "iprp" else { return }
        Self.forEachBox(reader, in: content) { type, content in
          guard type == "ipco" else { return }
          Self.forEachBox(reader, in: content) { type, content in
            guard type == "ispe", content.count >= 12,
              let width = reader.integer32(at: content.lowerBound + 4),
              let height = reader.integer32(at: content.lowerBound + 8),
              width * height > largest.width * largest.height
            else { return }
            largest = (width, height)
          }
        }
      }
    }
    guard largest.width > 0 else {
      throw .corrupt(.heif, reason: "it states no size, or the data end before")
    }
    (width, height) = largest
  }

  private static func forEachBox(
    _ reader: ByteReader, in range: Range<Int>, _ visit: (_ type: String, _ content: Range<Int>) -> Void
  ) {
    var position = range.lowerBound
    while position + 8 <= range.upperBound, let size = reader.integer32(at: position),
      let type = reader.bytes(at: position + 4, count: 4)
    {
      var (start, length) = (position + 8, size)
      if size == 1 {
        guard let long = reader.integer64(at: position + 8) else { return }
        (start, length) = (position + 16, long)
      }
      if size == 0 { length = range.upperBound - position }
      guard length >= start - position, length <= range.upperBound - position else { return }
      visit(String(decoding: type, as: UTF8.self), start..<position + length)
      position += length
    }
  }
}
