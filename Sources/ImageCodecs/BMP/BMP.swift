import ImagePipeline
import SystemModule

/// Windows and OS/2 bitmaps: 1, 4, 8, 16, 24 and 32 bits per pixel, runs of indices, masks, rows in either order.
enum BMPDecoder {
  static func decode(
    _ bytes: UnsafeRawBufferPointer, part: ImagePart, limits: DecodingLimits
  ) throws(DermaFusionError) -> DecodedImage {
    let reader = ByteReader(bytes)
    let header = try BMPHeader(reader)
    let (width, height) = (header.width, header.height)
    try limits.check(width: width, height: height, part: part)
    let rows = try Rows(header, reader)
    let orientation = header.isTopDown ? Orientation.upright : .mirroredVertically
    if let plan = SquareRows.Plan(
      part, storedWidth: width, storedHeight: height, orientation: orientation,
      limits: limits)
    {
      let reservation = try limits.reserve(plan.byteCount + rows.waitingByteCount, for: .bmp)
      var square = SquareRows(plan)
      try withUnsafeTemporaryAllocation(of: UInt8.self, capacity: width * 3) {
        (rgb) throws(DermaFusionError) in
        guard let rgb = rgb.baseAddress else { preconditionFailure("an image without columns") }
        try rows.read { row, index in
          rows.convert(row, to: rgb)
          square.add(rgb, at: index)
        }
      }
      return square.finish(damage: nil, reservation: reservation)
    }
    let reservation = try limits.reserve(width * height * 3 + rows.waitingByteCount, for: .bmp)
    let image = try PixelImage(width: width, height: height) { (pixels) throws(DermaFusionError) in
      try rows.read { row, index in
        let y = header.isTopDown ? index : height - 1 - index
        rows.convert(row, to: pixels + y * width * 3)
      }
    }
    return DecodedImage(image, reservation: reservation)
  }

  /// The rows in the order in which they are stored.
  private struct Rows {
    let header: BMPHeader
    let bytes: UnsafeRawBufferPointer
    let stride: Int

    init(_ header: BMPHeader, _ reader: ByteReader) throws(DermaFusionError) {
      self.header = header
      bytes = reader.bytes
      let bits: Int
      switch header.pixels {
      case .runs:
        stride = 0
        return
      case .indices(let count): bits = count
      case .words: bits = 16
      case .bytes(let count, _, _, _): bits = count * 8
      }
      stride = header.stride(bits: bits)
      // The last row need not be filled up.
      let needed = stride * (header.height - 1) + (header.width * bits + 7) / 8
      guard reader.bytes(at: header.start, count: needed) != nil else {
        let available = max(0, bytes.count - header.start)
        throw .truncated(.bmp, reason: "\(available) bytes of pixels where \(needed) are needed")
      }
    }

    /// Bytes of a run that is longer than its row, in an array that doubles: the longest passes over 255 rows.
    var waitingByteCount: Int {
      if case .runs = header.pixels { header.width * 512 } else { 0 }
    }

    /// Hands over each row as it is stored, one of runs as an index of 8 bits for each pixel, and its number.
    func read(_ body: (UnsafeRawBufferPointer, _ index: Int) -> Void) throws(DermaFusionError) {
      if case .runs(let bits) = header.pixels {
        var runs = BMPRunLengthReader(
          bytes, start: header.start, width: header.width, height: header.height, bits: bits)
        return try runs.readRows(body)
      }
      for index in 0..<header.height {
        body(UnsafeRawBufferPointer(rebasing: bytes[(header.start + index * stride)...]), index)
      }
    }

    /// Writes a row as RGB, `[width, 3]`.
    func convert(_ row: UnsafeRawBufferPointer, to rgb: UnsafeMutablePointer<UInt8>) {
      let width = header.width
      switch header.pixels {
      case .indices, .runs:
        let bits = if case .indices(let bits) = header.pixels { bits } else { 8 }
        let mask = 1 << bits - 1
        for x in 0..<width {
          let index = Int(row[x * bits / 8]) >> (8 - bits - x * bits % 8) & mask
          for channel in 0..<3 { rgb[x * 3 + channel] = header.palette[index * 3 + channel] }
        }
      case .words(let greenBits):
        for x in 0..<width {
          let word = Int(row[x * 2]) | Int(row[x * 2 + 1]) << 8
          let green = 1 << greenBits - 1
          rgb[x * 3] = UInt8((word >> (5 + greenBits) & 31) * 255 / 31)
          rgb[x * 3 + 1] = UInt8((word >> 5 & green) * 255 / green)
          rgb[x * 3 + 2] = UInt8((word & 31) * 255 / 31)
        }
      case .bytes(let count, let red, let green, let blue):
        for x in 0..<width {
          rgb[x * 3] = row[x * count + red]
          rgb[x * 3 + 1] = row[x * count + green]
          rgb[x * 3 + 2] = row[x * count + blue]
        }
      }
    }
  }
}

