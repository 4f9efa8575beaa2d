import DermaFusion
import Files
import SystemModule

/// A command's output, in every form.
protocol Report {
  var json: JSONValue { get }
  /// The lines of the text, above the disclaimer.
  ///
  /// - Parameter width: characters a line; nil: as many as it takes.
  func lines(width: Int?) -> [String]
  /// The line of column names, and the lines below it; for a command whose `--format` has `csv`.
  ///
  /// - Parameter isForTerminal: see ``CSVCell/text(_:isForTerminal:)``.
  func csv(isForTerminal: Bool) -> (header: String, rows: String)
  var language: Language { get }
}

extension Report {
  func csv(isForTerminal: Bool) -> (header: String, rows: String) { ("", "") }
  var language: Language { .english }

  func text(width: Int?) -> String {
    (lines(width: width) + [""] + language.disclaimerParagraphs.map { $0.wrapped(width: width, indent: 0) })
      .joined(separator: "\n") + "\n"
  }
}

/// A report whose JSON has the schema's version and the disclaimer around its members.
protocol PlainReport: Report {
  var members: [(key: String, value: JSONValue)] { get }
}

extension PlainReport {
  var json: JSONValue {
    .object(
      [("schemaVersion", .integer(Classification.schemaVersion))] + members
        + [("disclaimer", .string(Wording.disclaimer))])
  }
}

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
  static let figuresOption = choice(of: [.text, .json, .csv], " csv has a line for each metric.")

  /// `--format` of a command that lists images.
  static let rowsOption = choice(of: [.text, .json, .csv], " csv has a row for each image.")

  private static func choice(of formats: [OutputFormat], _ remark: String = "") -> CommandOption<OutputFormat>
  {
    .choice("format", of: formats, initial: .text, abstract: "Form of the output.\(remark)")
  }
}

extension Terminal {
  /// Writes a report, with which a command ends: a reader that has gone changes nothing of the command's status.
  func write(_ report: some Report, as format: OutputFormat) throws(DermaFusionError) {
    let text: String
    switch format {
    case .json: text = report.json.text + "\n"
    case .csv:
      let (header, rows) = report.csv(isForTerminal: width != nil)
      text = header + rows
    case .text, .isic: text = report.text(width: width)
    }
    try outputBesideFiles.write(Array(text.utf8))
  }
}

/// Writes the results of images one by one in one form, each as soon as it is there.
struct ResultWriter<Result> {
  let output: any ByteOutput
  /// Text before the first result.
  var header = ""
  /// Text between two results.
  var separator = ""
  /// A result; called on several threads.
  let text: @Sendable (Result) -> String
  /// Text after the last result.
  var ending: (BatchSummary) -> String = { _ in "" }
  /// True if nothing was written before.
  var isFirst = true

  mutating func write(_ text: String) throws(DermaFusionError) {
    // At once, so that an interruption leaves at most one line unfinished.
    try output.write(Array(((isFirst ? header : separator) + text).utf8))
    isFirst = false
  }

  /// Ends what has begun.
  func finish(_ summary: BatchSummary) throws(DermaFusionError) {
    let text = isFirst ? "" : ending(summary)
    if !text.isEmpty { try output.write(Array(text.utf8)) }
  }
}

extension ModelIdentity {
  /// `dermafusion-lite2 1.6.0, SHA-256 1bca158cd14092e8`
  var words: String { "\(name) \(version), SHA-256 \(sha256.prefix(16))".printable }
}

extension ImageViews {
  /// The sentences for a reader.
  func sentence(in language: Language = .english) -> String {
    language["text.viewsMean", values: ["count": "\(count)"]]
  }
}
