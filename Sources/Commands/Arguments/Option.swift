/// An option with a value of one type.
package struct Option<Value: Sendable>: Parameter {
  package let name: String
  package let valueName: String?
  package let abstract: String
  package let allowedValues: [String]
  package let defaultValue: String?
  package let isRequired: Bool
  package let isPath: Bool
  package let isRepeatable: Bool
  package let expectation: String
  /// The value when the option is not given.
  let initial: Value?
  package let convert: @Sendable (String) -> Value?

  /// - Parameters:
  ///   - allowedValues: listed in the help and, when a value is refused, in the message.
  ///   - expectation: what to give instead of a refused value, a full sentence; made from `allowedValues`
  ///     when left out.
  ///   - isRequired: whether the command cannot do without it.
  ///   - isRepeatable: whether it may be given more than once; its values keep their order.
  ///   - initial: the value when the option is not given, if there is one.
  ///   - defaultValue: `initial` as help shows it.
  ///   - convert: `nil` when the text is not a value of this option.
  package init(
    _ name: String, valueName: String, abstract: String, allowedValues: [String] = [],
    expectation: String? = nil, isRequired: Bool = false, isPath: Bool = false, isRepeatable: Bool = false,
    initial: Value? = nil, defaultValue: String? = nil,
    convert: @escaping @Sendable (String) -> Value?
  ) {
    self.name = name
    self.valueName = valueName
    self.abstract = abstract
    self.allowedValues = allowedValues
    self.isRequired = isRequired
    self.isPath = isPath
    self.isRepeatable = isRepeatable
    self.expectation = expectation ?? "Please provide one of \(allowedValues.quotedAlternatives)."
    self.initial = initial
    self.defaultValue = defaultValue
    self.convert = convert
  }

  package func accepts(_ text: String) -> Bool { convert(text) != nil }
}

extension Option where Value == String {
  /// A path. Any text but the empty one is a path.
  package static func path(
    _ name: String, valueName: String, isRequired: Bool = false, isRepeatable: Bool = false, abstract: String
  ) -> Self {
    Option(
      name, valueName: valueName, abstract: abstract, expectation: "Please provide a path.",
      isRequired: isRequired, isPath: true, isRepeatable: isRepeatable, convert: { $0.isEmpty ? nil : $0 })
  }
}

extension Option where Value == Int {
  /// Digits and nothing else; `Int`'s own reader also takes a sign.
  package static func wholeNumber(_ text: String, in range: ClosedRange<Int>) -> Int? {
    guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
    return Int(text).flatMap { range.contains($0) ? $0 : nil }
  }
}

extension Option where Value: RawRepresentable<String> {
  /// One of a list of words.
  ///
  /// - Parameter initial: the default; the option is required when there is none.
  package static func choice(
    _ name: String, of values: [Value], initial: Value?, abstract: String
  ) -> Self {
    Option(
      name, valueName: name, abstract: abstract, allowedValues: values.map(\.rawValue),
      isRequired: initial == nil, initial: initial, defaultValue: initial?.rawValue,
      convert: { text in values.first { $0.rawValue == text } })
  }
}

extension [String] {
  /// `'a', 'b'`, at most eight of them.
  package var quotedList: String {
    prefix(8).map { "'\($0)'" }.joined(separator: ", ") + (count > 8 ? ", ..." : "")
  }

  /// `'a', 'b' or 'c'`
  package var quotedAlternatives: String {
    let quoted = map { "'\($0)'" }
    guard quoted.count > 1 else { return quoted.joined() }
    return quoted.dropLast().joined(separator: ", ") + " or " + quoted.last!
  }
}
