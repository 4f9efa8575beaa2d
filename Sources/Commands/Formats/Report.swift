import DermaFusion
import Files
import SystemModule

/// What a command has to say, in every form that it can take.
protocol Report {
  var json: JSONValue { get }
  /// - Parameter width: characters a line; nil: as many as it takes.
  func text(width: Int?) -> String
  /// The line of column names, and the lines below it; for a command whose `--format` has `csv`.
  ///
  /// - Parameter isForTerminal: see ``CSVCell/text(_:isForTerminal:)``.
  func csv(isForTerminal: Bool) -> (header: String, rows: String)
  /// The same for a command whose `--format` has `isic`.
  func submission(isForTerminal: Bool) -> (header: String, rows: String)
}

extension Report {
  func csv(isForTerminal: Bool) -> (header: String, rows: String) { ("", "") }
  func submission(isForTerminal: Bool) -> (header: String, rows: String) { ("", "") }
}

/// A report that has nothing of its own around its members and lines: the schema's version and the disclaimer.
protocol PlainReport: Report {
  /// Of the JSON object, between the schema's version and the disclaimer.
  var members: [(key: String, value: JSONValue)] { get }
  /// Of the text, above the disclaimer.
  func lines(width: Int?) -> [String]
}

extension PlainReport {
  var json: JSONValue {
    .object(
      [("schemaVersion", .integer(Classification.schemaVersion))] + members
        + [("disclaimer", .string(Wording.disclaimer))])
  }

  func text(width: Int?) -> String {
    (lines(width: width) + ["", Wording.disclaimer.wrapped(width: width, indent: 0)])
      .joined(separator: "\n") + "\n"
  }
}

/// A form of output. A further one is a case here and in ``text(of:isFirst:width:)``.
enum OutputFormat: String, Sendable {
  case text, json, csv, isic

  /// `--format` of commands that say one thing; text unless it is given.
  static let option = choice(of: [.text, .json])
  /// `--format` of commands whose output is also a table.
  static let tableOption = choice(
    of: [.text, .json, .csv, .isic],
    " isic is a submission to an ISIC challenge: the probabilities of \(ISICSubmission.classes.joined(separator: ", "))."
  )

  /// `--format` of a command that says figures, in a line each as CSV.
  static let figuresOption = choice(of: [.text, .json, .csv], " csv has a line for each figure.")

  private static func choice(of formats: [OutputFormat], _ remark: String = "") -> CommandOption<OutputFormat> {
    .choice("format", of: formats, initial: .text, abstract: "Form of the output.\(remark)")
  }

  /// A report in this form.
  ///
  /// - Parameters:
  ///   - isFirst: whether no other stands before it in the same output.
  ///   - width: characters a line where a person looks at it; nil for a file or a pipe.
  func text(of report: some Report, isFirst: Bool = true, width: Int?) -> String {
    switch self {
    case .text: return (isFirst ? "" : "\n") + report.text(width: width)
    case .json: return report.json.text + "\n"
    case .csv, .isic:
      let isForTerminal = width != nil
      let table =
        self == .csv
        ? report.csv(isForTerminal: isForTerminal) : report.submission(isForTerminal: isForTerminal)
      return (isFirst ? table.header : "") + table.rows
    }
  }
}

extension Terminal {
  func write(_ report: some Report, as format: OutputFormat) throws(DermaFusionError) {
    try write(format.text(of: report, width: width))
  }
}
