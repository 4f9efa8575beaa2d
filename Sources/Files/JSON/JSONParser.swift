import SystemModule

/// A strict JSON parser (RFC 8259): nothing is accepted that the standard does not allow, no key may occur twice,
/// and nesting has a limit. Written here because Foundation's readers silently drop duplicate keys, which
/// safetensors forbids, and give no place for their errors.
package struct JSONParser {
  package static let nestingLimit = 64

  /// The place of the parser in the bytes. It does not hold them: a value that holds a span has no plain initializer yet.
  private var offset = 0

  /// Parses one JSON value, with white space allowed around it.
  package static func parse(_ bytes: Span<UInt8>) throws(DermaFusionError) -> JSONValue {
    var parser = JSONParser()
    parser.skipWhiteSpace(bytes)
    let value = try parser.parseValue(bytes, depth: 0)
    parser.skipWhiteSpace(bytes)
    guard parser.offset == bytes.count else {
      throw Self.malformed("something after its end,", at: parser.offset)
    }
    return value
  }

  package static func parse(_ bytes: [UInt8]) throws(DermaFusionError) -> JSONValue { try parse(bytes.span) }

  private mutating func skipWhiteSpace(_ bytes: Span<UInt8>) {
    while offset < bytes.count {
      switch bytes[offset] {
      case 0x20, 0x0A, 0x0D, 0x09: offset += 1
      default: return
      }
    }
  }

  private func peek(_ bytes: Span<UInt8>) throws(DermaFusionError) -> UInt8 {
    guard offset < bytes.count else {
      throw Self.failure("the JSON ends at byte \(offset) in the middle of a value")
    }
    return bytes[offset]
  }

  private mutating func expect(
    _ bytes: Span<UInt8>, _ byte: UInt8, _ expected: @autoclosure () -> Sentence
  ) throws(DermaFusionError) {
    let found = try peek(bytes)
    guard found == byte else { throw unexpected(found, expected()) }
    offset += 1
  }

  private mutating func parseValue(_ bytes: Span<UInt8>, depth: Int) throws(DermaFusionError) -> JSONValue {
    let byte = try peek(bytes)
    switch byte {
    case UInt8(ascii: "{"):
      return .object(try parseObject(bytes, depth: depth + 1))
    case UInt8(ascii: "["):
      return .array(try parseArray(bytes, depth: depth + 1))
    case UInt8(ascii: "\""):
      return .string(try parseString(bytes))
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
      return .number(try parseNumber(bytes))
    case UInt8(ascii: "t"):
      try parseWord(bytes, "true")
      return .bool(true)
    case UInt8(ascii: "f"):
      try parseWord(bytes, "false")
      return .bool(false)
    case UInt8(ascii: "n"):
      try parseWord(bytes, "null")
      return .null
    default:
      throw unexpected(byte, "a value")
    }
  }

  private mutating func parseWord(_ bytes: Span<UInt8>, _ word: String) throws(DermaFusionError) {
    for byte in word.utf8 { try expect(bytes, byte, "'\(word)'") }
  }

  private mutating func parseObject(_ bytes: Span<UInt8>, depth: Int) throws(DermaFusionError) -> JSONObject {
    var object = JSONObject()
    var keys = Set<String>()
    try parseElements(bytes, until: "}", depth: depth) { (parser, bytes) throws(DermaFusionError) in
      let keyOffset = parser.offset
      let byte = try parser.peek(bytes)
      guard byte == UInt8(ascii: "\"") else { throw parser.unexpected(byte, "a key in quotes") }
      let key = try parser.parseString(bytes)
      guard keys.insert(key).inserted else {
        throw Self.malformed("the key \(quoted(key)) a second time", at: keyOffset)
      }
      parser.skipWhiteSpace(bytes)
      try parser.expect(bytes, UInt8(ascii: ":"), "':'")
      parser.skipWhiteSpace(bytes)
      object.members.append(.init(key: key, value: try parser.parseValue(bytes, depth: depth)))
    }
    return object
  }

  private mutating func parseArray(_ bytes: Span<UInt8>, depth: Int) throws(DermaFusionError) -> [JSONValue] {
    var elements: [JSONValue] = []
    try parseElements(bytes, until: "]", depth: depth) { (parser, bytes) throws(DermaFusionError) in
      elements.append(try parser.parseValue(bytes, depth: depth))
    }
    return elements
  }

  /// Reads elements with commas between them, and the bracket at either end.
  private mutating func parseElements(
    _ bytes: Span<UInt8>, until end: Unicode.Scalar, depth: Int,
    _ parseElement: (inout JSONParser, Span<UInt8>) throws(DermaFusionError) -> Void
  ) throws(DermaFusionError) {
    try checkNesting(depth)
    offset += 1
    skipWhiteSpace(bytes)
    if try peek(bytes) != UInt8(ascii: end) {
      while true {
        try parseElement(&self, bytes)
        skipWhiteSpace(bytes)
        if try peek(bytes) == UInt8(ascii: end) { break }
        try expect(bytes, UInt8(ascii: ","), "\("','") or \("'\(end)'")")
        skipWhiteSpace(bytes)
      }
    }
    offset += 1
  }

  private mutating func parseNumber(_ bytes: Span<UInt8>) throws(DermaFusionError) -> JSONNumber {
    let start = offset
    func isDigit(_ offset: Int) -> Bool {
      offset < bytes.count && bytes[offset] >= 0x30 && bytes[offset] <= 0x39
    }
    func isAnyOf(_ first: Unicode.Scalar, _ second: Unicode.Scalar, _ offset: Int) -> Bool {
      offset < bytes.count && [UInt8(ascii: first), UInt8(ascii: second)].contains(bytes[offset])
    }
    if bytes[offset] == UInt8(ascii: "-") { offset += 1 }
    guard isDigit(offset) else { throw Self.malformed("a malformed number", at: start) }
    if bytes[offset] == UInt8(ascii: "0") {
      offset += 1
      guard !isDigit(offset) else { throw Self.malformed("a malformed number", at: start) }
    } else {
      while isDigit(offset) { offset += 1 }
    }
    if isAnyOf(".", ".", offset) {
      offset += 1
      guard isDigit(offset) else { throw Self.malformed("a malformed number", at: start) }
      while isDigit(offset) { offset += 1 }
    }
    if isAnyOf("e", "E", offset) {
      offset += 1
      if isAnyOf("+", "-", offset) { offset += 1 }
      guard isDigit(offset) else { throw Self.malformed("a malformed number", at: start) }
      while isDigit(offset) { offset += 1 }
    }
    guard let literal = text(bytes, start..<offset) else { preconditionFailure("digits are UTF-8") }
    return JSONNumber(literal: literal)
  }
}

