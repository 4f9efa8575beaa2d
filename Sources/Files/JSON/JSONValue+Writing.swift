// The same members in the same order are the same bytes.

extension JSONValue {
  package static func integer(_ value: Int) -> JSONValue { .number(JSONNumber(literal: String(value))) }

  /// Written as the shortest decimal that reads back as the same Float32.
  ///
  /// - Parameter value: finite.
  package static func float(_ value: Float) -> JSONValue {
    precondition(value.isFinite, "JSON has no \(value)")
    return .number(JSONNumber(literal: value.description))
  }

  /// Written as the shortest decimal that reads back as the same Float64; a whole number without a fraction.
  ///
  /// - Parameter value: finite.
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
    var object = JSONObject()
    object.members = members.map { .init(key: $0.key, value: $0.value) }
    return .object(object)
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
