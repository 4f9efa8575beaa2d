/// One subcommand. A new one is a file with a type that conforms, and its name in ``Tool/dermafusion``.
package protocol Command: Sendable {
  /// As it is typed.
  static var name: String { get }
  /// One sentence.
  static var abstract: String { get }
  /// More for the help, below the overview; may be empty.
  static var discussion: String { get }
  /// Arguments by place, in order; only the last may be repeated.
  static var positionals: [Positional] { get }
  /// In the order in which help lists them.
  static var options: [any Parameter] { get }
  /// Whether a network runs, so that the instruction set which the environment asks for must be one that can be had.
  static var runsNetwork: Bool { get }
  /// Lines of shell for the help, with files of the user's own.
  static var examples: [String] { get }
  /// What each exit status means here, for the help.
  static var exitStatuses: [HelpEntry] { get }

  /// Does the work. Data goes to the terminal's output; notes and failures go to its errors.
  ///
  /// - Throws: ``UsageError`` for what only the command itself can see to be wrong usage, ``OutputError``
  ///   when the output cannot be written, any other error for a failure that ends the command.
  static func run(_ arguments: ParsedArguments, session: Session) throws -> ExitStatus
}

extension Command {
  package static var discussion: String { "" }
  package static var runsNetwork: Bool { true }
}

/// The exit status of the process.
package enum ExitStatus: Int32, Sendable {
  case success = 0
  case failure = 1
  case usage = 64
}