// Failures. Every offset counts bytes from the text's start.
extension JSONParser {
  private static func failure(_ rule: Sentence) -> DermaFusionError {
    DermaFusionError(.invalidJSON, message: rule, remedy: "Correct the JSON at this place.")
  }

  private static func malformed(_ what: Sentence, at offset: Int) -> DermaFusionError {
    failure("the JSON has \(what) at byte \(offset)")
  }

  private static func notUTF8(_ start: Int) -> DermaFusionError {
    failure("the JSON string at byte \(start) is not UTF-8")
  }

  private func unexpected(_ byte: UInt8, _ expected: Sentence) -> DermaFusionError {
    Self.failure("the JSON has \(Self.inWords(byte)) at byte \(offset) where \(expected) is required")
  }

  private func controlCharacter(_ byte: UInt8) -> DermaFusionError {
    Self.malformed("\(Self.inWords(byte)) unescaped in a string", at: offset)
  }

  private func checkNesting(_ depth: Int) throws(DermaFusionError) {
    guard depth <= Self.nestingLimit else {
      throw Self.failure("the JSON is nested deeper than \(Self.nestingLimit) levels at byte \(offset)")
    }
  }

  private static func inWords(_ byte: UInt8) -> Sentence {
    byte > 0x20 && byte < 0x7F ? "'\(String(Unicode.Scalar(byte)))'" : "the byte \(byte)"
  }
}

