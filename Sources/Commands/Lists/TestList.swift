import DermaFusion
import Evaluation

/// Images with what they show, as a table lists them.
struct TestList: Sendable {
  struct Entry: Sendable {
    /// In the table, from 1.
    let line: Int
    /// The file's name without its ending, in the same Unicode scalars.
    let image: String
    /// The image's own name in a table that does not tell the lesions.
    let lesion: String
    let label: LesionLabel
    /// `nil` where the table does not say.
    let patient: String?
    /// How the label was confirmed, under the grouping's name, and the columns that were asked for; a missing one is missing
    /// here.
    let cells: [String: String]
    let metadata: MetadataTable.Entry
  }

  /// A column that it may have: how the label was confirmed, in HAM10000 `histo`, `follow_up`, `consensus` or `confocal`.
  static let confirmationColumn = "dx_type"

  /// Of the table, for messages.
  let path: String
  /// In the order of the table, at least one.
  private(set) var entries: [Entry]
  /// What the rows that are left out show, none of the classes, in the order of the table, and of how many rows.
  private(set) var leftOut: [(diagnosis: String, rowCount: Int)] = []

  /// Of the rows with a cell that cannot be understood, what it is, in the order of the table.
  var failures: [CSVError] { failedRows.map(\.error) }
  /// ``failures`` with the images that they cost.
  private(set) var failedRows: [(image: String, error: CSVError)] = []
  /// See ``PatientColumns/missingColumns``; nil for a challenge's ground truth, which never tells of patients.
  let missingColumns: String?

  /// Rows of the table.
  var rowCount: Int { leftOut.reduce(entries.count + failedRows.count) { $0 + $1.rowCount } }

  /// - Parameters:
  ///   - labels: the classes that an image may show.
  ///   - groups: columns whose cells to keep, in any letter case.
  /// - Throws: ``CSVError`` naming the file, line, column and value.
  init(_ bytes: [UInt8], path: String, labels: Labels, groups: [String] = []) throws(CSVError) {
    let table = try CSVTable(bytes, path: path)
    let reader = try LabelColumns(table, labels: labels, path: path)
    let lesionColumn = try table.column(among: ["lesion_id"], path: path)
    let patientColumn = try table.column(among: ["patient_id", "patient"], path: path)
    let confirmation = try table.column(among: [Self.confirmationColumn], path: path)
    let groupColumns =
      try groups.map { name throws(CSVError) in
        guard let column = try table.column(among: [name.lowercased()], path: path) else {
          throw .missingColumn(path: path, name: name, header: table.header)
        }
        return (name: name, column: column)
      } + (confirmation.map { [(name: EvaluationReport.Grouping.confirmation.name, column: $0)] } ?? [])
    let columns = try PatientColumns(
      table, path: path,
      others: [lesionColumn, patientColumn].compactMap { $0 } + groupColumns.map(\.column)
        + reader.names)
    var entries: [Entry] = []
    var lines: [[UInt8]: Int] = [:]
    for row in table.rows {
      let image = try columns.identifier(of: row, seen: &lines)
      do throws(CSVError) {
        let label: LesionLabel
        switch try reader.diagnosis(of: row, columns.cells) {
        case .label(let found): label = found
        case .other(let diagnosis):
          if let index = leftOut.firstIndex(where: { $0.diagnosis == diagnosis }) {
            leftOut[index].rowCount += 1
          } else {
            leftOut.append((diagnosis, 1))
          }
          continue
        }
        let lesion = try lesionColumn.map { column throws(CSVError) in
          try columns.cells.identifier(column, of: row)
        }
        entries.append(
          Entry(
            line: row.line, image: image,
            lesion: lesion ?? image,
            label: label,
            patient: patientColumn.flatMap { columns.cells.knownText($0, of: row) },
            cells: Dictionary(
              uniqueKeysWithValues: groupColumns.compactMap { name, column in
                columns.cells.knownText(column, of: row).map { (name, $0) }
              }),
            metadata: try columns.metadata(of: row)))
      } catch {
        failedRows.append((image, error))
      }
    }
    if entries.isEmpty {
      if let failure = failedRows.first { throw failure.error }
      guard let first = leftOut.first else { throw .noRows(path: path) }
      throw .noKnownDiagnosis(path: path, first: first.diagnosis, known: labels.ids)
    }
    self.path = path
    self.entries = entries
    missingColumns = reader.isChallengeTable ? nil : columns.missingColumns
  }

