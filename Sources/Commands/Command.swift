import DermaFusion

/// One subcommand: its name, options and help, and its work. A new subcommand is a file with a conforming type, and its
/// name in ``Tool/dermafusion``.
package protocol Command: Sendable {
  /// The word that a user types.
  static var name: String { get }
  /// One sentence.
  static var abstract: String { get }
  /// More help, shown below the overview; may be empty.
  static var discussion: String { get }
  /// Positional arguments, in order; only the last may be repeated.
  static var positionals: [Positional] { get }
  /// In the order in which help lists them.
  static var options: [any AnyCommandOption] { get }
  /// Example command lines, with the user's own files.
  static var examples: [String] { get }
  /// The meaning of each exit status, for the help; that of wrong usage is the same for all.
  static var exitStatuses: [HelpEntry] { get }
  /// True if a network runs. If so, the instruction set that the environment names must be available.
  static var runsNetwork: Bool { get }

  /// Does the work. Data goes to the terminal's output; notes and failures go to its errors.
  static func run(_ arguments: ParsedArguments, session: Session) throws -> ExitStatus
}

extension Command {
  package static var discussion: String { "" }
  package static var positionals: [Positional] { [] }
  package static var options: [any AnyCommandOption] { [] }
  package static var runsNetwork: Bool { true }

  /// ``exitStatuses`` with that of wrong usage.
  static var allExitStatuses: [HelpEntry] { exitStatuses + [("64", "Wrong usage.")] }
}

/// A line of help: what is typed or returned, and what it means.
package typealias HelpEntry = (label: String, description: String)

/// The exit status of the process.
package enum ExitStatus: Int32, Sendable {
  case success = 0
  case failure = 1
  /// `calibrate` found no better model.
  case notBetter = 2
  case usage = 64
}

/// The surroundings of a command: the terminal, and a loader of models.
package struct Session: Sendable {
  package var terminal: Terminal
  /// Reason why the instruction set that the environment names is not available; `nil` if it is, or if none is named.
  package var instructionSetRefusal = Classifier.unavailableInstructionSet?.description
  /// Loads the model of a folder, also one without classes. A thread count of `nil` means one thread for each processor, a precision of `nil` the
  /// model's own.
  package var loadClassifier:
    @Sendable (_ folder: String, _ threadCount: Int?, _ precision: Precision?) throws -> Classifier = {
      try Classifier(modelDirectory: $0, threadCount: $1, precision: $2, needsClasses: false)
    }
}
