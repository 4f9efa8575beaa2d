import ImagePipeline
import SystemModule

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
