import DermaFusion

/// One subcommand: what the parser and the help need to know of it, and its work. A new one is a file with a type that
/// conforms, and its name in ``Tool/dermafusion``.
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
  static var options: [any AnyCommandOption] { get }
  /// Lines of shell for the help, with files of the user's own.
  static var examples: [String] { get }
  /// What each exit status means here, for the help.
  static var exitStatuses: [HelpEntry] { get }
  /// Whether a network runs, so that the instruction set which the environment asks for must be one that can be had.
  static var runsNetwork: Bool { get }

  /// Does the work. Data goes to the terminal's output; notes and failures go to its errors.
  static func run(_ arguments: ParsedArguments, session: Session) throws -> ExitStatus
}

extension Command {
  package static var discussion: String { "" }
  package static var positionals: [Positional] { [] }
  package static var options: [any AnyCommandOption] { [] }
  package static var runsNetwork: Bool { true }
}

/// The exit status of the process.
package enum ExitStatus: Int32, Sendable {
  case success = 0
  case failure = 1
  /// `calibrate` found no better model.
  case notBetter = 2
  case usage = 64
}

/// What a command works with: the terminal, and the way to a model.
package struct Session: Sendable {
  package let terminal: Terminal
  /// Loads a model.
  package typealias Loader =
    @Sendable (_ folder: String, _ threadCount: Int?, _ precision: Precision?) throws -> Classifier

  /// Loads the model of a folder, to compute with so many threads (`nil`: as many as there are processors) in a precision
  /// (`nil`: the model's own).
  package let loadClassifier: Loader

  /// Why the instruction set that the environment asks for cannot be had; `nil` when it can, or none is asked for.
  package let instructionSetRefusal: String?

  package init(
    terminal: Terminal,
    instructionSetRefusal: String? = Classifier.unavailableInstructionSet?.description,
    loadClassifier: @escaping Loader = {
      try Classifier(modelDirectory: $0, threadCount: $1, precision: $2)
    }
  ) {
    self.terminal = terminal
    self.instructionSetRefusal = instructionSetRefusal
    self.loadClassifier = loadClassifier
  }
}