/// The headers of a Windows or OS/2 bitmap, read as Pillow's `BmpImagePlugin` reads them.
struct BMPHeader {
  enum Pixels: Equatable {
    /// Indices of so many bits into the palette.
    case indices(bits: Int)
    /// Runs of indices; see ``BMPRunLengthReader``.
    case runs(bits: Int)
    /// The places of the bytes of red, green and blue in a pixel of so many bytes.
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
  /// The place where the first row that is stored begins.
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

/// The runs of a bitmap with 4 or 8 bits per pixel, taken apart as Pillow's `BmpRleDecoder` does.
struct BMPRunLengthReader {
  private let bytes: UnsafeRawBufferPointer
  private var position: Int
  private let width: Int
  /// Pixels of the image, and those that were read.
  private let count: Int
  private var readCount = 0
  private let bits: Int
  /// Indices that wait until their row is complete.
  private var waiting: [UInt8] = []
  private var x = 0

  init(_ bytes: UnsafeRawBufferPointer, start: Int, width: Int, height: Int, bits: Int) {
    self.bytes = bytes
    position = start
    self.width = width
    count = width * height
    self.bits = bits
  }

  /// Hands over the index of each pixel, row by row, `[width]`, and the row's number in the order in which they are stored.
  mutating func readRows(_ body: (UnsafeRawBufferPointer, _ index: Int) -> Void) throws(DermaFusionError) {
    let rowCount = count / width
    var row = 0
    var goesOn = true
    while row < rowCount, goesOn {
      goesOn = readCount < count && readRun()
      var start = 0
      while row < rowCount, waiting.count - start >= width {
        waiting.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[start..<start + width]), row) }
        start += width
        row += 1
      }
      waiting.removeFirst(start)
    }
    guard readCount >= count else {
      throw .truncated(.bmp, reason: "the runs end after \(readCount) of \(count) pixels")
    }
  }

  private mutating func append(_ index: UInt8) {
    waiting.append(index)
    readCount += 1
  }

  private mutating func appendZeros(_ count: Int) {
    waiting.append(contentsOf: repeatElement(0, count: count))
    readCount += count
  }

  /// - Returns: false where the bitmap ends, or its data do.
  private mutating func readRun() -> Bool {
    guard let first = next(), let second = next() else { return false }
    if first > 0 {
      // Pixels that do not fit in the row are left out.
      let length = max(0, min(Int(first), width - x))
      for index in 0..<length { append(value(of: second, at: index)) }
      x += length
      return true
    }
    switch second {
    case 0:
      let rest = readCount % width
      if rest > 0 { appendZeros(width - rest) }
      x = 0
      return true
    case 1:
      return false
    case 2:
      guard let right = next(), let up = next() else { return false }
      appendZeros(min(count - readCount, Int(right) + Int(up) * width))
      x = readCount % width
      return true
    default:
      return readPlain(Int(second))
    }
  }

  /// Pixels one by one, filled up to an even position in the file.
  private mutating func readPlain(_ stated: Int) -> Bool {
    let length = min(count - readCount, stated)
    for index in 0..<(length * bits + 7) / 8 {
      guard let byte = next() else { return false }
      append(value(of: byte, at: 0))
      if bits == 4, index * 2 + 1 < length { append(value(of: byte, at: 1)) }
    }
    if readCount == count { return false }
    x += stated
    if position % 2 != 0 { position += 1 }
    return true
  }

  /// The whole byte, or one of its halves.
  private func value(of byte: UInt8, at index: Int) -> UInt8 {
    bits == 8 ? byte : index % 2 == 0 ? byte >> 4 : byte & 15
  }

  private mutating func next() -> UInt8? {
    guard bytes.indices.contains(position) else { return nil }
    defer { position += 1 }
    return bytes[position]
  }
}
