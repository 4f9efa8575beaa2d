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

  private static func choice(of formats: [OutputFormat], _ remark: String = "") -> CommandOption<OutputFormat>
  {
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

/// A report on one image of a batch.
protocol ImageReport: Report {
  var classification: Classification { get }
  /// As it was given.
  var imageName: String { get }
  /// What a table's row says besides the result.
  var remarks: [String] { get }
}

extension ImageReport {
  var remarks: [String] { [] }
}

/// Writes reports one by one in one format, each as soon as it is there.
struct ResultPrinter {
  let format: OutputFormat
  let output: any ByteOutput
  /// Characters a line where a person looks at the output; nil for a file or a pipe.
  let width: Int?
  /// For the text of many images; nil: each has a text of its own.
  let table: BatchTable?
  /// Whether nothing was written before.
  var isFirst = true
  /// The classes that a table's rows name.
  private(set) var labels: [LesionLabel] = []

  mutating func print(_ report: some ImageReport) throws(DermaFusionError) {
    // Each report is written at once, so that an interruption leaves at most one line unfinished.
    if let table {
      let result = report.classification
      let row = table.row(result, imageName: report.imageName, others: report.remarks)
      try write((isFirst ? table.header : "") + row)
      for label in [result.prediction, result.answer?.concern].compactMap({ $0 })
      where !labels.contains(label) {
        labels.append(label)
      }
    } else {
      try write(format.text(of: report, isFirst: isFirst, width: width))
    }
    isFirst = false
  }

  /// What a table ends with, when it has begun.
  func finish(_ summary: BatchSummary) throws(DermaFusionError) {
    guard let table, !isFirst else { return }
    try write(table.footer(summary, labels: labels.sorted { $0.index < $1.index }))
  }

  private func write(_ text: String) throws(DermaFusionError) { try output.write(Array(text.utf8)) }
}

extension ModelIdentity {
  /// `dermafusion-lite2 1.6.0, SHA-256 1bca158cd14092e8`
  var words: String { "\(name) \(version), SHA-256 \(sha256.prefix(16))".printable }
}

extension ImageViews {
  /// What a reader is told.
  var sentence: String { "mean logits of \(count) views, turned and mirrored" }
}
