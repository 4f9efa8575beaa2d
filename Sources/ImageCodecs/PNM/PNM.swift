import ImagePipeline
import SystemModule

/// Netpbm's P1...P6 with a maximum of 1...65535, scaled as Pillow scales them.
enum PNMDecoder {
  static func isRecognized(_ bytes: UnsafeRawBufferPointer) -> Bool {
    bytes.count >= 2 && bytes[0] == UInt8(ascii: "P") && (0x31...0x36).contains(bytes[1])
      && (bytes.count == 2 || bytes[2].isASCIIWhitespace)
  }

  /// True if the numbers of a header follow the first two letters, which a text may begin with too.
  static func statesSize(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var parser = PNMParser(bytes)
    parser.skipMagicNumber()
    guard let width = try? parser.readNumber("the width"), let height = try? parser.readNumber("the height")
    else { return false }
    return width > 0 && height > 0
  }

  static func decode(
    _ bytes: UnsafeRawBufferPointer, part: ImagePart, limits: DecodingLimits
  ) throws(DermaFusionError) -> DecodedImage {
    var parser = PNMParser(bytes)
    parser.skipMagicNumber()
    let kind = bytes[1] - UInt8(ascii: "0")
    let width = try parser.readNumber("the width")
    let height = try parser.readNumber("the height")
    guard width > 0, height > 0 else { throw .corrupt(.pnm, reason: "the size is \(width)x\(height)") }
    try limits.check(width: width, height: height, part: part)

    var maximum = 1
    if kind != 1, kind != 4 {
      maximum = try parser.readNumber("the maximum")
      guard (1...65535).contains(maximum) else {
        throw .corrupt(.pnm, reason: "the maximum is \(maximum), not in 1...65535")
      }
    }
    let layout = Layout(
      width: width, height: height, channels: kind == 3 || kind == 6 ? 3 : 1, maximum: maximum)
    let reservation = try limits.reserve(width * height * 3, for: .pnm)
    let image =
      switch kind {
      case 1: try decodePlainBitmap(&parser, layout)
      case 2, 3: try decodePlain(&parser, layout)
      case 4: try decodeBitmap(parser, layout)
      default: try decodeBinary(parser, layout)
      }
    return DecodedImage(image, reservation: reservation)
  }

  private struct Layout {
    let width: Int
    let height: Int
    let channels: Int
    let maximum: Int

    var pixelCount: Int { width * height }

    /// 0...255 for each stored value. Grey with a maximum above 255 is scaled to 16 bits and taken by its high byte;
    /// colour is scaled straight to 8 bits. Ties go to the even number, as with Python's `round`.
    func scaledValues() -> [UInt8] {
      let isWideGrey = channels == 1 && maximum > 255
      return (0...(maximum < 256 ? 255 : 65535)).map { value in
        let ratio = Double(value) / Double(maximum)
        let scaled = (ratio * (isWideGrey ? 65535 : 255)).rounded(.toNearestOrEven)
        return isWideGrey ? UInt8(Int(min(scaled, 65535)) >> 8) : UInt8(min(scaled, 255))
      }
    }
  }

  private static func requireByteCount(_ needed: Int, in parser: PNMParser) throws(DermaFusionError) {
    let available = parser.bytes.count - parser.position
    guard available >= needed else {
      throw .truncated(.pnm, reason: "\(available) bytes of pixels where \(needed) are needed")
    }
  }

  private static func decodeBinary(_ parser: PNMParser, _ layout: Layout) throws(DermaFusionError)
    -> PixelImage
  {
    let bytesPerValue = layout.maximum < 256 ? 1 : 2
    let valueCount = layout.pixelCount * layout.channels
    try requireByteCount(valueCount * bytesPerValue, in: parser)
    let scaled = layout.scaledValues()
    let source = UnsafeRawBufferPointer(rebasing: parser.bytes[parser.position...])
    return PixelImage(width: layout.width, height: layout.height) { pixels in
      for index in 0..<valueCount {
        let stored =
          bytesPerValue == 1 ? Int(source[index]) : Int(source[index * 2]) << 8 | Int(source[index * 2 + 1])
        write(scaled[stored], at: index, channels: layout.channels, to: pixels)
      }
    }
  }

  private static func decodeBitmap(_ parser: PNMParser, _ layout: Layout) throws(DermaFusionError)
    -> PixelImage
  {
    let rowBytes = (layout.width + 7) / 8
    try requireByteCount(rowBytes * layout.height, in: parser)
    let source = UnsafeRawBufferPointer(rebasing: parser.bytes[parser.position...])
    return PixelImage(width: layout.width, height: layout.height) { pixels in
      for y in 0..<layout.height {
        for x in 0..<layout.width {
          let isBlack = source[y * rowBytes + x / 8] & (0x80 >> UInt8(x % 8)) != 0
          write(isBlack ? 0 : 255, at: y * layout.width + x, channels: 1, to: pixels)
        }
      }
    }
  }