  /// With the rows of some images only; there may be none.
  ///
  /// - Parameter holds: whether the image of this name is one of them.
  func only(_ holds: (_ image: String) -> Bool) -> TestList {
    var list = self
    list.entries.removeAll { !holds($0.image) }
    list.failedRows.removeAll { !holds($0.image) }
    return list
  }
}

/// Where a table has the class: in words, or as a 1 in the column of the class.
private struct LabelColumns {
  enum Diagnosis {
    case label(LesionLabel)
    /// None of the model's classes.
    case other(String)
  }

  private enum Form {
    /// In the ISIC archive's words, or in the model's.
    case words(String, areArchives: Bool)
    case oneHot([(name: String, label: LesionLabel?)])
  }

  private let form: Form
  private let labels: Labels

  init(_ table: CSVTable, labels: Labels, path: String) throws(CSVError) {
    self.labels = labels
    if let column = try table.column(among: ["dx", "diagnosis", "label", "class"], path: path) {
      form = .words(column, areArchives: column.lowercased() == "diagnosis")
      return
    }
    let columns = table.header.map { name in (name: name, label: Self.label(name, among: labels)) }
    let known = columns.filter { $0.label != nil || Self.challengeColumns.contains($0.name.uppercased()) }
    guard known.count(where: { $0.label != nil }) >= 2 else {
      throw .missingColumn(path: path, name: "dx", header: table.header)
    }
    form = .oneHot(known)
  }

  /// Whether the table has a column for each class, as the ISIC challenges publish their ground truth.
  var isChallengeTable: Bool { if case .oneHot = form { true } else { false } }

  var names: [String] {
    switch form {
    case .words(let column, _): [column]
    case .oneHot(let columns): columns.map(\.name)
    }
  }

  /// - Throws: ``CSVError`` for a `dx` that is no class of the model, where a typing error is likelier than another
  ///   disease, for a missing class, and for a row that does not mark one column.
  func diagnosis(of row: CSVTable.Row, _ cells: CSVColumns) throws(CSVError) -> Diagnosis {
    switch form {
    case .words(let column, let areArchives):
      let text = cells.text(column, of: row)
      if let label = labels[text] ?? Self.label(text, among: labels) { return .label(label) }
      if areArchives, !CSVColumns.isMissing(text) { return .other(text) }
      throw cells.invalid(column, of: row, value: text, expectation: expectation)
    case .oneHot(let columns):
      let marked = columns.filter { Double(cells.text($0.name, of: row).withDecimalPoint) == 1 }
      if marked.count == 1 { return marked[0].label.map { .label($0) } ?? .other(marked[0].name) }
      throw cells.invalid(
        marked.first?.name ?? columns[0].name, of: row,
        value: marked.isEmpty
          ? cells.text(columns[0].name, of: row) : marked.map(\.name).joined(separator: " and "),
        expectation: "Please mark one of \(columns.map(\.name).quotedList) with 1.")
    }
  }

  /// Of the ISIC challenges and MILK10k: classes that a model may lack.
  private static let challengeColumns = [
    "MEL", "NV", "BCC", "AK", "AKIEC", "BKL", "DF", "VASC", "SCC", "SCCKA", "INF", "MAL_OTH", "BEN_OTH",
    "UNK",
  ]

  private var expectation: String {
    "Please provide one of \(labels.count <= 12 ? labels.ids.quotedAlternatives : labels.ids.quotedList)."
  }

  /// The ISIC archive's words for classes, and its challenge's AK, with the ids that models give them.
  private static let words: [String: [String]] = [
    "melanoma": ["mel"], "nevus": ["nv"], "basal cell carcinoma": ["bcc"],
    "actinic keratosis": ["akiec", "ak"], "ak": ["akiec"], "pigmented benign keratosis": ["bkl"],
    "seborrheic keratosis": ["bkl"], "solar lentigo": ["bkl"], "lichenoid keratosis": ["bkl"],
    "dermatofibroma": ["df"], "vascular lesion": ["vasc"], "squamous cell carcinoma": ["scc"],
  ]

  /// The class of this id or name in any letter case, or of the ISIC archive's word for it; `nil` unless it is one.
  private static func label(_ text: String, among labels: Labels) -> LesionLabel? {
    let lowercase = text.lowercased()
    let wanted = [lowercase] + (words[lowercase] ?? [])
    let found = labels.filter {
      wanted.contains($0.id.lowercased()) || $0.name.lowercased() == lowercase
    }
    return found.count == 1 ? found[0] : nil
  }
}
