import DermaFusion

extension Tool {
  /// What `--help` without a command shows.
  package var help: String {
    var text = [
      Help.wrapped("OVERVIEW: " + abstract, indent: 0),
      Help.wrapped(discussion, indent: 0),
      "USAGE: \(name) <subcommand>",
      Help.section("OPTIONS", Help.commonOptions),
      Help.section("SUBCOMMANDS", commands.map { ($0.name, $0.abstract) }),
    ].joined(separator: "\n\n")
    text += "\n\n  See '\(name) help <subcommand>' for detailed help.\n\n"
    text += Help.section("ENVIRONMENT", environment) + "\n\n"
    text += Help.section("EXIT STATUS", exitStatuses) + "\n"
    return text
  }

  /// What `--help` of a command shows.
  package func help(for command: any Command.Type) -> String { Help.text(for: command, in: name) }

  /// What help, completions and the manual have in common.
  var summary: ProgramSummary {
    ProgramSummary(
      name: name, abstract: abstract, discussion: discussion, version: DermaFusionVersion.current,
      commands: commands, environment: environment, exitStatuses: exitStatuses)
  }
}