  private static func decodePlain(_ parser: inout PNMParser, _ layout: Layout) throws(DermaFusionError)
    -> PixelImage
  {
    let valueCount = layout.pixelCount * layout.channels
    // Each value takes at least a digit and, but for the last, a character between.
    try requireByteCount(valueCount * 2 - 1, in: parser)
    let scaled = layout.scaledValues()
    return try decodeValues(layout, count: valueCount) { () throws(DermaFusionError) in
      let value = try parser.readNumber("a value")
      guard value <= layout.maximum else {
        throw .corrupt(.pnm, reason: "a value is \(value), above the maximum of \(layout.maximum)")
      }
      return scaled[value]
    }
  }

  private static func decodePlainBitmap(
    _ parser: inout PNMParser, _ layout: Layout
  ) throws(DermaFusionError) -> PixelImage {
    try requireByteCount(layout.pixelCount, in: parser)
    return try decodeValues(layout, count: layout.pixelCount) { () throws(DermaFusionError) in
      try parser.readBit() == 1 ? 0 : 255
    }
  }

  private static func decodeValues(
    _ layout: Layout, count: Int, next: () throws(DermaFusionError) -> UInt8
  ) throws(DermaFusionError) -> PixelImage {
    try PixelImage(width: layout.width, height: layout.height) { (pixels) throws(DermaFusionError) in
      for index in 0..<count { write(try next(), at: index, channels: layout.channels, to: pixels) }
    }
  }

  @inline(__always)
  private static func write(
    _ value: UInt8, at index: Int, channels: Int, to pixels: UnsafeMutablePointer<UInt8>
  ) {
    if channels == 3 {
      pixels[index] = value
    } else {
      pixels[index * 3] = value
      pixels[index * 3 + 1] = value
      pixels[index * 3 + 2] = value
    }
  }
}

/// Reads the numbers of a Netpbm file as Pillow's `PpmImagePlugin` does.
///
/// A comment runs from `#` to the end of its line and disappears together with that line's end, so it may stand inside a
/// number.
struct PNMParser {
  /// Longer numbers are refused, as in Pillow.
  private static let digitLimit = 10

  let bytes: UnsafeRawBufferPointer
  private(set) var position = 0

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  /// Steps over the magic number and the whitespace character after it.
  mutating func skipMagicNumber() { position = min(3, bytes.count) }

  /// Reads a decimal number and the one whitespace character that ends it.
  mutating func readNumber(_ name: String) throws(DermaFusionError) -> Int {
    var value = 0
    var digitCount = 0
    while let byte = nextOutsideComments() {
      if byte.isASCIIWhitespace {
        if digitCount == 0 { continue }
        break
      }
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else {
        throw .corrupt(.pnm, reason: "\(name) is not a number: byte \(byte) in it is no digit")
      }
      value = value * 10 + Int(byte - UInt8(ascii: "0"))
      digitCount += 1
      guard digitCount <= Self.digitLimit else {
        throw .corrupt(.pnm, reason: "\(name) has more than \(Self.digitLimit) digits")
      }
    }
    guard digitCount > 0 else { throw .truncated(.pnm, reason: "the data end where \(name) should be") }
    return value
  }

  /// Reads one digit of a plain bitmap, where no whitespace is needed between the values.
  mutating func readBit() throws(DermaFusionError) -> Int {
    while let byte = nextOutsideComments() {
      switch byte {
      case UInt8(ascii: "0"): return 0
      case UInt8(ascii: "1"): return 1
      default:
        guard byte.isASCIIWhitespace else {
          throw .corrupt(.pnm, reason: "a value is neither 0 nor 1")
        }
      }
    }
    throw .truncated(.pnm, reason: "the data end where a value should be")
  }

  private mutating func nextOutsideComments() -> UInt8? {
    while position < bytes.count {
      let byte = bytes[position]
      position += 1
      guard byte == UInt8(ascii: "#") else { return byte }
      while position < bytes.count {
        let skipped = bytes[position]
        position += 1
        if skipped == 0x0A || skipped == 0x0D { break }
      }
    }
    return nil
  }
}

extension UInt8 {
  /// A blank, or one of the controls from tab to carriage return.
  var isASCIIWhitespace: Bool { self == 0x20 || (0x09...0x0D).contains(self) }
}
