/// What the parser, the help and the messages need to know of an option, whatever the type of its value.
package protocol Parameter: Sendable {
  /// Without its dashes.
  var name: String { get }
  /// What help calls the value; `nil` for a flag, which takes none.
  var valueName: String? { get }
  /// One sentence for the help.
  var abstract: String { get }
  /// The values that help lists; empty when they are not a short list.
  var allowedValues: [String] { get }
  /// The default as help shows it.
  var defaultValue: String? { get }
  /// Whether the command cannot do without it.
  var isRequired: Bool { get }
  /// Whether its value is a path that a shell can complete.
  var isPath: Bool { get }
  /// Whether it may be given more than once.
  var isRepeatable: Bool { get }
  /// What a person should give instead of a value that was refused, a full sentence.
  var expectation: String { get }
  /// Whether the text is a value of this option.
  func accepts(_ text: String) -> Bool
}

extension Parameter {
  package var isRepeatable: Bool { false }
  package var isPath: Bool { false }

  /// `--age <age>`, or `--timing` for a flag.
  package var display: String { valueName.map { "--\(name) <\($0)>" } ?? "--\(name)" }

  /// ``display`` with the short name, where there is one: `-q, --quiet`.
  package var fullDisplay: String {
    (ShortNames.all.first { $0.long == "--\(name)" }.map { "\($0.short), " } ?? "") + display
  }
}

/// An option that takes no value: given or not.
package struct Flag: Parameter {
  package let name: String
  package let abstract: String

  package init(_ name: String, abstract: String) {
    self.name = name
    self.abstract = abstract
  }

  package var valueName: String? { nil }
  package var allowedValues: [String] { [] }
  package var defaultValue: String? { nil }
  package var isRequired: Bool { false }
  package var expectation: String { "" }
  package func accepts(_ text: String) -> Bool { false }
}

/// An argument known by its place.
package struct Positional: Sendable {
  /// What help and messages call it, without its angle brackets.
  package let name: String
  package let abstract: String
  /// Whether more than one may be given; at least one must be.
  package let isRepeated: Bool
  /// What it can be; empty for a path.
  package let allowedValues: [String]

  package init(_ name: String, isRepeated: Bool = false, allowedValues: [String] = [], abstract: String) {
    self.name = name
    self.isRepeated = isRepeated
    self.allowedValues = allowedValues
    self.abstract = abstract
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
