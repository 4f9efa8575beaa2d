import DermaFusion
import Files
import SystemModule

/// Results as the ISIC challenges take them: a row of probabilities for each image, called by its file's name without the
/// ending. An image from which the model abstains has its probabilities too: a submission has a row for every image.
struct ISICSubmission: Sendable {
  /// The classes of the challenge of 2018, in its order.
  static let classes = ["MEL", "NV", "BCC", "AKIEC", "BKL", "DF", "VASC"]

  static let mapping = CommandOption<String>.path(
    "isic-classes", valueName: "file.csv",
    abstract: """
      With --format isic: table with the columns class and isic, which names the submission's column for each of the model's \
      classes. The probabilities of several classes in one column are added up. A row without a class makes a column of 0.0; a \
      class without a column is left out, and a note names it.
      """)

  /// The columns after the image's name, each with the classes whose probabilities it adds up.
  private let columns: [(name: String, labels: [LesionLabel])]
  /// The classes that the table leaves out.
  let note: String?

  /// The challenge of 2018.
  ///
  /// - Throws: for a model of other classes.
  init(labels: Labels) throws(DermaFusionError) {
    let found = Self.classes.map { name in (name: name, labels: labels.filter { $0.id.uppercased() == name })
    }
    guard found.allSatisfy({ $0.labels.count == 1 }), labels.count == found.count else {
      throw .invalidValue(
        OutputFormat.isic.rawValue, display: OutputFormat.tableOption.display,
        expectation: """
          A submission has the classes \(Self.classes.joined(separator: ", ")), and the model's classes are \
          \(labels.ids.quotedList). A table of --\(Self.mapping.name) names the column of each.
          """)
    }
    columns = found
    note = nil
  }

  /// The columns that a table of ``mapping`` names, in its order.
  ///
  /// - Throws: ``DermaFusionError`` naming the file, line, column and value.
  init(_ bytes: [UInt8], path: String, labels: Labels) throws(DermaFusionError) {
    let table = try CSVTable(bytes, path: path)
    guard let classColumn = try table.column(among: ["class"]) else { throw table.missing("class") }
    guard let nameColumn = try table.column(among: ["isic"]) else { throw table.missing("isic") }
    var columns: [(name: String, labels: [LesionLabel])] = []
    var lines: [Int: Int] = [:]
    for row in table.rows {
      let text = row.known(classColumn)
      guard let name = row.known(nameColumn) else { continue }
      if ["image", "lesion_id"].contains(name.lowercased()) {
        throw table.invalid(
          nameColumn, of: row, value: name,
          expectation: "Please name a class: this is the column of the image.")
      }
      var members: [LesionLabel] = []
      if let text {
        guard let label = labels.label(inWords: text) else {
          throw table.invalid(
            classColumn, of: row, value: text, expectation: "Please provide one of \(labels.ids.quotedList).")
        }
        if let line = lines.updateValue(row.line, forKey: label.index) {
          throw table.failure("line \(row.line): the class '\(label.id)' was already on line \(line)")
        }
        members = [label]
      }
      if let place = columns.firstIndex(where: { $0.name.utf8.elementsEqual(name.utf8) }) {
        columns[place].labels += members
      } else {
        columns.append((name, members))
      }
    }
    guard !lines.isEmpty else { throw table.failure("no row names a class of the model and its column") }
    self.columns = columns
    let leftOut = labels.filter { lines[$0.index] == nil }.map(\.id)
    let empty = columns.filter(\.labels.isEmpty).map(\.name)
    let remarks =
      (leftOut.isEmpty ? [] : ["the submission leaves out the probabilities of \(leftOut.quotedList)"])
      + (empty.isEmpty
        ? [] : ["no class of the model is \(empty.quotedList), which \(empty.count == 1 ? "is" : "are") 0.0"])
    note = remarks.isEmpty ? nil : "\(path): \(remarks.joined(separator: "; "))."
  }

  /// Nil for another format.
  init?(_ arguments: ParsedArguments, images: [ImageSource], classifier: Classifier) throws {
    let labels = classifier.labels
    let path = arguments[Self.mapping]
    guard arguments.value(of: ClassifyOptions.format) == .isic else {
      if path != nil {
        throw DermaFusionError.missingCompanion(Self.mapping.display, companions: "'--format isic'")
      }
      return nil
    }
    if let path {
      try self.init(FileBytes.read(path: path, limit: MetadataTable.byteLimit), path: path, labels: labels)
    } else {
      try self.init(labels: labels)
    }
    if classifier.isMultiLabel, let column = columns.first(where: { $0.labels.count > 1 }) {
      throw DermaFusionError.failure(
        name: path ?? column.name,
        reason:
          "the column '\(column.name)' adds up the probabilities of \(column.labels.map(\.id).quotedList), which may be right at once in this model (multi-label)"
      )
    }
    try Self.refuseTwins(images)
  }

  /// - Parameter name: of the first column.
  func header(first name: String) -> String { ClassificationCSV.line([name] + columns.map(\.name)) }

  /// - Parameter name: of the image or lesion.
  func row(_ result: Classification, name: String, isForTerminal: Bool) -> String {
    let values = columns.map { column in
      // At most 1, which the scorer demands and a rounded sum may exceed.
      min(1, column.labels.reduce(0) { $0 + result.probabilities[$1] }).description
    }
    return ClassificationCSV.line(
      [name] + values, isForTerminal: isForTerminal)
  }

  private static func refuseTwins(_ images: [ImageSource]) throws(DermaFusionError) {
    var seen: [[UInt8]: String] = [:]
    for image in images {
      let identifier = ClassificationCSV.identifier(image.name)
      if let other = seen.updateValue(image.name, forKey: identifier.imageKey) {
        throw .failure(
          name: image.name,
          reason: "a submission has one row for each image, and '\(identifier)' is the name of \(other) too")
      }
    }
  }
}
