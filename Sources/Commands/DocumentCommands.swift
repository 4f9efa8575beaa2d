import CommandLineSupport
import DermaFusion

/// Prints a script that a shell completes command lines by.
package enum CompletionsCommand: Command {
  package static let name = "completions"
  package static let abstract = "Print a script that makes a shell complete commands, options and values."
  package static let positionals = [
    Positional(
      "shell", allowedValues: Completions.Shell.allCases.map { $0.rawValue }, abstract: "bash, zsh or fish.")
  ]
  package static let options: [any Parameter] = []
  package static let examples = [
    #"eval "$(dermafusion completions bash)""#,
    "dermafusion completions fish > ~/.config/fish/completions/dermafusion.fish",
  ]
  package static let exitStatuses: [HelpEntry] = [("0", "The script was printed."), ("64", "Wrong usage.")]
  package static let runsNetwork = false

  package static func run(_ arguments: ParsedArguments, session: Session) throws -> ExitStatus {
    guard let shell = Completions.Shell(rawValue: arguments.positionals[0]) else {
      preconditionFailure("\(arguments.positionals[0]) passed the parser")
    }
    try session.terminal.write(Completions.script(for: shell, Tool.dermafusion.summary))
    return .success
  }
}

/// Prints the manual page.
package enum ManualCommand: Command {
  package static let name = "manual"
  package static let abstract = "Print the manual page for man."
  package static let positionals: [Positional] = []
  package static let options: [any Parameter] = []
  package static let examples = ["dermafusion manual > dermafusion.1; man ./dermafusion.1"]
  package static let exitStatuses: [HelpEntry] = [("0", "The page was printed."), ("64", "Wrong usage.")]
  package static let runsNetwork = false

  package static func run(_ arguments: ParsedArguments, session: Session) throws -> ExitStatus {
    try session.terminal.write(Manual.page(Tool.dermafusion.summary))
    return .success
  }
}
