/// A command line that was understood: every option's value is one that the option accepts, and no required
/// one is missing.
package struct ParsedArguments: Sendable {
  /// In the order given.
  package private(set) var positionals: [String] = []
  private var values: [String: [String]] = [:]
  private var flags: Set<String> = []

  /// The option's value, else its default, else `nil`.
  package subscript<Value>(option: Option<Value>) -> Value? {
    values[option.name]?.first.flatMap(option.convert) ?? option.initial
  }

  /// Every value of an option that may be given more than once, in the order given.
  package func values<Value>(of option: Option<Value>) -> [Value] {
    values[option.name, default: []].compactMap(option.convert)
  }

  /// The value of an option that is required or has a default.
  package func value<Value>(of option: Option<Value>) -> Value {
    guard let value = self[option] else {
      preconditionFailure("\(option.display) has neither a value nor a default; is it among the options?")
    }
    return value
  }

  /// Whether the flag was given.
  package subscript(flag: Flag) -> Bool { flags.contains(flag.name) }
}

/// What the command line asks for instead of the command's work.
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
    _ words: [String], positionals: [Positional], options: [any Parameter]
  ) throws(UsageError) -> ParsingOutcome {
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
    _ word: String, following remaining: inout ArraySlice<String>, options: [any Parameter]
  ) throws(UsageError) {
    let parts = Self.parts(word)
    try Self.refuseValueOfCommonFlag(word)
    let name = ShortNames.full(parts[0])
    guard let option = options.first(where: { "--\($0.name)" == name }) else {
      let typed = String(parts[0].drop { $0 == "-" })
      let nearest = (options.map(\.name) + ["help", "version"]).nearest(to: typed)
      throw .unknownOption(parts[0], suggestion: nearest.map { "--\($0)" })
    }
    let isRepeated = values[option.name] != nil || flags.contains(option.name)
    if isRepeated, !option.isRepeatable {
      throw .repeatedOption(display: option.display)
    }
    guard option.valueName != nil else {
      if parts.count == 2 { throw .unexpectedValue(parts[1], display: option.display) }
      flags.insert(option.name)
      return
    }
    let value: String
    if parts.count == 2 {
      value = parts[1]
    } else if let next = remaining.first, !next.hasPrefix("--") {
      value = next
      remaining.removeFirst()
    } else {
      throw .missingValue(display: option.display)
    }
    guard option.accepts(value) else {
      let nearest = option.allowedValues.nearest(to: value.lowercased())
      throw .invalidValue(
        value, display: option.display,
        expectation: option.expectation + (nearest.map { " Did you mean '\($0)'?" } ?? ""))
    }
    values[option.name, default: []].append(value)
  }

  /// The name of an option, and its value where one follows after an equals sign.
  private static func parts(_ word: String) -> [String] {
    word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
  }

  /// Help and version, which every command has, take no value.
  package static func refuseValueOfCommonFlag(_ word: String) throws(UsageError) {
    let parts = parts(word)
    if parts.count == 2, ["--help", "--version"].contains(ShortNames.full(parts[0])) {
      throw .unexpectedValue(parts[1], display: parts[0])
    }
  }

  private func requireEverything(
    positionals expected: [Positional], options: [any Parameter]
  ) throws(UsageError) {
    if positionals.count < expected.count {
      throw .missingArgument(name: expected[positionals.count].name)
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
      throw .missingOption(display: option.display)
    }
  }
}
