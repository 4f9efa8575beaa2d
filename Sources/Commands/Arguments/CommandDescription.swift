/// A line of help: what is typed or returned, and what it means.
package typealias HelpEntry = (label: String, description: String)

/// What the parser and the help need to know of a subcommand.
package protocol CommandDescription: Sendable {
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
  /// Lines of shell for the help, with files of the user's own.
  static var examples: [String] { get }
  /// What each exit status means here, for the help.
  static var exitStatuses: [HelpEntry] { get }
}

extension CommandDescription {
  package static var discussion: String { "" }
}

/// The exit status of the process.
package enum ExitStatus: Int32, Sendable {
  case success = 0
  case failure = 1
  case usage = 64
}
