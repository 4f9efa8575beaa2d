/// One JSON value, read or to be written. Numbers keep their digits, objects keep the order of their members.
package enum JSONValue: Sendable, Equatable {
  case null
  case bool(Bool)
  case number(JSONNumber)
  case string(String)
  case array([JSONValue])
  case object(JSONObject)

  /// The value's type in words, for errors: "a number", "an object", ...
  package var typeInWords: String {
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
  /// The number's characters in the text.
  package let literal: String

  package init(literal: String) {
    self.literal = literal
  }

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
  /// A key and its value.
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
