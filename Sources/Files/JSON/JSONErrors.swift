import SystemModule

extension DermaFusionError.Code {
  package static let invalidJSON = Self("invalidJSON")
}

/// Why a text is not JSON (RFC 8259), or not JSON that this reader accepts. Every offset counts bytes from the
/// text's start.
extension DermaFusionError {
  /// The text ends in the middle of a value.
  package static func unexpectedEnd(offset: Int) -> Self {
    invalidJSON("the JSON ends at byte \(offset) in the middle of a value")
  }
  /// A byte stands where something else is required.
  package static func unexpectedByte(offset: Int, byte: UInt8, expected: String) -> Self {
    invalidJSON("the JSON has \(inWords(byte)) at byte \(offset) where \(expected) is required")
  }
  /// The number starting here is not written as JSON writes numbers (leading zero, missing digits, ...).
  package static func malformedNumber(offset: Int) -> Self {
    invalidJSON("the JSON has a malformed number at byte \(offset)")
  }
  /// A byte below 0x20 stands unescaped in a string.
  package static func controlCharacter(offset: Int, byte: UInt8) -> Self {
    invalidJSON("the JSON has \(inWords(byte)) unescaped in a string at byte \(offset)")
  }
  /// The escape starting here is not one of JSON's.
  package static func malformedEscape(offset: Int) -> Self {
    invalidJSON("the JSON has a malformed escape at byte \(offset)")
  }
  /// The `\u` escape starting here is half of a surrogate pair.
  package static func loneSurrogate(offset: Int) -> Self {
    invalidJSON("the JSON has half a surrogate pair at byte \(offset)")
  }
  /// The string starting here is not UTF-8.
  package static func malformedUTF8(offset: Int) -> Self {
    invalidJSON("the JSON string at byte \(offset) is not UTF-8")
  }
  /// An object has the key a second time, here.
  package static func duplicateKey(_ key: String, offset: Int) -> Self {
    invalidJSON("the JSON has the key \(quoted(key)) a second time at byte \(offset)")
  }
  /// Arrays and objects are nested deeper than the limit.
  package static func nestedTooDeep(offset: Int, limit: Int) -> Self {
    invalidJSON("the JSON is nested deeper than \(limit) levels at byte \(offset)")
  }
  /// Something other than white space follows the value.
  package static func trailingBytes(offset: Int) -> Self {
    invalidJSON("the JSON has something after its end, at byte \(offset)")
  }

  private static func invalidJSON(_ message: String) -> Self {
    Self(.invalidJSON, message: message, remedy: "Write the text as JSON (RFC 8259).")
  }

  private static func inWords(_ byte: UInt8) -> String {
    byte > 0x20 && byte < 0x7F ? "'\(Character(Unicode.Scalar(byte)))'" : "the byte \(byte)"
  }
}
