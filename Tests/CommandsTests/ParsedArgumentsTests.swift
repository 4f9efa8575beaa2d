import SystemModule
import Testing

@testable import Commands

@Suite struct ParsedArgumentsTests {
  enum OutputFormat: String { case text, json, csv }

  static let number = CommandOption<Int>(
    "number", valueName: "n", abstract: "A number.", expectation: "Please provide a number.",
    convert: { Int($0) })
  static let stage = CommandOption<OutputFormat>.choice(
    "stage", of: [.text, .json], isRequired: true, abstract: "Required.")
  static let format = CommandOption<OutputFormat>.choice(
    "format", of: [.text, .csv], initial: .text, abstract: "Form.")
  static let timing = Flag("timing", abstract: "A flag.")

  func parse(
    _ words: String..., positionals: [Positional] = [Positional("image", isRepeated: true, abstract: "")],
    options: [any AnyCommandOption] = [number, format, timing]
  ) throws -> ParsedArguments {
    try parsedArguments(words, positionals: positionals, options: options)
  }

  @Test func optionsStandBeforeBetweenOrAfterArguments() throws {
    for words in [
      ["--number", "3", "--timing", "a", "b"], ["a", "--number=3", "b", "--timing"],
      ["a", "--timing", "b", "--number", "3"],
    ] {
      let arguments = try parsedArguments(
        words, positionals: [Positional("image", isRepeated: true, abstract: "")],
        options: [Self.number, Self.format, Self.timing])
      #expect(arguments.positionals == ["a", "b"], "\(words)")
      #expect(arguments[Self.number] == 3, "\(words)")
      #expect(arguments[Self.timing], "\(words)")
      #expect(arguments.value(of: Self.format) == .text, "\(words)")
    }
  }

  @Test func aRepeatableOptionKeepsItsValuesInOrder() throws {
    let folders = CommandOption<String>.path(
      "images", valueName: "folder", isRequired: true, isRepeatable: true, abstract: "")
    let parsed = try parse("--images", "b", "a", "--images=a", "--images", "b", options: [folders])
    #expect(parsed.values(of: folders) == ["b", "a", "b"])
    #expect(parsed.positionals == ["a"])
    #expect(throws: DermaFusionError.words("Missing expected option '--images <folder>'")) {
      try parse("a", options: [folders])
    }
    #expect(throws: DermaFusionError.self) {
      try parse("a", "--images", "b", "--images=", options: [folders])
    }
    #expect(throws: DermaFusionError.words("The option '--number <n>' was given more than once.")) {
      try parse("a", "--number", "1", "--number", "2")
    }
  }

  @Test func aValueMayBeginWithOneDash() throws {
    #expect(try parse("a", "--number", "-3")[Self.number] == -3)
    #expect(try parse("a", "--number=-3")[Self.number] == -3)
  }

  @Test func aValueMayHoldAnEqualsSign() throws {
    let path = CommandOption<String>.path("path", valueName: "p", abstract: "")
    #expect(try parse("a", "--path=x=y", options: [path])[path] == "x=y")
    #expect(throws: DermaFusionError.self) { try parse("a", "--path=", options: [path]) }
  }

  @Test func afterTwoDashesEverythingIsAnArgument() throws {
    #expect(
      try parse("a", "--", "--number", "-x", "--", "--help").positionals == [
        "a", "--number", "-x", "--", "--help",
      ])
  }

  @Test func oneDashIsAnArgument() throws {
    #expect(try parse("-").positionals == ["-"])
  }

  @Test func helpAndVersionWinOverEveryMistake() throws {
    for (word, isHelp) in [("--help", true), ("-h", true), ("--version", false)] {
      let outcome = try ParsedArguments.parse(
        ["--nonsense", "--number", "x", word], positionals: [], options: [Self.number])
      switch outcome {
      case .help: #expect(isHelp)
      case .version: #expect(!isHelp)
      case .arguments: Issue.record("\(word) was not noticed")
      }
    }
  }

  func expect(
    _ code: DermaFusionError.Code, _ message: String, from words: String...,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let error = #expect(throws: DermaFusionError.self, sourceLocation: sourceLocation) {
      try ParsedArguments.parse(
        words, positionals: [Positional("image", abstract: "")],
        options: [Self.number, Self.stage, Self.format, Self.timing])
    }
    #expect(error?.code == code, sourceLocation: sourceLocation)
    #expect(error?.description == message, sourceLocation: sourceLocation)
  }

  @Test func everyRuleHasItsError() {
    expect(.wrongWords, "Missing expected argument '<image>'", from: "--stage", "json")
    expect(.wrongWords, "Unexpected argument 'b'", from: "a", "b", "--stage", "json")
    expect(.wrongWords, "Missing expected option '--stage <stage>'", from: "a")
    expect(
      .wrongValue, "Unknown option '--numbr'. Did you mean '--number'?", from: "a", "--numbr", "3")
    expect(.wrongValue, "Unknown option '-number'. Did you mean '--number'?", from: "a", "-number=3")
    expect(.wrongValue, "Unknown option '--colour'.", from: "--colour")
    expect(.wrongValue, "Unknown option '-3'.", from: "-3")
    expect(.wrongWords, "Missing value for '--number <n>'", from: "a", "--number")
    expect(.wrongWords, "Missing value for '--number <n>'", from: "a", "--number", "--timing")
    expect(
      .wrongWords, "The option '--timing' does not take any value, but 'yes' was specified.",
      from: "a", "--timing=yes")
    expect(
      .wrongWords, "The option '--number <n>' was given more than once.",
      from: "a", "--number", "3", "--number=3")
    expect(
      .wrongWords, "The option '--timing' was given more than once.", from: "a", "--timing", "--timing")
    expect(
      .wrongValue, "The value 'x' is invalid for '--stage <stage>'. Please provide one of 'text' or 'json'.",
      from: "a", "--stage", "x")
    expect(
      .wrongValue,
      "The value 'csv' is invalid for '--stage <stage>'. Please provide one of 'text' or 'json'.",
      from: "a", "--stage=csv")
  }

  @Test func suggestionsAreNamesThatWereProbablyMeant() {
    let names = ["age", "sex", "site", "metadata", "threads", "format"]
    #expect(names.nearest(to: "metdata") == "metadata")
    #expect(names.nearest(to: "metdaata") == "metadata")
    #expect(names.nearest(to: "form") == "format")
    #expect(names.nearest(to: "aeg") == "age")
    #expect(names.nearest(to: "s") == nil)
    #expect(names.nearest(to: "") == nil)
    #expect(names.nearest(to: "output") == nil)
  }
}
