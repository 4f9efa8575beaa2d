import DermaFusion
import Files
import SystemModule

extension ResultWriter where Result == ImageAnswer {
  /// The results of `classify` in a format.
  ///
  /// - Parameters:
  ///   - width: characters a line where a person looks at it; nil for a file or a pipe.
  ///   - table: for the text of many images; nil: each has a text of its own.
  static func classifications(
    as format: OutputFormat, to output: any ByteOutput, columns: ClassificationCSV, width: Int?,
    usesColour: Bool, table: BatchTable?
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
      return ResultWriter(
        output: output, header: ISICSubmission.header,
        text: {
          ISICSubmission.row(
            $0.classification, imageName: $0.request.imageName, isForTerminal: isForTerminal)
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

/// Results as the ISIC challenges take them: a row of probabilities for each image, called by its file's name without the
/// ending. An image from which the model abstains has its probabilities too: a submission has a row for every image.
enum ISICSubmission {
  /// The classes of the challenge of 2018, in its order.
  static let classes = ["MEL", "NV", "BCC", "AKIEC", "BKL", "DF", "VASC"]

  static let header = ClassificationCSV.line(["image"] + classes)

  /// - Precondition: the classes are these seven.
  static func row(_ result: Classification, imageName: String, isForTerminal: Bool) -> String {
    guard let labels = labels(result.probabilities.labels) else { preconditionFailure("other classes") }
    return ClassificationCSV.line(
      [ClassificationCSV.identifier(imageName)] + labels.map { result.probabilities[$0].description },
      isForTerminal: isForTerminal)
  }

  /// A model's labels in the order of ``classes``; nil where it has others.
  private static func labels(_ labels: Labels) -> [LesionLabel]? {
    let found = classes.compactMap { name in labels.first { $0.id.uppercased() == name } }
    return found.count == classes.count && labels.count == classes.count ? found : nil
  }

  /// Refuses what would make no submission: a model of other classes, and two images of one name.
  static func check(_ images: [ImageSource], labels: Labels) throws {
    if self.labels(labels) == nil {
      throw DermaFusionError.invalidValue(
        OutputFormat.isic.rawValue, display: OutputFormat.tableOption.display,
        expectation: """
          A submission has the classes \(classes.joined(separator: ", ")), and the model's classes are \
          \(labels.ids.quotedList).
          """)
    }
    var seen: [[UInt8]: String] = [:]
    for image in images {
      let identifier = ClassificationCSV.identifier(image.name)
      if let other = seen.updateValue(image.name, forKey: identifier.imageKey) {
        throw DermaFusionError.failure(
          name: image.name,
          reason: "a submission has one row for each image, and '\(identifier)' is the name of \(other) too")
      }
    }
  }
}
