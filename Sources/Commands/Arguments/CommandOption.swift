import Files

/// An option without regard to the type of its value: what the parser, the help and the completions need.
package protocol AnyCommandOption: Sendable {
  /// Without its dashes.
  var name: String { get }
  /// The value's name in the help; `nil` for a flag.
  var valueName: String? { get }
  /// One sentence for the help.
  var abstract: String { get }
  /// The values that help lists and, when a value is refused, the message; empty when they are not a short list.
  var allowedValues: [String] { get }
  /// The default as help shows it.
  var defaultValue: String? { get }
  /// True if the command cannot do without it.
  var isRequired: Bool { get }
  /// True if its value is a path that a shell can complete.
  var isPath: Bool { get }
  /// True if it may be given more than once; its values keep their order.
  var isRepeatable: Bool { get }
  /// A full sentence that says what to give instead of a refused value.
  var expectation: String { get }
  /// True if the text is a value of this option.
  func accepts(_ text: String) -> Bool
}

extension AnyCommandOption {
  /// `--age <age>`, or `--timing` for a flag.
  package var display: String { valueName.map { "--\(name) <\($0)>" } ?? "--\(name)" }

  /// ``display`` with the short name, where there is one: `-q, --quiet`.
  package var fullDisplay: String {
    (ShortNames.all.first { $0.long == "--\(name)" }.map { "\($0.short), " } ?? "") + display
  }
}

/// An option: its name, its help, and how its value is read.
package struct CommandOption<Value: Sendable>: AnyCommandOption {
  package let name: String
  package let valueName: String?
  package let abstract: String
  package var allowedValues: [String] = []
  package var defaultValue: String?
  package var isRequired = false
  package var isPath = false
  package var isRepeatable = false
  package let expectation: String
  /// The value when the option is not given.
  let initial: Value?
  /// `nil` when the text is not a value of this option.
  package let convert: @Sendable (String) -> Value?

  /// - Parameters:
  ///   - expectation: made from `allowedValues` when left out.
  ///   - defaultValue: `initial` as help shows it.
  package init(
    _ name: String, valueName: String?, abstract: String, allowedValues: [String] = [],
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

/// An option that takes no value: given or not.
package typealias Flag = CommandOption<Bool>

extension CommandOption where Value == Bool {
  package init(_ name: String, abstract: String) {
    self.init(name, valueName: nil, abstract: abstract, convert: { _ in nil })
  }
}

extension CommandOption where Value == String {
  /// Any text but the empty one.
  package init(
    _ name: String, valueName: String, abstract: String, expectation: String, isRequired: Bool = false,
    isPath: Bool = false, isRepeatable: Bool = false, initial: String? = nil, defaultValue: String? = nil
  ) {
    self.init(
      name, valueName: valueName, abstract: abstract, expectation: expectation, isRequired: isRequired,
      isPath: isPath, isRepeatable: isRepeatable, initial: initial, defaultValue: defaultValue,
      convert: { $0.isEmpty ? nil : $0 })
  }

  package static func path(
    _ name: String, valueName: String, isRequired: Bool = false, isRepeatable: Bool = false, abstract: String
  ) -> Self {
    CommandOption(
      name, valueName: valueName, abstract: abstract, expectation: "Please provide a path.",
      isRequired: isRequired, isPath: true, isRepeatable: isRepeatable)
  }
}

extension CommandOption where Value == Int {
  /// Digits and nothing else; `Int`'s own reader also takes a sign.
  package static func wholeNumber(
    _ name: String, valueName: String, in range: ClosedRange<Int>, initial: Int? = nil, abstract: String
  ) -> Self {
    CommandOption(
      name, valueName: valueName, abstract: abstract,
      expectation: "Please provide a whole number from \(range.lowerBound) to \(range.upperBound).",
      initial: initial, defaultValue: initial.map { String($0) },
      convert: { text in
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
          return nil
        }
        return Int(text).flatMap { range.contains($0) ? $0 : nil }
      })
  }
}

extension CommandOption where Value: RawRepresentable<String> {
  /// One of a list of words.
  package static func choice(
    _ name: String, valueName: String? = nil, of values: [Value], isRequired: Bool = false,
    initial: Value? = nil, defaultValue: String? = nil, abstract: String
  ) -> Self {
    CommandOption(
      name, valueName: valueName ?? name, abstract: abstract, allowedValues: values.map(\.rawValue),
      isRequired: isRequired, initial: initial, defaultValue: defaultValue ?? initial?.rawValue,
      convert: { text in values.first { $0.rawValue == text } })
  }
}

/// An argument known by its place.
package struct Positional: Sendable {
  /// Its name in help and messages, without the angle brackets.
  package let name: String
  package let abstract: String
  /// True if more than one may be given; at least one must be.
  package let isRepeated: Bool
  /// The allowed values; empty for a path.
  package let allowedValues: [String]

  package init(_ name: String, isRepeated: Bool = false, allowedValues: [String] = [], abstract: String) {
    (self.name, self.isRepeated) = (name, isRepeated)
    (self.allowedValues, self.abstract) = (allowedValues, abstract)
  }
}

/// The options that have a second name of one letter, the same for every command.
package enum ShortNames {
  static let all = [
    (short: "-o", long: "--output"), (short: "-q", long: "--quiet"), (short: "-V", long: "--version"),
    (short: "-h", long: "--help"),
  ]

  /// The option as it is called in full.
  package static func full(_ word: String) -> String { all.first { $0.short == word }?.long ?? word }
}
