import CommandLineSupport

/// What the results of `classify` look like.
enum OutputFormat: String, Sendable {
  case text, json, csv

  /// `--format`, text unless it is given.
  static let option = Option<OutputFormat>.choice(
    "format", of: [.text, .json, .csv], initial: .text, abstract: "Form of the output.")
}

/// What the report of any other command looks like.
enum ReportFormat: String, Sendable {
  case text, json

  /// `--format`, text unless it is given.
  static let option = Option<ReportFormat>.choice(
    "format", of: [.text, .json], initial: .text, abstract: "Form of the output.")
}
