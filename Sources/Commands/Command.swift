import SystemModule

/// One subcommand. A new one is a file with a type that conforms, and its name in ``Tool/dermafusion``.
package protocol Command: CommandDescription {
  /// Whether a network runs, so that the instruction set which the environment asks for must be one that can be had.
  static var runsNetwork: Bool { get }

  /// Does the work. Data goes to the terminal's output; notes and failures go to its errors.
  ///
  /// - Throws: ``UsageError`` for what only the command itself can see to be wrong usage, ``DermaFusionError``
  ///   when the output cannot be written, any other error for a failure that ends the command.
  static func run(_ arguments: ParsedArguments, session: Session) throws -> ExitStatus
}

extension Command {
  package static var runsNetwork: Bool { true }
}
