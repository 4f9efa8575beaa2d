import DermaFusion

/// Prints the manual page.
enum ManualCommand: Command {
  static let name = "manual"
  static let abstract = "Print the manual page for man."
  static let examples = ["dermafusion manual > dermafusion.1; man ./dermafusion.1"]
  static let exitStatuses: [HelpEntry] = [("0", "The page was printed.")]
  static let runsNetwork = false

  static func run(_ arguments: ParsedArguments, session: Session) throws -> ExitStatus {
    try session.terminal.write(Manual.page(Tool.dermafusion))
    return .success
  }
}

/// A program's manual page, section 1, in the language of man(7).
package enum Manual {
  package static func page(_ program: Tool) -> String {
    var lines = [
      ".\\\" Made by '\(program.name) manual'.",
      ".TH \(program.name.uppercased()) 1 \"\" \"\(program.name) \(DermaFusionVersion.current)\" \"User Commands\"",
      ".SH NAME", "\(escaped(program.name)) \\- \(escaped(program.abstract.firstClause))",
      ".SH SYNOPSIS", ".B \(escaped(program.name))", ".I subcommand", "[options]",
      ".SH DESCRIPTION",
    ]
    lines += paragraphs(program.discussion)
    lines.append(".SH SUBCOMMANDS")
    for command in program.commands { lines += section(command, program) }
    lines.append(".SH ENVIRONMENT")
    lines += entries(program.environment)
    lines.append(".SH EXIT STATUS")
    lines += entries(program.exitStatuses)
    return lines.joined(separator: "\n") + "\n"
  }

  private static func section(_ command: any Command.Type, _ program: Tool) -> [String] {
    var lines = [".SS \(escaped(command.name))", escaped(command.abstract)]
    // The disclaimer stands at the page's beginning.
    lines += paragraphs(
      command.discussion.hasPrefix(program.discussion)
        ? String(command.discussion.dropFirst(program.discussion.count)) : command.discussion
    ).reduce(into: []) { $0 += [".PP", $1] }
    let positionals = command.positionals.map { "<\($0.name)>" + ($0.isRepeated ? " ..." : "") }
    lines += [
      ".PP", ".B \(escaped("\(program.name) \(command.name)"))",
      escaped((positionals + ["[options]"]).joined(separator: " ")),
    ]
    lines += entries(command.positionals.map { ("<\($0.name)>", $0.abstract) })
    lines += entries(command.options.map { ($0.fullDisplay, Help.description(of: $0)) })
    if !command.examples.isEmpty {
      lines += [".PP", "Examples:", ".PP", ".nf"] + command.examples.map { "    " + escaped($0) } + [".fi"]
    }
    lines += entries(command.allExitStatuses.map { ("exit status \($0.label)", $0.description) })
    return lines
  }

  private static func entries(_ entries: [HelpEntry]) -> [String] {
    entries.flatMap { [".TP", ".B \(escaped($0.label))", escaped($0.description)] }
  }

  private static func paragraphs(_ text: String) -> [String] {
    text.split(separator: "\n").map { escaped(String($0)) }
  }

  /// With what roff would obey replaced.
  private static func escaped(_ text: String) -> String {
    var result = ""
    for character in text {
      switch character {
      case "\\": result += "\\e"
      case "-": result += "\\-"
      case "\n": result += " "
      case "\"": result += "\\(dq"
      default: result.append(character)
      }
    }
    return result.hasPrefix(".") || result.hasPrefix("'") ? "\\&" + result : result
  }
}
