/// A strict JSON parser (RFC 8259): nothing is accepted that the standard does not allow, no key may occur twice,
/// and nesting has a limit. Written here because Foundation's readers silently drop duplicate keys, which
/// safetensors forbids, and give no place for their errors.
package struct JSONParser {
  /// Arrays and objects may be nested this deep.
  package static let nestingLimit = 64

  private let bytes: UnsafeRawBufferPointer
  private var offset = 0

  private init(_ bytes: UnsafeRawBufferPointer) {
    self.bytes = bytes
  }

  /// Parses one JSON value, with white space allowed around it.
  package static func parse(_ bytes: UnsafeRawBufferPointer) throws(JSONError) -> JSONValue {
    var parser = JSONParser(bytes)
    parser.skipWhiteSpace()
    let value = try parser.parseValue(depth: 0)
    parser.skipWhiteSpace()
    guard parser.offset == bytes.count else { throw .trailingBytes(offset: parser.offset) }
    return value
  }

  /// Parses one JSON value, with white space allowed around it.
  package static func parse(_ bytes: [UInt8]) throws(JSONError) -> JSONValue {
    try bytes.withUnsafeBufferPointer { (bytes) throws(JSONError) in
      try parse(UnsafeRawBufferPointer(bytes))
    }
  }

  private mutating func skipWhiteSpace() {
    while offset < bytes.count, [0x20, 0x0A, 0x0D, 0x09].contains(bytes[offset]) { offset += 1 }
  }

  private func peek() throws(JSONError) -> UInt8 {
    guard offset < bytes.count else { throw .unexpectedEnd(offset: offset) }
    return bytes[offset]
  }

  private mutating func expect(_ byte: UInt8, _ expected: String) throws(JSONError) {
    let found = try peek()
    guard found == byte else { throw .unexpectedByte(offset: offset, byte: found, expected: expected) }
    offset += 1
  }

  private mutating func parseValue(depth: Int) throws(JSONError) -> JSONValue {
    let byte = try peek()
    switch byte {
    case UInt8(ascii: "{"):
      return .object(try parseObject(depth: depth + 1))
    case UInt8(ascii: "["):
      return .array(try parseArray(depth: depth + 1))
    case UInt8(ascii: "\""):
      return .string(try parseString())
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
      return .number(try parseNumber())
    case UInt8(ascii: "t"):
      try parseWord("true")
      return .bool(true)
    case UInt8(ascii: "f"):
      try parseWord("false")
      return .bool(false)
    case UInt8(ascii: "n"):
      try parseWord("null")
      return .null
    default:
      throw .unexpectedByte(offset: offset, byte: byte, expected: "a value")
    }
  }

  private mutating func parseWord(_ word: StaticString) throws(JSONError) {
    for index in 0..<word.utf8CodeUnitCount {
      try expect(word.utf8Start[index], "'\(word)'")
    }
  }

  private mutating func parseObject(depth: Int) throws(JSONError) -> JSONObject {
    guard depth <= Self.nestingLimit else { throw .nestedTooDeep(offset: offset, limit: Self.nestingLimit) }
    offset += 1
    skipWhiteSpace()
    var object = JSONObject()
    if try peek() == UInt8(ascii: "}") {
      offset += 1
      return object
    }
    var keys = Set<String>()
    while true {
      let keyOffset = offset
      guard try peek() == UInt8(ascii: "\"") else {
        throw .unexpectedByte(offset: offset, byte: bytes[offset], expected: "a key in quotes")
      }
      let key = try parseString()
      guard keys.insert(key).inserted else { throw .duplicateKey(key, offset: keyOffset) }
      skipWhiteSpace()
      try expect(UInt8(ascii: ":"), "':'")
      skipWhiteSpace()
      object.members.append(.init(key: key, value: try parseValue(depth: depth)))
      skipWhiteSpace()
      if try peek() == UInt8(ascii: "}") {
        offset += 1
        return object
      }
      try expect(UInt8(ascii: ","), "',' or '}'")
      skipWhiteSpace()
    }
  }

  private mutating func parseArray(depth: Int) throws(JSONError) -> [JSONValue] {
    guard depth <= Self.nestingLimit else { throw .nestedTooDeep(offset: offset, limit: Self.nestingLimit) }
    offset += 1
    skipWhiteSpace()
    if try peek() == UInt8(ascii: "]") {
      offset += 1
      return []
    }
    var elements: [JSONValue] = []
    while true {
      elements.append(try parseValue(depth: depth))
      skipWhiteSpace()
      if try peek() == UInt8(ascii: "]") {
        offset += 1
        return elements
      }
      try expect(UInt8(ascii: ","), "',' or ']'")
      skipWhiteSpace()
    }
  }

  private mutating func parseNumber() throws(JSONError) -> JSONNumber {
    let start = offset
    func isDigit(_ offset: Int) -> Bool {
      offset < bytes.count && bytes[offset] >= 0x30 && bytes[offset] <= 0x39
    }
    func isAnyOf(_ characters: StaticString, _ offset: Int) -> Bool {
      guard offset < bytes.count else { return false }
      return (0..<characters.utf8CodeUnitCount).contains { characters.utf8Start[$0] == bytes[offset] }
    }
    if bytes[offset] == UInt8(ascii: "-") { offset += 1 }
    guard isDigit(offset) else { throw .malformedNumber(offset: start) }
    if bytes[offset] == UInt8(ascii: "0") {
      offset += 1
      guard !isDigit(offset) else { throw .malformedNumber(offset: start) }
    } else {
      while isDigit(offset) { offset += 1 }
    }
    if isAnyOf(".", offset) {
      offset += 1
      guard isDigit(offset) else { throw .malformedNumber(offset: start) }
      while isDigit(offset) { offset += 1 }
    }
    if isAnyOf("eE", offset) {
      offset += 1
      if isAnyOf("+-", offset) { offset += 1 }
      guard isDigit(offset) else { throw .malformedNumber(offset: start) }
      while isDigit(offset) { offset += 1 }
    }
    return JSONNumber(literal: String(decoding: bytes[start..<offset], as: UTF8.self))
  }
}

