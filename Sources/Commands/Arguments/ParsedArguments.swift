import Files
import SystemModule

/// A valid command line: every option has a value that it accepts, and no required option is missing.
package struct ParsedArguments: Sendable {
  /// In the order given.
  package private(set) var positionals: [String] = []
  private var values: [String: [String]] = [:]

  /// The option's value or its default; `nil` without either.
  package subscript<Value>(option: CommandOption<Value>) -> Value? {
    values[option.name]?.first.flatMap(option.convert) ?? option.initial
  }

  /// True if the flag was given.
  package subscript(flag: Flag) -> Bool { values[flag.name] != nil }

  /// Every value of an option that may be given more than once, in the order given.
  package func values<Value>(of option: CommandOption<Value>) -> [Value] {
    values[option.name, default: []].compactMap(option.convert)
  }

  /// The value of an option that is required or has a default.
  package func value<Value>(of option: CommandOption<Value>) -> Value {
    guard let value = self[option] else {
      preconditionFailure("\(option.display) has neither a value nor a default; is it among the options?")
    }
    return value
  }
}

/// Help or version, which take the place of the command's work.
package enum ParsingOutcome: Sendable {
  case arguments(ParsedArguments)
  case help
  case version
}

extension ParsedArguments {
  /// Options may stand before or after the arguments, as `--name value` or `--name=value`; after `--`
  /// everything is an argument. The word after an option is its value even when it begins with one dash
  /// (`--age -3` is the age -3), but not when it begins with two. `-h` is help wherever it stands before `--`; see
  /// ``ShortNames`` for others.
  package static func parse(
    _ words: [String], positionals: [Positional], options: [any AnyCommandOption]
  ) throws(DermaFusionError) -> ParsingOutcome {
    let beforeTerminator = words.prefix { $0 != "--" }
    if beforeTerminator.contains(where: { ShortNames.full($0) == "--help" }) { return .help }
    if beforeTerminator.contains(where: { ShortNames.full($0) == "--version" }) { return .version }

    var parsed = ParsedArguments()
    var remaining = words[...]
    var optionsEnded = false
    while let word = remaining.popFirst() {
      if optionsEnded || word == "-" || !word.hasPrefix("-") {
        parsed.positionals.append(word)
      } else if word == "--" {
        optionsEnded = true
      } else {
        try parsed.readOption(word, following: &remaining, options: options)
      }
    }
    try parsed.requireEverything(positionals: positionals, options: options)
    return .arguments(parsed)
  }

  private mutating func readOption(
    _ word: String, following remaining: inout ArraySlice<String>, options: [any AnyCommandOption]
  ) throws(DermaFusionError) {
    let parts = Self.parts(word)
    try Self.refuseValueOfCommonFlag(word)
    let name = ShortNames.full(parts[0])
    guard let option = options.first(where: { "--\($0.name)" == name }) else {
      let typed = String(parts[0].drop { $0 == "-" })
      let nearest = (options.map(\.name) + ["help", "version"]).nearest(to: typed)
      throw .usage("Unknown option '\(parts[0])'.", suggestion: nearest.map { "--\($0)" })
    }
    if values[option.name] != nil, !option.isRepeatable {
      throw .words("The option '\(option.display)' was given more than once.")
    }
    guard option.valueName != nil else {
      if parts.count == 2 { throw .unexpectedValue(parts[1], display: option.display) }
      values[option.name] = []
      return
    }
    let value: String
    if parts.count == 2 {
      value = parts[1]
    } else if let next = remaining.first, !next.hasPrefix("--") {
      value = next
      remaining.removeFirst()
    } else {
      throw .words("Missing value for '\(option.display)'")
    }
    guard option.accepts(value) else {
      throw .invalidValue(
        value, display: option.display, expectation: option.expectation,
        suggestion: option.allowedValues.nearest(to: value.lowercased()))
    }
    values[option.name, default: []].append(value)
  }

  /// The name of an option, and its value where one follows after an equals sign.
  private static func parts(_ word: String) -> [String] {
    word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
  }

  /// Help and version, which every command has, take no value.
  package static func refuseValueOfCommonFlag(_ word: String) throws(DermaFusionError) {
    let parts = parts(word)
    if parts.count == 2, ["--help", "--version"].contains(ShortNames.full(parts[0])) {
      throw .unexpectedValue(parts[1], display: parts[0])
    }
  }

