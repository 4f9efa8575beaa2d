import DermaFusion
import SystemModule
import TestFiles
import Testing

@testable import Commands

@Suite struct ToolTests {
  @Test func versionIsOneLineOnStandardOutput() {
    for words in [["--version"], ["classify", "--version"]] {
      let result = words.count == 1 ? runTool(words[0]) : runTool(words[0], words[1])
      #expect(result.output == DermaFusionVersion.current + "\n")
      #expect(result.errors == "")
      #expect(result.status == .success)
    }
  }

  @Test func withoutACommandThereIsHelp() {
    let result = runTool()
    #expect(result.status == .success && result.errors == "")
    #expect(result.output == runTool("--help").output)
  }

  @Test func anUnknownCommandIsNamedWithTheNearestOne() {
    let result = runTool("clasify", "a.png")
    result.expect(.usage, "Error: Unknown subcommand 'clasify'. Did you mean 'classify'?\n")
    #expect(runTool("xyz").errors.hasPrefix("Error: Unknown subcommand 'xyz'.\n"))
  }

  @Test func anOptionBeforeTheCommandIsSentBehindIt() {
    let result = runTool("--format", "json", "classify", "a.png")
    result.expect(.usage, "Error: Unknown option '--format'. Options stand after the subcommand.\n")
  }

  @Test func aWrongValueIsTheLineThatIsSeen() {
    let result = runTool("classify", "a.png", "--age", "old")
    result.expect(
      .usage,
      whole: """
        Error: The value 'old' is invalid for '--age <age>'. Please provide a number of years from 0 to 130.
        See 'dermafusion classify --help' for more information.

        """)
  }

