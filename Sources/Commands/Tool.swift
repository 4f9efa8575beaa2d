import DermaFusion
import SystemModule

/// The program: its commands, and how their errors are reported.
package struct Tool: Sendable {
  package let name: String
  package let abstract: String
  package let discussion: String
  package let commands: [any Command.Type]
  /// The variables that it looks at, and what they do.
  package let environment: [HelpEntry]
  package let exitStatuses: [HelpEntry]

  /// ``run(_:session:)`` with the words as the system hands them over.
  ///
  /// - Parameter words: without the terminating zeros. One that is not UTF-8 is wrong usage: as text it would be another
  ///   word, and might name another file.
  package func run(_ words: [[UInt8]], session: Session) -> ExitStatus {
    var texts: [String] = []
    for word in words {
      guard let text = String(validating: word, as: UTF8.self) else {
        return refuse(
          .usage("The argument '\(String(escapingInvalid: word))' is not UTF-8 text."), session.terminal)
      }
      texts.append(text)
    }
    return run(texts, session: session)
  }

  /// Runs the command that `words` ask for and answers with the exit status.
  ///
  /// - Parameter words: the command line without the program's own name.
  package func run(_ words: [String], session: Session) -> ExitStatus {
    do {
      return try dispatch(words, session: session)
    } catch let error as DermaFusionError where error.code == .closedOutput {
      // As in rg and uv: a reader that closes the pipe, such as head, has what it wanted.
      return .success
    } catch {
      session.terminal.report("\(String(describing: error))")
      return .failure
    }
  }

  private func dispatch(_ words: [String], session: Session) throws -> ExitStatus {
    let terminal = session.terminal
    let command: any Command.Type
    let rest = words.dropFirst()
    do {
      guard let first = words.first else { return try show(help, on: terminal) }
      switch first {
      case "-h", "--help": return try show(help, on: terminal)
      case "-V", "--version": return try show(DermaFusionVersion.current + "\n", on: terminal)
      case "help": return try show(help(about: rest), on: terminal)
      default: command = try self.command(named: first)
      }
    } catch {
      guard error.isUsage else { throw error }
      return refuse(error, terminal)
    }

    do {
      switch try ParsedArguments.parse(
        Array(rest), positionals: command.positionals, options: command.options)
      {
      case .help: return try show(help(for: command), on: terminal)
      case .version: return try show(DermaFusionVersion.current + "\n", on: terminal)
      case .arguments(let arguments):
        if command.runsNetwork, let refusal = session.instructionSetRefusal {
          terminal.report("\(refusal)")
          return .usage
        }
        return try run(command, arguments, session)
      }
    } catch let error as DermaFusionError where error.isUsage {
      let advice = "See '\(name) \(command.name) --help' for more information."
      // Ten lines of options would hide the line that says which value is wrong.
      terminal.report(
        "\(error)",
        advice: error.code == .wrongWords
          ? "\(Help.usage(of: command, in: name, title: "Usage:"))\n  \(advice)" : advice)
      return .usage
    }
  }

  /// Runs a command with the language and the quiet that its options ask for.
  private func run(
    _ command: any Command.Type, _ arguments: ParsedArguments, _ session: Session
  ) throws -> ExitStatus {
    var session = session
    session.terminal.language = arguments.value(of: CommandOption<Language>.language)
    session.terminal.isQuiet = arguments[Flag.quiet]
    do {
      return try command.run(arguments, session: session)
    } catch let error as DermaFusionError {
      throw error.worded(in: session.terminal.language)
    }
  }

  private func refuse(_ error: DermaFusionError, _ terminal: Terminal) -> ExitStatus {
    terminal.report(
      "\(error)", advice: "Usage: \(name) <subcommand>\n  See '\(name) --help' for more information.")
    return .usage
  }

  /// The text of `help`: without a topic, and for the topic help, that of the tool.
  private func help(about topics: ArraySlice<String>) throws(DermaFusionError) -> String {
    guard let topic = topics.first else { return help }
    if let surplus = topics.dropFirst().first { throw .unexpectedArgument(surplus) }
    if ["help", "-h", "--help"].contains(topic) { return help }
    return help(for: try command(named: topic))
  }

  private func command(named word: String) throws(DermaFusionError) -> any Command.Type {
    if let command = commands.first(where: { $0.name == word }) { return command }
    try ParsedArguments.refuseValueOfCommonFlag(word)
    if word.hasPrefix("-") {
      throw .usage("Unknown option '\(word)'. Options stand after the subcommand.")
    }
    // An image without a subcommand.
    let suggestion = FileBytes.isThere(word) ? "\(name) \(ClassifyCommand.name) \(word)" : nil
    throw .words(
      "Unknown subcommand '\(word)'.",
      suggestion: suggestion ?? (commands.map { $0.name } + ["help"]).nearest(to: word))
  }

  private func show(_ text: String, on terminal: Terminal) throws(DermaFusionError) -> ExitStatus {
    try terminal.write(text)
    return .success
  }
}

extension Tool {
  /// The text of `--help` without a command.
  package var help: String {
    var text = [
      ("OVERVIEW: " + abstract).wrapped(width: Help.width, indent: 0),
      discussion.wrapped(width: Help.width, indent: 0),
      "USAGE: \(name) <subcommand>",
      Help.section("OPTIONS", Help.commonOptions),
      Help.section("SUBCOMMANDS", commands.map { ($0.name, $0.abstract) }),
    ].joined(separator: "\n\n")
    text += "\n\n  See '\(name) help <subcommand>' for detailed help.\n\n"
    text += Help.section("ENVIRONMENT", environment) + "\n\n"
    text += Help.section("EXIT STATUS", exitStatuses) + "\n"
    return text
  }

  /// The text of a command's `--help`.
  package func help(for command: any Command.Type) -> String { Help.text(for: command, in: name) }
}
