import ImagePipeline
import SystemModule

/// What the headers of a Windows or OS/2 bitmap say, read as Pillow's `BmpImagePlugin` reads it.
struct BMPHeader {
  enum Pixels: Equatable {
    /// Indices of so many bits into the palette.
    case indices(bits: Int)
    /// Runs of indices; see ``BMPRunLengthReader``.
    case runs(bits: Int)
    /// Where the bytes of red, green and blue lie in a pixel of so many bytes.
    case bytes(count: Int, red: Int, green: Int, blue: Int)
    /// 16-bit words of red, green and blue; green has five bits or six.
    case words(greenBits: Int)
  }

  /// The sizes of the headers that Pillow reads: OS/2 1, Windows 3, 3 with masks (52 and 56), OS/2 2, Windows 4 and 5.
  static let sizes = [12, 40, 52, 56, 64, 108, 124]

  let width: Int
  let height: Int
  let isTopDown: Bool
  let pixels: Pixels
  /// Red, green and blue of each index; black where the file has no entry.
  let palette: [UInt8]
  /// Where the first row that is stored begins.
  let start: Int

  /// Bytes from one row to the next: rows are filled up to words of 32 bits.
  func stride(bits: Int) -> Int { (width * bits + 31) / 32 * 4 }

  init(_ reader: ByteReader) throws(DermaFusionError) {
    // A DIB is a bitmap without the file's own header of 14 bytes.
    let header = reader.holds("BM", at: 0) ? 14 : 0
    let size = try Self.require(reader.integer32(at: header), "header")
    guard Self.sizes.contains(size) else {
      throw .unsupportedVariant(.bmp, reason: "a header of \(size) bytes")
    }
    guard reader.bytes(at: header, count: size) != nil else {
      throw .truncated(.bmp, reason: "the data end in the header")
    }
    let isOld = size == 12
    let integer16 = { (offset: Int) in reader.integer16(at: header + offset) ?? 0 }
    let integer32 = { (offset: Int) in reader.integer32(at: header + offset) ?? 0 }
    let bits = integer16(isOld ? 10 : 14)
    width = isOld ? integer16(4) : integer32(4)
    let storedHeight = isOld ? integer16(6) : integer32(8)
    isTopDown = !isOld && storedHeight >> 24 == 0xFF
    height = isTopDown ? 1 << 32 - storedHeight : storedHeight
    guard width > 0, height > 0 else { throw .corrupt(.bmp, reason: "the size is \(width)x\(height)") }
    let compression = isOld ? 0 : integer32(16)
    let isMasked = compression == 3
    pixels = try Self.pixels(
      bits: bits, compression: compression,
      masks: isMasked
        ? try (0..<3).map { channel throws(DermaFusionError) in
          try Self.require(reader.integer32(at: header + 40 + channel * 4), "masks")
        } : [])

    let usesPalette = bits <= 8
    let entrySize = isOld ? 3 : 4
    let statedCount = isOld ? 0 : integer32(32)
    let count = statedCount == 0 ? 1 << bits : statedCount
    let paletteStart = header + size + (isMasked && size == 40 ? 12 : 0)
    if usesPalette, count > 65536 {
      throw .unsupportedVariant(.bmp, reason: "a palette of \(count) colours")
    }
    var start = header == 0 ? 0 : reader.integer32(at: 10) ?? 0
    // Some programs write where the palette begins in the place of the pixels.
    if start == 14 + size, usesPalette { start += entrySize * count }
    self.start = start > 0 ? start : paletteStart + (usesPalette ? entrySize * count : 0)
    palette = usesPalette ? Self.palette(reader, at: paletteStart, count: count, entrySize: entrySize) : []
  }

  private static func require(_ value: Int?, _ part: String) throws(DermaFusionError) -> Int {
    guard let value else { throw .truncated(.bmp, reason: "the data end in the \(part)") }
    return value
  }

  private static func palette(_ reader: ByteReader, at start: Int, count: Int, entrySize: Int) -> [UInt8] {
    var palette = [UInt8](repeating: 0, count: 256 * 3)
    for index in 0..<min(count, 256) {
      guard let entry = reader.bytes(at: start + index * entrySize, count: entrySize) else { break }
      for channel in 0..<3 { palette[index * 3 + channel] = entry[2 - channel] }
    }
    return palette
  }

  private static func pixels(bits: Int, compression: Int, masks: [Int]) throws(DermaFusionError) -> Pixels {
    switch (bits, compression) {
    case (1, 0), (4, 0), (8, 0): return .indices(bits: bits)
    case (1, 1), (4, 1), (8, 1): return .runs(bits: 8)
    case (1, 2), (4, 2), (8, 2): return .runs(bits: 4)
    case (16, 0): return .words(greenBits: 5)
    case (24, 0), (32, 0): return .bytes(count: bits / 8, red: 2, green: 1, blue: 0)
    case (16, 3):
      if masks == [0xF800, 0x7E0, 0x1F] { return .words(greenBits: 6) }
      if masks == [0x7C00, 0x3E0, 0x1F] { return .words(greenBits: 5) }
    case (24, 3), (32, 3):
      // Masks of zeros stand for the usual order.
      if masks == [0, 0, 0] { return .bytes(count: bits / 8, red: 2, green: 1, blue: 0) }
      let places = masks.compactMap { mask in (0..<bits / 8).first { mask == 0xFF << ($0 * 8) } }
      if places.count == 3 {
        return .bytes(count: bits / 8, red: places[0], green: places[1], blue: places[2])
      }
    case (1, _), (4, _), (8, _), (16, _), (24, _), (32, _):
      throw .unsupportedVariant(.bmp, reason: "compression \(compression) with \(bits) bits per pixel")
    default:
      throw .unsupportedVariant(.bmp, reason: "\(bits) bits per pixel")
    }
    let digits = masks.map { String($0, radix: 16, uppercase: true) }.joined(separator: ", ")
    throw .unsupportedVariant(.bmp, reason: "\(bits) bits per pixel with the masks \(digits)")
  }
}

extension BMPHeader {
  /// The letters BM alone also begin a text. A bitmap without the file's header is known by its planes and bits.
  static func isRecognized(_ bytes: UnsafeRawBufferPointer) -> Bool {
    let reader = ByteReader(bytes)
    if reader.holds("BM", at: 0) {
      return reader.integer32(at: 14).map(sizes.contains) ?? false
        || reader.bytes(at: 6, count: 8)?.prefix(4).allSatisfy { $0 == 0 } ?? false
    }
    guard let size = reader.integer32(at: 0), size >= 40, sizes.contains(size) else { return false }
    return reader.integer16(at: 12) == 1 && [1, 4, 8, 16, 24, 32].contains(reader.integer16(at: 14))
  }
}
