import DermaFusion

/// Prints a script that a shell completes command lines by.
enum CompletionsCommand: Command {
  static let name = "completions"
  static let abstract = "Print a script that makes a shell complete commands, options and values."
  static let positionals = [
    Positional(
      "shell", allowedValues: Completions.Shell.allCases.map { $0.rawValue }, abstract: "bash, zsh or fish.")
  ]
  static let options: [any Parameter] = []
  static let examples = [
    #"eval "$(dermafusion completions bash)""#,
    "dermafusion completions fish > ~/.config/fish/completions/dermafusion.fish",
  ]
  static let exitStatuses: [HelpEntry] = [("0", "The script was printed."), ("64", "Wrong usage.")]
  static let runsNetwork = false

  static func run(_ arguments: ParsedArguments, session: Session) throws -> ExitStatus {
    guard let shell = Completions.Shell(rawValue: arguments.positionals[0]) else {
      preconditionFailure("\(arguments.positionals[0]) passed the parser")
    }
    try session.terminal.write(Completions.script(for: shell, Tool.dermafusion.summary))
    return .success
  }
}

/// Prints the manual page.
enum ManualCommand: Command {
  static let name = "manual"
  static let abstract = "Print the manual page for man."
  static let positionals: [Positional] = []
  static let options: [any Parameter] = []
  static let examples = ["dermafusion manual > dermafusion.1; man ./dermafusion.1"]
  static let exitStatuses: [HelpEntry] = [("0", "The page was printed."), ("64", "Wrong usage.")]
  static let runsNetwork = false

  static func run(_ arguments: ParsedArguments, session: Session) throws -> ExitStatus {
    try session.terminal.write(Manual.page(Tool.dermafusion.summary))
    return .success
  }
}