  @Test func anUnknownOptionIsOneLineAndAHint() {
    #expect(
      runTool("classify", "a.png", "--formt", "csv").errors == """
        Error: Unknown option '--formt'. Did you mean '--format'?
        See 'dermafusion classify --help' for more information.

        """)
  }

  /// `-o`, `-q`, `-V` and `-h`.
  @Test func someOptionsHaveAShortName() {
    let folder = TemporaryFolder()
    let image = folder.write(pnm(), to: "a.ppm")
    let path = folder.path + "/results"
    #expect(runTool("classify", image, "-q", "-o", path).status == .success)
    #expect(folder.contents(of: "results") == runTool("classify", image).outputBytes)
    for words in [["-V"], ["classify", "-V"]] {
      #expect(runTool(words: words).output == DermaFusionVersion.current + "\n")
    }
    #expect(runTool("report", "--help").output.contains("\n  -o, --output <report.html>"))
    #expect(runTool("info", "-o", "x").errors.hasPrefix("Error: Unknown option '-o'."))
    #expect(runTool("classify", "a", "-o").errors.hasPrefix("Error: Missing value for '--output <file>'"))
  }

  @Test func anImageWithoutASubcommandIsGivenOne() {
    let folder = TemporaryFolder()
    let image = folder.write(pnm(), to: "mole.ppm")
    let result = runTool(image)
    result.expect(
      .usage, "Error: Unknown subcommand '\(image)'. Did you mean 'dermafusion classify \(image)'?\n")
  }

  @Test func wrongUsageOfACommandShowsItsUsageAndWhereHelpIs() {
    let result = runTool("encode-metadata", "--sex")
    result.expect(
      .usage,
      whole: """
        Error: Missing value for '--sex <sex>'
        Usage: dermafusion encode-metadata [--age <age>] [--sex <sex>] [--site <site>]
          See 'dermafusion encode-metadata --help' for more information.

        """)
  }

  @Test func everyWayToAskForHelpGivesTheSame() {
    let help = runTool("classify", "--help")
    #expect(help.status == .success)
    #expect(help.errors == "")
    #expect(runTool("help", "classify").output == help.output)
    #expect(runTool("classify", "-h").output == help.output)
    #expect(runTool("help").output == runTool("--help").output)
    for words in [["help", "help"], ["help", "--help"], ["help", "-h"]] {
      let result = runTool(words: words)
      #expect(result.status == .success)
      #expect(result.output == runTool("--help").output)
    }
  }

  @Test func helpAboutWhatThereIsNotIsWrongUsage() {
    let unknown = runTool("help", "clasify")
    unknown.expect(.usage, "Error: Unknown subcommand 'clasify'. Did you mean 'classify'?\n")
    let surplus = runTool("help", "classify", "info")
    surplus.expect(.usage, "Error: Unexpected argument 'info'\n")
  }

  @Test(arguments: ["-h", "--help", "--version", "-V"])
  func helpAndVersionTakeNoValue(flag: String) {
    for words in [
      ["\(flag)=1"], ["info", "\(flag)=1"], ["classify", "a.png", "\(flag)=1"], ["help", "\(flag)=1"],
    ] {
      let result = runTool(words: words)
      #expect(result.status == .usage && result.output == "")
      #expect(
        result.errors.hasPrefix(
          "Error: The option '\(flag)' does not take any value, but '1' was specified.\n"),
        "\(words): \(result.errors)")
    }
  }

  @Test func anInstructionSetThatCannotBeHadIsRefusedByWhateverRunsANetwork() {
    let words = [
      "classify": ["a.png"], "gradcam": ["a.png"], "report": ["a.png", "--output", "nowhere/a.html"],
      "completions": ["bash"], "evaluate": ["--labels", "a.csv", "--images", "."],
      "calibrate": ["--labels", "a.csv", "--images", ".", "--output", "nowhere/a"],
      "compare": ["a.png", "--against", "int8"], "parity": [], "bench": [], "info": [], "encode-metadata": [],
      "duplicates": ["a.png"], "embed": ["a.png", "--output", "nowhere/a.npy"],
      "preprocess": ["a.png", "--stage", "resized", "--output", "nowhere/a.npy"],
    ]
    for command in Tool.dermafusion.commands {
      let result = runTool(
        words: [command.name] + (words[command.name] ?? []), instructionSetRefusal: "no such instructions")
      if command.runsNetwork {
        #expect(result.status == .usage && result.output == "", "\(command)")
        #expect(result.errors == "Error: no such instructions\n", "\(command)")
      } else {
        #expect(!result.errors.contains("instructions"), "\(command)")
      }
    }
    #expect(
      Tool.dermafusion.commands.filter { !$0.runsNetwork }.map { $0.name } == [
        "duplicates", "preprocess", "encode-metadata", "doctor", "completions", "manual",
      ])
    #expect(runTool(words: ["info", "--help"], instructionSetRefusal: "no").status == .success)
  }

  @Test func aWordThatIsNotTextIsRefusedAsItStands() {
    let errors = MemoryOutput()
    let output = MemoryOutput()
    let terminal = memoryTerminal(output: output, errors: errors)
    let words = [Array("classify".utf8), Array("é".utf8) + [0x63, 0xE9, 0xE2, 0x80] + Array(".jpg".utf8)]
    #expect(Tool.dermafusion.run(words, session: Session(terminal: terminal)) == .usage)
    #expect(output.text == "")
    #expect(errors.text.hasPrefix("Error: The argument 'éc\\xE9\\xE2\\x80.jpg' is not UTF-8 text.\n"))
  }

  @Test func helpFitsEightyColumnsAndItsDescriptionsBeginAtOne() {
    for text in Tool.dermafusion.commands.map(Tool.dermafusion.help) + [Tool.dermafusion.help] {
      for line in text.split(separator: "\n") {
        #expect(line.count <= 80, "\(line)")
        #expect(line.last != " ", "\(line)")
      }
      #expect(text.contains("\n  -h, --help              Show help information.\n"))
      #expect(text.contains("\nEXIT STATUS:\n  0                       "))
      #expect(text.contains("\n  64                      Wrong usage.\n"))
    }
  }

  @Test func aFailureIsOneLineAndATerminalIsGivenNothingToObey() {
    let result = runTool("classify", "a\nb\u{1B}[31m\u{9B}é.png")
    #expect(result.errors == "Error: a\\nb\\u{1B}[31m\\u{009B}é.png: no such file or folder\n")
    let separators = runTool("classify", "a\u{2028}b\u{202E}c.png")
    #expect(separators.errors == "Error: a\\u{2028}b\\u{202E}c.png: no such file or folder\n")
    let usage = runTool("encode-metadata", "--site", "x\r\ny")
    #expect(usage.errors.hasPrefix("Error: The value 'x\\r\\ny' is invalid for '--site <site>'. "))
  }

  @Test func outputThatIsClosedEndsTheCommandQuietly() {
    let result = runTool("encode-metadata", output: MemoryOutput(failure: .closed, capacity: 0))
    #expect(result.status == .success)
    #expect(result.errors == "")
  }

  @Test func outputThatCannotBeWrittenIsAFailure() {
    let full = DermaFusionError.failed(reason: "No space left on device")
    let result = runTool("encode-metadata", output: MemoryOutput(failure: full, capacity: 0))
    #expect(result.status == .failure)
    #expect(result.errors == "Error: standard output cannot be written: No space left on device\n")
  }
}