extension JSONParser {
  private mutating func parseString() throws(JSONError) -> String {
    let start = offset
    offset += 1
    let contentStart = offset
    while true {
      let byte = try peek()
      if byte == UInt8(ascii: "\"") {
        let content = bytes[contentStart..<offset]
        offset += 1
        guard let string = String(validating: content, as: UTF8.self) else {
          throw .malformedUTF8(offset: start)
        }
        return string
      }
      guard byte >= 0x20 else { throw .controlCharacter(offset: offset, byte: byte) }
      if byte == UInt8(ascii: "\\") { break }
      offset += 1
    }
    return try parseEscapedString(start: start, beforeFirstEscape: contentStart..<offset)
  }

  private mutating func parseEscapedString(
    start: Int, beforeFirstEscape: Range<Int>
  ) throws(JSONError) -> String {
    var content = [UInt8](bytes[beforeFirstEscape])
    while true {
      let byte = try peek()
      switch byte {
      case UInt8(ascii: "\""):
        offset += 1
        guard let string = String(validating: content, as: UTF8.self) else {
          throw .malformedUTF8(offset: start)
        }
        return string
      case UInt8(ascii: "\\"):
        content.append(contentsOf: UTF8.encode(try parseEscape())!)
      case ..<0x20:
        throw .controlCharacter(offset: offset, byte: byte)
      default:
        content.append(byte)
        offset += 1
      }
    }
  }

  private mutating func parseEscape() throws(JSONError) -> Unicode.Scalar {
    let start = offset
    offset += 1
    let byte = try peek()
    offset += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
    case UInt8(ascii: "b"): return "\u{08}"
    case UInt8(ascii: "f"): return "\u{0C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): break
    default: throw .malformedEscape(offset: start)
    }
    let unit = try parseHexUnit(escapeOffset: start)
    if let scalar = Unicode.Scalar(unit) { return scalar }
    guard unit < 0xDC00, offset + 1 < bytes.count, bytes[offset] == UInt8(ascii: "\\"),
      bytes[offset + 1] == UInt8(ascii: "u")
    else { throw .loneSurrogate(offset: start) }
    offset += 2
    let trail = try parseHexUnit(escapeOffset: start)
    guard (0xDC00...0xDFFF).contains(trail) else { throw .loneSurrogate(offset: start) }
    return Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (trail - 0xDC00))!
  }

  /// Reads the four hexadecimal digits of a `\u` escape.
  private mutating func parseHexUnit(escapeOffset: Int) throws(JSONError) -> UInt32 {
    var unit: UInt32 = 0
    for _ in 0..<4 {
      let digit: UInt8
      switch try peek() {
      case let byte where byte >= 0x30 && byte <= 0x39: digit = byte - 0x30
      case let byte where byte >= 0x41 && byte <= 0x46: digit = byte - 0x41 + 10
      case let byte where byte >= 0x61 && byte <= 0x66: digit = byte - 0x61 + 10
      default: throw .malformedEscape(offset: escapeOffset)
      }
      unit = unit << 4 | UInt32(digit)
      offset += 1
    }
    return unit
  }
}
