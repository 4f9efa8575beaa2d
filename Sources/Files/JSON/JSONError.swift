/// Why a text is not JSON (RFC 8259), or not JSON that this reader accepts. Every offset counts bytes from the
/// text's start.
package enum JSONError: Error, Equatable, Sendable {
  /// The text ends in the middle of a value.
  case unexpectedEnd(offset: Int)
  /// A byte stands where something else is required.
  case unexpectedByte(offset: Int, byte: UInt8, expected: String)
  /// The number starting here is not written as JSON writes numbers (leading zero, missing digits, ...).
  case malformedNumber(offset: Int)
  /// A byte below 0x20 stands unescaped in a string.
  case controlCharacter(offset: Int, byte: UInt8)
  /// The escape starting here is not one of JSON's.
  case malformedEscape(offset: Int)
  /// The `\u` escape starting here is half of a surrogate pair.
  case loneSurrogate(offset: Int)
  /// The string starting here is not UTF-8.
  case malformedUTF8(offset: Int)
  /// An object has the key a second time, here.
  case duplicateKey(String, offset: Int)
  /// Arrays and objects are nested deeper than the limit.
  case nestedTooDeep(offset: Int, limit: Int)
  /// Something other than white space follows the value.
  case trailingBytes(offset: Int)
}

extension JSONError: CustomStringConvertible {
  /// The broken rule and its place, in one line.
  package var description: String {
    switch self {
    case .unexpectedEnd(let offset):
      "the JSON ends at byte \(offset) in the middle of a value"
    case .unexpectedByte(let offset, let byte, let expected):
      "the JSON has \(Self.inWords(byte)) at byte \(offset) where \(expected) is required"
    case .malformedNumber(let offset):
      "the JSON has a malformed number at byte \(offset)"
    case .controlCharacter(let offset, let byte):
      "the JSON has \(Self.inWords(byte)) unescaped in a string at byte \(offset)"
    case .malformedEscape(let offset):
      "the JSON has a malformed escape at byte \(offset)"
    case .loneSurrogate(let offset):
      "the JSON has half a surrogate pair at byte \(offset)"
    case .malformedUTF8(let offset):
      "the JSON string at byte \(offset) is not UTF-8"
    case .duplicateKey(let key, let offset):
      "the JSON has the key \(quoted(key)) a second time at byte \(offset)"
    case .nestedTooDeep(let offset, let limit):
      "the JSON is nested deeper than \(limit) levels at byte \(offset)"
    case .trailingBytes(let offset):
      "the JSON has something after its end, at byte \(offset)"
    }
  }

  private static func inWords(_ byte: UInt8) -> String {
    byte > 0x20 && byte < 0x7F ? "'\(Character(Unicode.Scalar(byte)))'" : "the byte \(byte)"
  }
}
