/// A command line that cannot be understood. The exit status is 64.
package enum UsageError: Error, Equatable, CustomStringConvertible {
  case unknownCommand(String, suggestion: String?)
  case missingArgument(name: String)
  case unexpectedArgument(String)
  case missingOption(display: String)
  case unknownOption(String, suggestion: String?)
  case optionBeforeCommand(String)
  case missingValue(display: String)
  case unexpectedValue(String, display: String)
  case repeatedOption(display: String)
  case invalidValue(String, display: String, expectation: String)
  case repeatedStandardInput
  case excludingOptions(String, String)
  /// An option that changes nothing without others.
  case missingCompanion(String, companions: String)
  case outputIsInput(String, input: String, display: String)
  case repeatedOutput(String, displays: String, String)
  /// The word with its wrong bytes as `\xE9`.
  case invalidText(String)

  /// Whether words are missing or too many, so that a list of those which are expected helps; else a value is wrong.
  package var isAboutWords: Bool {
    switch self {
    case .unknownCommand, .missingArgument, .unexpectedArgument, .missingOption, .missingValue,
      .unexpectedValue, .repeatedOption:
      true
    case .unknownOption, .optionBeforeCommand, .invalidValue, .repeatedStandardInput, .excludingOptions,
      .missingCompanion, .outputIsInput,
      .repeatedOutput,
      .invalidText:
      false
    }
  }

  /// One line naming the argument and the rule.
  package var description: String {
    switch self {
    case .unknownCommand(let name, let suggestion):
      "Unknown subcommand '\(name)'." + Self.hint(suggestion)
    case .missingArgument(let name): "Missing expected argument '<\(name)>'"
    case .unexpectedArgument(let text): "Unexpected argument '\(text)'"
    case .missingOption(let display): "Missing expected option '\(display)'"
    case .unknownOption(let name, let suggestion): "Unknown option '\(name)'." + Self.hint(suggestion)
    case .optionBeforeCommand(let name): "Unknown option '\(name)'. Options stand after the subcommand."
    case .missingValue(let display): "Missing value for '\(display)'"
    case .unexpectedValue(let value, let display):
      "The option '\(display)' does not take any value, but '\(value)' was specified."
    case .repeatedOption(let display): "The option '\(display)' was given more than once."
    case .invalidValue(let value, let display, let expectation):
      "The value '\(value)' is invalid for '\(display)'. \(expectation)"
    case .repeatedStandardInput: "'-' was given more than once, but standard input holds one image."
    case .excludingOptions(let one, let other):
      "'\(one)' and '\(other)' cannot be given together."
    case .missingCompanion(let display, let companions):
      "'\(display)' has no effect without \(companions)."
    case .outputIsInput(let path, let input, let display):
      "'\(path)' is \(input), and '\(display)' would replace it."
    case .repeatedOutput(let path, let one, let other):
      "'\(path)' would be written for '\(one)' and for '\(other)'."
    case .invalidText(let word): "The argument '\(word)' is not UTF-8 text."
    }
  }

  private static func hint(_ suggestion: String?) -> String {
    suggestion.map { " Did you mean '\($0)'?" } ?? ""
  }
}
