import SystemModule

/// One JSON value, read or to be written. Numbers keep their digits, objects keep the order of their members.
package enum JSONValue: Sendable, Equatable {
  case null
  case bool(Bool)
  case number(JSONNumber)
  case string(String)
  case array([JSONValue])
  case object(JSONObject)

  /// The value's type in words, for errors: "a number", "an object", ...
  package var typeInWords: Sentence {
    switch self {
    case .null: "null"
    case .bool: "a boolean"
    case .number: "a number"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    }
  }
}

/// A JSON number as it was written: all its digits are kept until the reader asks for a type.
package struct JSONNumber: Sendable, Equatable {
  package let literal: String

  /// The number as an integer, or nil when it has a fraction or an exponent or does not fit.
  package var integer: Int? {
    literal.utf8.allSatisfy { $0 == UInt8(ascii: "-") || ($0 >= 0x30 && $0 <= 0x39) } ? Int(literal) : nil
  }

  /// The number rounded correctly to Double, or nil when its magnitude is beyond Double's range.
  package var double: Double? {
    guard let value = Double(literal), value.isFinite else { return nil }
    return value
  }
}

/// A JSON object: its members in the order written. No key occurs twice.
package struct JSONObject: Sendable, Equatable {
  package struct Member: Sendable, Equatable {
    package let key: String
    package let value: JSONValue
  }

  package internal(set) var members: [Member] = []

  package init() {}

  /// The value under a key, or nil; takes time in proportion to the number of members.
  package subscript(key: String) -> JSONValue? {
    members.first { $0.key == key }?.value
  }
}

// The same members in the same order are the same bytes.

extension JSONValue {
  package static func integer(_ value: Int) -> JSONValue { .number(JSONNumber(literal: String(value))) }

  /// Written as the shortest decimal that reads back as the same Float32, which is finite.
  package static func float(_ value: Float) -> JSONValue {
    precondition(value.isFinite, "JSON has no \(value)")
    return .number(JSONNumber(literal: value.description))
  }

  /// Written as the shortest decimal that reads back as the same Float64, which is finite; a whole number without a fraction.
  package static func number(_ value: Double) -> JSONValue {
    precondition(value.isFinite, "JSON has no \(value)")
    return .number(JSONNumber(literal: decimal(value)))
  }

  package static func strings(_ values: [String]) -> JSONValue { .array(values.map { .string($0) }) }

  /// - Parameter members: no key twice.
  package static func object(_ members: [(key: String, value: JSONValue)]) -> JSONValue {
    var object = JSONObject()
    object.members = members.map { .init(key: $0.key, value: $0.value) }
    return .object(object)
  }

  /// - Parameter members: no key twice.
  package static func object(_ members: KeyValuePairs<String, JSONValue>) -> JSONValue {
    .object(Array(members))
  }

  /// The members of an object; one without a value is left out.
  package static func members(
    _ members: KeyValuePairs<String, JSONValue?>
  ) -> [(key: String, value: JSONValue)] {
    members.compactMap { key, value in value.map { (key, $0) } }
  }

  /// On one line, without white space between tokens.
  package var text: String {
    var text = ""
    write(to: &text)
    return text
  }

  private func write(to text: inout String) {
    switch self {
    case .null: text += "null"
    case .bool(let value): text += value ? "true" : "false"
    case .number(let value): text += value.literal
    case .string(let value): Self.write(value, to: &text)
    case .array(let values):
      text += "["
      for (index, value) in values.enumerated() {
        if index > 0 { text += "," }
        value.write(to: &text)
      }
      text += "]"
    case .object(let object):
      text += "{"
      for (index, member) in object.members.enumerated() {
        if index > 0 { text += "," }
        Self.write(member.key, to: &text)
        text += ":"
        member.value.write(to: &text)
      }
      text += "}"
    }
  }

  /// 55 rather than 55.0; otherwise the shortest decimal that reads back the same.
  package static func decimal(_ value: Double) -> String {
    let text = value.description
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }

  /// Besides what JSON demands, every character is escaped that some reader takes for the end of a line: objects stand
  /// on lines of their own. So is every mark that changes the direction of writing, which would let a name show another
  /// one than it is.
  private static func write(_ string: String, to text: inout String) {
    text += "\""
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\t": text += "\\t"
      case _ where scalar.changesItsSurroundings:
        let digits = String(scalar.value, radix: 16)
        text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: text.unicodeScalars.append(scalar)
      }
    }
    text += "\""
  }
}

/// A name from a file, in quotes and fit for one line of an error: characters that are unfit for names are replaced, and of
/// a long name only the beginning is shown.
package func quoted(_ name: String) -> String { "\"\(shortened(name, to: 120))\"" }

/// A text from a file, fit for one line of an error, of at most `limit` characters; see ``quoted(_:)``.
package func shortened(_ text: String, to limit: Int) -> String {
  var shown = ""
  for (count, scalar) in text.unicodeScalars.enumerated() {
    guard count < limit else { return shown + "…" }
    shown.unicodeScalars.append(scalar.isUnfitForNames ? "\u{FFFD}" : scalar)
  }
  return shown
}

extension Unicode.Scalar {
  /// True if it ends a line for some reader, or changes the direction of writing, which lets a text show another one than
  /// it is: controls, separators and marks of direction.
  package var changesItsSurroundings: Bool {
    switch value {
    case ..<0x20, 0x7F...0x9F, 0x61C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
  }

  /// True if no name should have it: one that changes its surroundings, or one of the 66 code points that are no
  /// characters, which an XML document may not hold.
  package var isUnfitForNames: Bool {
    changesItsSurroundings || (0xFDD0...0xFDEF).contains(value) || value & 0xFFFE == 0xFFFE
  }
}

extension Double {
  /// The decimal with exactly 0 to 9 digits after the point, whatever the locale; what is rounded to 0 has no sign.
  package func fixed(digits: Int) -> String {
    // An Int has 32 bits in WebAssembly.
    let scale = (0..<digits).reduce(Int64(1)) { power, _ in power * 10 }
    let scaled = (magnitude * Double(scale)).rounded()
    // From here on a Double has no digits that could be counted out, nor have NaN and the infinities.
    guard scaled < 0x1p53 else { return description }
    let units = Int64(scaled)
    let sign = self < 0 && units > 0 ? "-" : ""
    guard digits > 0 else { return "\(sign)\(units)" }
    let fraction = String(units % scale)
    return "\(sign)\(units / scale)." + String(repeating: "0", count: digits - fraction.count) + fraction
  }
}

extension [String] {
  /// `'a', 'b'`, at most eight of them.
  package var quotedList: String {
    prefix(8).map { "'\($0)'" }.joined(separator: ", ") + (count > 8 ? ", ..." : "")
  }

  /// `'a', 'b' or 'c'`
  package var quotedAlternatives: String { alternatives.description }

  /// ``quotedAlternatives`` for other languages too.
  package var alternatives: Sentence {
    let quoted = map { "'\($0)'" }
    guard let last = quoted.last, count > 1 else { return Sentence(quoted.joined()) }
    return "\(quoted.dropLast().joined(separator: ", ")) or \(last)"
  }
}
