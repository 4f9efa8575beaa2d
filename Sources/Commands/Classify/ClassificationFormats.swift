import DermaFusion
import Files
import SystemModule

/// An answer of `classify`: for an image or for a lesion.
protocol WrittenAnswer: SendableMetatype {
  /// The names of ``cells``.
  static var columns: [String] { get }
  var json: JSONValue { get }
  var reported: ReportedResult { get }
  /// Its name in text.
  var name: String { get }
  /// Its name in a submission.
  var identifier: String { get }
  /// The cells before those of the result in CSV.
  var cells: [String] { get }
  /// Remarks in the table of text beside those on the result.
  var remarks: [String] { get }
}

extension ImageAnswer: WrittenAnswer {
  static var columns: [String] { [] }
  var name: String { request.imageName }
  var identifier: String { ClassificationCSV.identifier(request.imageName) }
  var cells: [String] { [] }
  var remarks: [String] { [] }
}

/// The form of the answers of `classify`.
struct AnswerForm {
  let format: OutputFormat
  let labels: Labels
  let options: ResultOptions
  /// Characters a line where a person looks at it; nil for a file or a pipe.
  let width: Int?
  let usesColour: Bool
  /// True for text with a row for each answer.
  let isTable: Bool
  /// Not nil for `isic`.
  let submission: ISICSubmission?
  let language: Language

  /// - Parameter names: of all answers in text.
  func writer<Answer: WrittenAnswer>(to output: any ByteOutput, names: [String]) -> ResultWriter<Answer> {
    let isForTerminal = width != nil
    switch format {
    case .json: return ResultWriter(output: output, text: { $0.json.text + "\n" })
    case .csv:
      let table = ClassificationCSV(labels: labels, options: options, first: Answer.columns)
      return ResultWriter(
        output: output, header: table.header,
        text: { table.row($0.reported, first: $0.cells, isForTerminal: isForTerminal) })
    case .isic:
      guard let submission else { preconditionFailure("isic without a submission") }
      return ResultWriter(
        output: output, header: submission.header(first: Answer.columns.first ?? "image"),
        text: {
          submission.row($0.reported.classification, name: $0.identifier, isForTerminal: isForTerminal)
        })
    case .text where isTable:
      let table = BatchTable(
        names: names, labels: labels, width: width, usesColour: usesColour, language: language)
      return ResultWriter(
        output: output, header: table.header,
        text: { table.row($0.reported.classification, imageName: $0.name, others: $0.remarks) },
        ending: table.footer)
    case .text:
      let text = ClassificationText(width: width, usesColour: usesColour, language: language)
      return ResultWriter(
        output: output, separator: "\n", text: { text.text($0.reported, imageName: $0.name) })
    }
  }
}

/// Results as a table, one row an image, for spreadsheets and data frames. A cell is a value of the result in JSON: null is an empty
/// cell, and a list has blanks between its words.
struct ClassificationCSV {
  private enum Content {
    /// A value's place in the JSON.
    case value([String])
    case text(@Sendable (ReportedResult) -> String)
  }

  private var columns: [(name: String, content: Content)] = []
  private let first: [String]

  /// The column of a class that is called like another column is `probability_` and its name.
  ///
  /// - Parameter first: the names of columns before those of the result.
  init(labels: Labels, options: ResultOptions = [], first: [String] = []) {
    self.first = first
    let fields = ResultField.all.filter { $0.isPresent(with: options) }
    let classes = Self.columns(of: labels, beside: fields.flatMap { $0.columns.map(\.name) })
    for section in ResultField.Column.Section.allCases {
      if section == .classes {
        columns += zip(classes, labels.ids).map { ($0, .value(["probabilities", $1])) }
      }
      for field in fields {
        columns += field.columns.filter { $0.section == section }.map { column in
          (
            column.name,
            column.text.map { .text($0) } ?? .value([field.name] + (column.member.map { [$0] } ?? []))
          )
        }
      }
    }
  }

  /// The line of names.
  var header: String { Self.line(first + columns.map(\.name)) }

  /// The line of one result.
  ///
  /// - Parameter first: the cells before those of the result.
  func row(_ result: ReportedResult, first: [String] = [], isForTerminal: Bool = false) -> String {
    let json = JSONValue.object(result.members)
    let cells = columns.map { column in
      switch column.content {
      case .text(let text): text(result)
      case .value(let path):
        Self.cell(
          path.reduce(json) { value, key in
            if case .object(let object) = value { object[key] ?? .null } else { .null }
          })
      }
    }
    return Self.line(first + cells, isForTerminal: isForTerminal)
  }

  private static func cell(_ value: JSONValue) -> String {
    switch value {
    case .null: ""
    case .string(let text): text
    case .array(let values): values.map(cell).joined(separator: " ")
    default: value.text
    }
  }

  /// The names of the columns with the probabilities of the classes, none of which is the name of another column.
  static func columns(of labels: Labels, beside others: [String]) -> [String] {
    var taken = Set(others + labels.ids)
    return labels.ids.map { id in
      guard others.contains(id) else { return id }
      var name = id
      while taken.contains(name) { name = "probability_" + name }
      taken.insert(name)
      return name
    }
  }

  /// The start of an image's row: the cells before its result.
  static func start(imageName: String) -> String { line(names(imageName)).dropLast() + "," }

  /// The image's name as tables know it, and as it was given.
  static func names(_ imageName: String) -> [String] { [identifier(imageName), imageName] }

  /// The image's name as tables know it.
  static func identifier(_ imageName: String) -> String {
    imageName.imageIdentifier ?? imageName
  }

  /// A row of a table.
  ///
  /// - Parameter isForTerminal: see ``CSVCell/text(_:isForTerminal:)``.
  static func line(_ fields: [String], isForTerminal: Bool = false) -> String {
    fields.map { CSVCell.text($0, isForTerminal: isForTerminal) }.joined(separator: ",") + "\n"
  }
}
