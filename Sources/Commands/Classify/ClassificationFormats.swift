import DermaFusion
import Files
import SystemModule

extension ResultWriter where Result == ImageAnswer {
  /// The results of `classify` in a format.
  ///
  /// - Parameters:
  ///   - width: characters a line where a person looks at it; nil for a file or a pipe.
  ///   - table: for the text of many images; nil: each has a text of its own.
  ///   - submission: not nil for `isic`.
  static func classifications(
    as format: OutputFormat, to output: any ByteOutput, columns: ClassificationCSV, width: Int?,
    usesColour: Bool, table: BatchTable?, submission: ISICSubmission?, language: Language
  ) -> ResultWriter {
    let isForTerminal = width != nil
    switch format {
    case .json: return ResultWriter(output: output, text: { $0.json.text + "\n" })
    case .csv:
      return ResultWriter(
        output: output, header: columns.header,
        text: { columns.row($0.reported, isForTerminal: isForTerminal) })
    case .isic:
      guard let submission else { preconditionFailure("isic without a submission") }
      return ResultWriter(
        output: output, header: submission.header(),
        text: {
          submission.row(
            $0.classification, name: ClassificationCSV.identifier($0.request.imageName),
            isForTerminal: isForTerminal)
        })
    case .text:
      if let table {
        return ResultWriter(
          output: output, header: table.header,
          text: { table.row($0.classification, imageName: $0.request.imageName) }, ending: table.footer)
      }
      let text = ClassificationText(width: width, usesColour: usesColour, language: language)
      return ResultWriter(
        output: output, separator: "\n",
        text: {
          text.text(
            $0.classification, imageName: $0.request.imageName,
            timing: $0.request.includesTiming ? $0.timing : nil, shares: $0.shares)
        })
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

  /// The column of a class that is called like another column is `probability_` and its name.
  init(labels: Labels, options: ResultOptions = []) {
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
  var header: String { Self.line(columns.map(\.name)) }

  /// The line of one image.
  func row(_ result: ReportedResult, isForTerminal: Bool = false) -> String {
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
    return Self.line(cells, isForTerminal: isForTerminal)
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

  /// How the row of an image begins: the cells before its result.
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
