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
    usesColour: Bool, table: BatchTable?, submission: ISICSubmission?
  ) -> ResultWriter {
    let isForTerminal = width != nil
    switch format {
    case .json: return ResultWriter(output: output, text: { $0.json.text + "\n" })
    case .csv:
      return ResultWriter(
        output: output, header: columns.header,
        text: {
          columns.row(
            $0.classification, imageName: $0.request.imageName, timing: $0.timing,
            isForTerminal: isForTerminal)
        })
    case .isic:
      guard let submission else { preconditionFailure("isic without a submission") }
      return ResultWriter(
        output: output, header: submission.header,
        text: {
          submission.row($0.classification, imageName: $0.request.imageName, isForTerminal: isForTerminal)
        })
    case .text:
      if let table {
        return ResultWriter(
          output: output, header: table.header,
          text: { table.row($0.classification, imageName: $0.request.imageName) }, ending: table.footer)
      }
      let text = ClassificationText(width: width, usesColour: usesColour)
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

/// Results as a table, one row an image, for spreadsheets and data frames. `image_id` is the file's name without its ending,
/// by which tables know the image. The other cells are values of the result in JSON: null is an empty cell, and a list has
/// blanks between its words.
struct ClassificationCSV {
  /// A column, and where its value stands in the JSON.
  private var columns: [(name: String, path: [String])]

  /// The column of a class that is called like another column is `probability_` and its name.
  init(labels: Labels, showsTiming: Bool = false, views: ImageViews = .upright) {
    let before = [
      ("image_id", []), ("image", ["image"]), ("class", ["prediction", "class"]),
      ("name", ["prediction", "name"]), ("probability", ["prediction", "probability"]),
    ]
    let after =
      Self.members("risk", "concern", "urgent", "confidence")
      + Self.members("age", "sex", "site", "missing", of: ["metadata"]) + Self.members("warnings") + [
        ("model", ["model", "name"]), ("modelVersion", ["model", "version"]),
        ("modelSHA256", ["model", "sha256"]),
      ] + (showsTiming ? [(Self.milliseconds, [])] : []) + (views == .upright ? [] : Self.members("views"))
      + Self.members(
        "summary", "disclaimer", "abstain", "abstainReasons", "conformalSet", "instructionSet", "precision")
    let names = Self.columns(of: labels, beside: (before + after).map { $0.0 })
    columns = before + zip(names, labels.ids).map { ($0, ["probabilities", $1]) } + after
  }

  private static func members(_ keys: String..., of path: [String] = []) -> [(String, [String])] {
    keys.map { ($0, path + [$0]) }
  }

  private static let milliseconds = "milliseconds"

  /// The line of names.
  var header: String { Self.line(columns.map(\.name)) }

  /// The line of one image.
  ///
  /// - Parameter timing: for the column of the time, where there is one.
  func row(
    _ result: Classification, imageName: String, timing: ClassificationTiming? = nil,
    isForTerminal: Bool = false
  ) -> String {
    let result = JSONValue.object(result.members(imageName: imageName))
    let cells = columns.map { name, path in
      if path.isEmpty {
        return name == Self.milliseconds
          ? timing?.totalMilliseconds.fixed(digits: 2) ?? "" : Self.identifier(imageName)
      }
      return Self.cell(
        path.reduce(result) { value, key in
          if case .object(let object) = value { object[key] ?? .null } else { .null }
        })
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