  private func requireEverything(
    positionals expected: [Positional], options: [any AnyCommandOption]
  ) throws(DermaFusionError) {
    if positionals.count < expected.count {
      throw .words("Missing expected argument '<\(expected[positionals.count].name)>'")
    }
    if positionals.count > expected.count, expected.last?.isRepeated != true {
      throw .unexpectedArgument(positionals[expected.count])
    }
    if let empty = positionals.firstIndex(of: "") {
      let name = expected[min(empty, expected.count - 1)].name
      throw .invalidValue("", display: "<\(name)>", expectation: "Please provide a path.")
    }
    for (index, word) in positionals.enumerated() {
      let positional = expected[min(index, expected.count - 1)]
      if !positional.allowedValues.isEmpty, !positional.allowedValues.contains(word) {
        throw .invalidValue(
          word, display: "<\(positional.name)>",
          expectation: "Please provide one of \(positional.allowedValues.quotedAlternatives).")
      }
    }
    for option in options where option.isRequired && values[option.name] == nil {
      throw .words("Missing expected option '\(option.display)'")
    }
  }
}

extension DermaFusionError.Code {
  /// A wrong value on the command line.
  package static let wrongValue = Self("wrongValue")
  /// Missing or surplus words; the message lists the expected ones.
  package static let wrongWords = Self("wrongWords")
}

/// A wrong command line. The exit status is 64.
extension DermaFusionError {
  package var isUsage: Bool { code == .wrongValue || code == .wrongWords }

  package static func usage(_ message: String, suggestion: String? = nil) -> Self {
    Self(
      .wrongValue, message: "\(message)\(suggestion.map { " Did you mean '\($0)'?" } ?? "")",
      remedy: "See the help of the command.")
  }

  package static func words(_ message: String, suggestion: String? = nil) -> Self {
    Self(.wrongWords, message: usage(message, suggestion: suggestion).fault, remedy: "See the usage.")
  }

  package static func unexpectedArgument(_ text: String) -> Self { words("Unexpected argument '\(text)'") }

  package static func unexpectedValue(_ value: String, display: String) -> Self {
    words("The option '\(display)' does not take any value, but '\(value)' was specified.")
  }

  package static func invalidValue(
    _ value: String, display: String, expectation: String, suggestion: String? = nil
  ) -> Self {
    usage("The value '\(value)' is invalid for '\(display)'. \(expectation)", suggestion: suggestion)
  }

  package static func excludingOptions(_ one: String, _ other: String) -> Self {
    usage("'\(one)' and '\(other)' cannot be given together.")
  }

  /// An option that has no effect without another one.
  package static func missingCompanion(_ display: String, companions: String) -> Self {
    usage("'\(display)' has no effect without \(companions).")
  }
}

extension Collection<String> {
  /// The name that the user probably meant: at most a third of its letters (at least one) are inserted, omitted,
  /// replaced or swapped with a neighbour; or it is the only name with this prefix.
  package func nearest(to typed: String) -> String? {
    let beginning = filter { !typed.isEmpty && $0.hasPrefix(typed) }
    if beginning.count == 1 { return beginning[0] }
    let distances = map { (name: $0, distance: editDistance(Array($0.utf8), Array(typed.utf8))) }
    guard let best = distances.min(by: { $0.distance < $1.distance }) else { return nil }
    return best.distance <= Swift.max(1, best.name.utf8.count / 3) ? best.name : nil
  }
}

/// Damerau-Levenshtein distance in its restricted form: no letter is edited twice.
private func editDistance(_ left: [UInt8], _ right: [UInt8]) -> Int {
  var table = [[Int]](repeating: [Int](repeating: 0, count: right.count + 1), count: left.count + 1)
  for row in 0...left.count { table[row][0] = row }
  for column in 0...right.count { table[0][column] = column }
  for row in stride(from: 1, through: left.count, by: 1) {
    for column in stride(from: 1, through: right.count, by: 1) {
      let replaced = table[row - 1][column - 1] + (left[row - 1] == right[column - 1] ? 0 : 1)
      var best = min(replaced, table[row - 1][column] + 1, table[row][column - 1] + 1)
      if row > 1, column > 1, left[row - 1] == right[column - 2], left[row - 2] == right[column - 1] {
        best = min(best, table[row - 2][column - 2] + 1)
      }
      table[row][column] = best
    }
  }
  return table[left.count][right.count]
}
