/// JSON with its keys in the order in which they were written, so that the same result is the same bytes.
package indirect enum OrderedJSON: Sendable, Equatable {
  case null
  case boolean(Bool)
  case integer(Int)
  /// Printed as the shortest decimal that reads back as the same Float32.
  case float(Float)
  /// Printed as the shortest decimal that reads back as the same Float64; a whole number without a fraction.
  case number(Double)
  case string(String)
  case array([OrderedJSON])
  case object([(key: String, value: OrderedJSON)])

  package static func object(_ members: KeyValuePairs<String, OrderedJSON>) -> OrderedJSON {
    .object(members.map { (key: $0.key, value: $0.value) })
  }

  package static func strings(_ values: [String]) -> OrderedJSON { .array(values.map(OrderedJSON.string)) }

  /// On one line, without white space between tokens.
  package var text: String {
    var text = ""
    write(to: &text)
    return text
  }

  private func write(to text: inout String) {
    switch self {
    case .null: text += "null"
    case .boolean(let value): text += value ? "true" : "false"
    case .integer(let value): text += String(value)
    case .float(let value):
      precondition(value.isFinite, "JSON has no \(value)")
      text += value.description
    case .number(let value):
      precondition(value.isFinite, "JSON has no \(value)")
      text += Self.decimal(value)
    case .string(let value): Self.write(value, to: &text)
    case .array(let values):
      text += "["
      for (index, value) in values.enumerated() {
        if index > 0 { text += "," }
        value.write(to: &text)
      }
      text += "]"
    case .object(let members):
      text += "{"
      for (index, member) in members.enumerated() {
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
  /// on lines of their own.
  private static func write(_ string: String, to text: inout String) {
    text += "\""
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\t": text += "\\t"
      case "\0"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{2028}", "\u{2029}":
        let digits = String(scalar.value, radix: 16)
        text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: text.unicodeScalars.append(scalar)
      }
    }
    text += "\""
  }

  package static func == (left: OrderedJSON, right: OrderedJSON) -> Bool { left.text == right.text }
}
