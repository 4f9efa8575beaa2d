import SystemModule
import Testing

@testable import Files

@Suite struct JSONParserTests {
  private func parse(_ text: String) throws -> JSONValue {
    try JSONParser.parse(Array(text.utf8))
  }

  @Test func valuesOfEveryType() throws {
    let value = try parse(
      " {\"b\" : [ null , true,false,-1.5e+3 ],\r\n\t\"a\":{\"\":\"x\"}, \"c\":[], \"d\":{} } ")
    guard case .object(let object) = value else {
      Issue.record("not an object: \(value)")
      return
    }
    #expect(object.members.map(\.key) == ["b", "a", "c", "d"])
    #expect(object["b"] == .array([.null, .bool(true), .bool(false), .number(.init(literal: "-1.5e+3"))]))
    guard case .object(let inner)? = object["a"] else {
      Issue.record("not an object: \(object)")
      return
    }
    #expect(inner[""] == .string("x"))
    #expect(object["c"] == .array([]))
    #expect(object["e"] == nil)
  }

  @Test func numbersKeepTheirDigits() throws {
    #expect(JSONNumber(literal: "9007199254740993").integer == 9_007_199_254_740_993)
    #expect(JSONNumber(literal: "9223372036854775807").integer == .max)
    #expect(JSONNumber(literal: "9223372036854775808").integer == nil)
    #expect(JSONNumber(literal: "1.0").integer == nil)
    #expect(JSONNumber(literal: "1e2").integer == nil)
    #expect(JSONNumber(literal: "0.1").double == 0.1)
    // The subnormal number furthest below 0.
    #expect(
      JSONNumber(literal: "-2.2250738585072011e-308").double == Double(bitPattern: 0x800F_FFFF_FFFF_FFFF))
    #expect(JSONNumber(literal: "1e400").double == nil)
  }

  @Test(arguments: ["0", "-0", "10", "0.5", "-1.25", "1e5", "1E-5", "2.5e+07"])
  func wellFormedNumbers(literal: String) throws {
    #expect(try parse(literal) == .number(.init(literal: literal)))
  }

  @Test(arguments: ["-", "01", "-01", "1.", "1.e5", "1e", "1e+", "-a", "00"])
  func malformedNumbers(literal: String) {
    #expect(throws: DermaFusionError.malformedNumber(offset: 1)) { try parse("[\(literal)]") }
  }

  @Test func escapes() throws {
    #expect(
      try parse(#""\"\\\/\b\f\n\r\t\u00e9\u20AC\uD834\uDD1E|""#) == .string("\"\\/\u{8}\u{C}\n\r\té€𝄞|"))
  }

  @Test func unescapedText() throws {
    #expect(try parse("\"é€𝄞\u{7F}\"") == .string("é€𝄞\u{7F}"))
  }

  @Test(arguments: [
    ("", DermaFusionError.unexpectedEnd(offset: 0)), ("  ", .unexpectedEnd(offset: 2)),
    ("[1", .unexpectedEnd(offset: 2)),
    ("{\"a\":", .unexpectedEnd(offset: 5)), ("\"a", .unexpectedEnd(offset: 2)),
    ("tru", .unexpectedEnd(offset: 3)),
    ("\"\\", .unexpectedEnd(offset: 2)), ("\"\\u12", .unexpectedEnd(offset: 5)),
    ("nul1", .unexpectedByte(offset: 3, byte: 0x31, expected: "'null'")),
    ("NaN", .unexpectedByte(offset: 0, byte: 0x4E, expected: "a value")),
    ("[1,]", .unexpectedByte(offset: 3, byte: 0x5D, expected: "a value")),
    ("[1 2]", .unexpectedByte(offset: 3, byte: 0x32, expected: "',' or ']'")),
    ("{\"a\":1,}", .unexpectedByte(offset: 7, byte: 0x7D, expected: "a key in quotes")),
    ("{a:1}", .unexpectedByte(offset: 1, byte: 0x61, expected: "a key in quotes")),
    ("{\"a\" 1}", .unexpectedByte(offset: 5, byte: 0x31, expected: "':'")),
    ("{\"a\":1 \"b\":2}", .unexpectedByte(offset: 7, byte: 0x22, expected: "',' or '}'")),
    ("+1", .unexpectedByte(offset: 0, byte: 0x2B, expected: "a value")),
    ("'a'", .unexpectedByte(offset: 0, byte: 0x27, expected: "a value")),
    ("/* */ 1", .unexpectedByte(offset: 0, byte: 0x2F, expected: "a value")),
    ("\u{FEFF}{}", .unexpectedByte(offset: 0, byte: 0xEF, expected: "a value")),
    ("1 1", .trailingBytes(offset: 2)), ("{},", .trailingBytes(offset: 2)),
    ("\"a\nb\"", .controlCharacter(offset: 2, byte: 10)),
    ("\"\\n\u{1F}\"", .controlCharacter(offset: 3, byte: 31)),
    ("\"\\x\"", .malformedEscape(offset: 1)), ("\"a\\u12g4\"", .malformedEscape(offset: 2)),
    ("\"\\ud834\"", .loneSurrogate(offset: 1)), ("\"\\ud834\\n\"", .loneSurrogate(offset: 1)),
    ("\"\\ud834\\u0041\"", .loneSurrogate(offset: 1)), ("\"\\udd1e\"", .loneSurrogate(offset: 1)),
    ("{\"a\":1, \"a\":2}", .duplicateKey("a", offset: 8)),
    ("[{\"a\":1}, {\"a\":1, \"\\u0061\":1}]", .duplicateKey("a", offset: 18)),
  ])
  func malformedText(text: String, error: DermaFusionError) {
    #expect(throws: error) { try parse(text) }
  }

  @Test(
    arguments: [[0xFF], [0xC3], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0x80]]
      as [[UInt8]])
  func malformedUTF8(bytes: [UInt8]) {
    #expect(throws: DermaFusionError.malformedUTF8(offset: 1)) {
      try JSONParser.parse([0x5B, 0x22] + bytes + [0x22, 0x5D])
    }
    #expect(throws: DermaFusionError.malformedUTF8(offset: 1)) {
      try JSONParser.parse([0x5B, 0x22, 0x5C, 0x6E] + bytes + [0x22, 0x5D])
    }
  }

  @Test func nestingHasALimit() throws {
    let limit = JSONParser.nestingLimit
    func nested(_ depth: Int, _ open: String, _ close: String) -> String {
      String(repeating: open, count: depth) + "1" + String(repeating: close, count: depth)
    }
    _ = try parse(nested(limit, "[", "]"))
    _ = try parse(nested(limit, "{\"a\":", "}"))
    #expect(throws: DermaFusionError.nestedTooDeep(offset: limit, limit: limit)) {
      try parse(nested(limit + 1, "[", "]"))
    }
    #expect(throws: DermaFusionError.nestedTooDeep(offset: limit * 5, limit: limit)) {
      try parse(nested(100_000, "{\"a\":", "}"))
    }
  }

  /// Every beginning of a text is an error, and none is a crash.
  @Test func truncatedText() throws {
    let text = Array(#"{"a\n":[1.5e-3,true,{"b":"\u00e9"}],"c":null}"#.utf8)
    _ = try JSONParser.parse(text)
    for count in 0..<text.count {
      #expect(throws: DermaFusionError.self, "the first \(count) bytes") {
        try JSONParser.parse(Array(text[..<count]))
      }
    }
  }

  @Test func errorsSayWhatAndWhere() {
    #expect(
      DermaFusionError.unexpectedByte(offset: 3, byte: 0x5D, expected: "a value").description
        == "the JSON has ']' at byte 3 where a value is required")
    #expect(
      DermaFusionError.duplicateKey("a", offset: 8).description
        == "the JSON has the key \"a\" a second time at byte 8")
  }
}