extension DermaFusionError.Code {
  /// A text is not JSON (RFC 8259), or not JSON that this reader accepts.
  package static let invalidJSON = Self("invalidJSON")
}

extension JSONParser {
  /// Some of the bytes as a string; nil where they are not UTF-8.
  private func text(_ bytes: Span<UInt8>, _ range: Range<Int>) -> String? {
    guard let text = try? UTF8Span(validating: bytes.extracting(range)) else { return nil }
    return String(copying: text)
  }

  private mutating func parseString(_ bytes: Span<UInt8>) throws(DermaFusionError) -> String {
    let start = offset
    offset += 1
    let contentStart = offset
    while true {
      let byte = try peek(bytes)
      if byte == UInt8(ascii: "\"") {
        guard let string = text(bytes, contentStart..<offset) else { throw Self.notUTF8(start) }
        offset += 1
        return string
      }
      guard byte >= 0x20 else { throw controlCharacter(byte) }
      if byte == UInt8(ascii: "\\") { break }
      offset += 1
    }
    return try parseEscapedString(bytes, start: start, beforeFirstEscape: contentStart..<offset)
  }

  private mutating func parseEscapedString(
    _ bytes: Span<UInt8>, start: Int, beforeFirstEscape: Range<Int>
  ) throws(DermaFusionError) -> String {
    var content = beforeFirstEscape.map { bytes[$0] }
    while true {
      let byte = try peek(bytes)
      switch byte {
      case UInt8(ascii: "\""):
        offset += 1
        guard let string = String(validating: content, as: UTF8.self) else {
          throw Self.notUTF8(start)
        }
        return string
      case UInt8(ascii: "\\"):
        content.append(contentsOf: UTF8.encode(try parseEscape(bytes))!)
      case ..<0x20:
        throw controlCharacter(byte)
      default:
        content.append(byte)
        offset += 1
      }
    }
  }

  private mutating func parseEscape(_ bytes: Span<UInt8>) throws(DermaFusionError) -> Unicode.Scalar {
    let start = offset
    offset += 1
    let byte = try peek(bytes)
    offset += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
    case UInt8(ascii: "b"): return "\u{08}"
    case UInt8(ascii: "f"): return "\u{0C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): break
    default: throw Self.malformed("a malformed escape", at: start)
    }
    let unit = try parseHexUnit(bytes, escapeOffset: start)
    if let scalar = Unicode.Scalar(unit) { return scalar }
    guard unit < 0xDC00, offset + 1 < bytes.count, bytes[offset] == UInt8(ascii: "\\"),
      bytes[offset + 1] == UInt8(ascii: "u")
    else { throw Self.malformed("half a surrogate pair", at: start) }
    offset += 2
    let trail = try parseHexUnit(bytes, escapeOffset: start)
    guard (0xDC00...0xDFFF).contains(trail) else { throw Self.malformed("half a surrogate pair", at: start) }
    return Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (trail - 0xDC00))!
  }

  private mutating func parseHexUnit(_ bytes: Span<UInt8>, escapeOffset: Int) throws(DermaFusionError)
    -> UInt32
  {
    var unit: UInt32 = 0
    for _ in 0..<4 {
      let digit: UInt8
      switch try peek(bytes) {
      case let byte where byte >= 0x30 && byte <= 0x39: digit = byte - 0x30
      case let byte where byte >= 0x41 && byte <= 0x46: digit = byte - 0x41 + 10
      case let byte where byte >= 0x61 && byte <= 0x66: digit = byte - 0x61 + 10
      default: throw Self.malformed("a malformed escape", at: escapeOffset)
      }
      unit = unit << 4 | UInt32(digit)
      offset += 1
    }
    return unit
  }
}
