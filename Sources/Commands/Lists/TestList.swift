import DermaFusion
import Evaluation
import Files
import SystemModule

/// Images with what they show, as a table lists them.
struct TestList: Sendable {
  struct Entry: Sendable {
    /// In the table, from 1.
    let line: Int
    /// The file's name without its ending, in the same Unicode scalars.
    let image: String
    /// The image's own name where the table does not tell it.
    let lesion: String
    let label: LesionLabel
    /// The images that belong together with this one.
    fileprivate(set) var unit: ChanceUnit
    let weights: EvaluatedImage.Weights
    /// How the label was confirmed, under the grouping's name, and the columns that were asked for; a missing one is missing
    /// here.
    let cells: [String: String]
    let metadata: MetadataTable.Entry
  }

  /// A column that it may have: how the label was confirmed, in HAM10000 `histo`, `follow_up`, `consensus` or `confocal`.
  static let confirmationColumn = "dx_type"

  /// Columns of an ISIC challenge's ground truth: how much an image counts in all figures, and in those of the validation.
  static let weightColumn = "score_weight"
  static let validationColumn = "validation_weight"
  /// The image that isic-challenge-scoring gives the weight 0 whatever the table says.
  static let weightlessImage = "ISIC_0035068"

  /// Of the table, for messages.
  let path: String
  /// In the order of the table, at least one.
  private(set) var entries: [Entry]
  /// What the rows that are left out show, none of the classes, in the order of the table, and of how many rows.
  private(set) var leftOut: [(diagnosis: String, rowCount: Int)] = []

  /// Of the rows with a cell that cannot be understood, what it is, in the order of the table.
  var failures: [DermaFusionError] { failedRows.map(\.error) }
  /// ``failures`` with the images that they cost.
  private(set) var failedRows: [(image: String, error: DermaFusionError)] = []
  /// Notes on the table's text.
  let textNotes: [String]
  /// ``textNotes``, the columns that are missing, and the words for sites that are not known. A challenge's ground truth
  /// has no columns about patients, so none is reported as missing.
  let notes: [String]

  /// Rows of the table.
  var rowCount: Int { leftOut.reduce(entries.count + failedRows.count) { $0 + $1.rowCount } }

  /// - Parameters:
  ///   - labels: the classes that an image may show.
  ///   - groups: columns whose cells to keep, in any letter case.
  ///   - given: of `age`, `sex` and `site`, those that are known otherwise: their cells are not read.
  /// - Throws: ``DermaFusionError`` naming the file, line, column and value.
  init(
    _ bytes: [UInt8], path: String, labels: Labels, groups: [String] = [], given: Set<String> = []
  ) throws(DermaFusionError) {
    let table = try CSVTable(bytes, path: path)
    let reader = try LabelColumns(table, labels: labels)
    let columns = try EntryColumns(table, groups: groups, given: given)
    var entries: [Entry] = []
    var rows: [ChanceUnit.Row] = []
    var diagnoses = LesionDiagnoses()
    var placesOfOthers: [[UInt8]: Int] = [:]
    for (row, image) in zip(table.rows, columns.patients.names) {
      do throws(DermaFusionError) {
        let lesion = try columns.lesion(of: row)
        let label: LesionLabel
        switch try reader.diagnosis(of: row) {
        case .label(let found): label = found
        case .other(let diagnosis):
          if let lesion { diagnoses.add(diagnosis, of: lesion, line: row.line) }
          if let place = placesOfOthers[diagnosis.imageKey] {
            leftOut[place].rowCount += 1
          } else {
            placesOfOthers[diagnosis.imageKey] = leftOut.count
            leftOut.append((diagnosis, 1))
          }
          continue
        }
        entries.append(try columns.entry(of: row, image: image, lesion: lesion, label: label))
        rows.append(ChanceUnit.Row(image: image, lesion: lesion, patient: columns.patient(of: row)))
        if let lesion { diagnoses.add(label.id, of: lesion, line: row.line) }
      } catch {
        failedRows.append((image, error))
      }
    }
    guard !entries.isEmpty else {
      throw failedRows.first?.error ?? Self.nothingToRead(table, labels, diagnosis: leftOut.first?.diagnosis)
    }
    let units = ChanceUnits(rows)
    for (place, unit) in units.ofEach.enumerated() { entries[place].unit = unit }
    self.path = path
    self.entries = entries
    textNotes =
      table.notes
      + [diagnoses.note(path: path), Self.note(onShared: units.sharedLesions, path: path)].compactMap { $0 }
    notes =
      textNotes
      + [
        reader.isChallengeTable ? nil : columns.patients.missing.note,
        PatientColumns.note(onUnknownSites: entries.compactMap(\.metadata.unknownSite), in: path),
      ].compactMap { $0 }
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

extension TestList {
  /// - Parameter diagnosis: of the first row; nil without a row.
  private static func nothingToRead(
    _ table: CSVTable, _ labels: Labels, diagnosis: String?
  ) -> DermaFusionError {
    guard let diagnosis else { return table.failure("the table has no row below its header") }
    return table.failure(
      "no row shows one of the model's classes \(labels.ids.quotedList); the first shows '\(diagnosis)'")
  }

  /// Nil if each lesion belongs to one patient.
  private static func note(onShared lesions: [(lesion: String, patients: [String])], path: String) -> String?
  {
    guard let first = lesions.first else { return nil }
    let names = first.patients.map { "'\($0)'" }.listed(atMost: 2)
    let others = lesions.count == 1 ? "" : ", and \(lesions.count - 1) more lesions belong to several"
    return """
      \(path): the lesion '\(first.lesion)' belongs to \(first.patients.count) patients, \(names)\(others). Patients that share a lesion are drawn and judged together. If lesions are numbered anew for each patient, please give each \
      a name of its own.
      """
  }
}

/// The columns of a row beside its label.
private struct EntryColumns {
  let table: CSVTable
  let patients: PatientColumns
  private let lesion: CSVTable.Column?
  private let patient: CSVTable.Column?
  private let weights: (score: CSVTable.Column?, validation: CSVTable.Column?)
  /// Columns whose cells are kept, by the names of their groupings.
  private let kept: [(name: String, column: CSVTable.Column)]

  init(_ table: CSVTable, groups: [String], given: Set<String>) throws(DermaFusionError) {
    self.table = table
    lesion = try table.column(among: ["lesion_id"])
    patient = try table.column(among: ["patient_id", "patient"])
    weights = (
      try table.column(among: [TestList.weightColumn]), try table.column(among: [TestList.validationColumn])
    )
    let confirmation = try table.column(among: [TestList.confirmationColumn])
    kept =
      try groups.map { name throws(DermaFusionError) in
        guard let column = try table.column(among: [name.lowercased()]) else { throw table.missing(name) }
        return (name: name, column: column)
      } + (confirmation.map { [(name: EvaluationReport.Grouping.confirmation.name, column: $0)] } ?? [])
    patients = try PatientColumns(table, given: given)
  }

  /// Nil where the cell is empty.
  func lesion(of row: CSVTable.Row) throws(DermaFusionError) -> String? {
    guard let lesion, row.known(lesion) != nil else { return nil }
    return try table.name(lesion, of: row)
  }

  func patient(of row: CSVTable.Row) -> String? { patient.flatMap(row.known) }

  /// - Returns: the row as a unit of its own.
  func entry(
    of row: CSVTable.Row, image: String, lesion: String?, label: LesionLabel
  ) throws(DermaFusionError) -> TestList.Entry {
    let isWeightless = image == TestList.weightlessImage
    let score = try weight(weights.score, of: row) ?? 1
    let validation = try weight(weights.validation, of: row)
    return TestList.Entry(
      line: row.line, image: image, lesion: lesion ?? image, label: label, unit: ChanceUnit(.images, image),
      weights: EvaluatedImage.Weights(
        score: isWeightless ? 0 : score, validation: isWeightless ? validation.map { _ in 0 } : validation),
      cells: Dictionary(
        uniqueKeysWithValues: kept.compactMap { name, column in row.known(column).map { (name, $0) } }),
      metadata: try patients.entry(of: row))
  }

  /// Nil where the table has no such column.
  private func weight(_ column: CSVTable.Column?, of row: CSVTable.Row) throws(DermaFusionError) -> Double? {
    guard let column else { return nil }
    guard let weight = Double(row[column].withDecimalPoint), weight >= 0, weight <= 1e6 else {
      throw table.invalid(
        column, of: row, value: row[column], expectation: "Please provide a number from 0 to 1000000.")
    }
    return weight
  }
}

/// The labels of each lesion of a table: rows that contradict each other are named, because one of them is wrong.
private struct LesionDiagnoses {
  private var first: [[UInt8]: (label: String, line: Int)] = [:]
  private var contradicting: Set<[UInt8]> = []
  private var example = ""

  mutating func add(_ label: String, of lesion: String, line: Int) {
    let key = lesion.imageKey
    guard let known = first[key] else {
      first[key] = (label, line)
      return
    }
    guard known.label != label, contradicting.insert(key).inserted, contradicting.count == 1 else { return }
    example = "'\(lesion)' is '\(known.label)' on line \(known.line) and '\(label)' on line \(line)"
  }

  /// Nil if no lesion has two labels.
  func note(path: String) -> String? {
    contradicting.isEmpty
      ? nil
      : "\(path): \(contradicting.count == 1 ? "a lesion has" : "\(contradicting.count) lesions have") two labels: "
        + "the lesion \(example)\(contradicting.count == 1 ? "" : ", ..."). Each row counts by its own label."
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
    case words([CSVTable.Column], areArchives: Bool)
    case oneHot([(column: CSVTable.Column, label: LesionLabel?)])
  }

  private let table: CSVTable
  private let form: Form
  private let labels: Labels

  init(_ table: CSVTable, labels: Labels) throws(DermaFusionError) {
    self.table = table
    self.labels = labels
    let named = try table.column(among: ["dx", "diagnosis", "label", "class"])
    if let column = named, column.name.lowercased() != "diagnosis" {
      if table.isOfClassify, column.name.lowercased() == "class" {
        throw table.failure(
          "the table was written by classify: its column 'class' is the model's answer, and not what the image shows. "
            + "A column 'dx' would tell it")
      }
      form = .words([column], areArchives: false)
      return
    }
    // The archive's: today from the most exact to the most general.
    let archives = try [named].compactMap { $0 } + table.columns(among: CSVTable.hierarchy("diagnosis"))
    if !archives.isEmpty {
      form = .words(archives, areArchives: true)
      return
    }
    let columns = table.header.map { (name: $0, label: labels.label(inWords: $0)) }
    guard columns.count(where: { $0.label != nil }) >= 2 else { throw table.missing("dx") }
    form = .oneHot(
      try columns.filter { $0.label != nil || Labels.challengeColumns.contains($0.name.uppercased()) }
        .map { name, label throws(DermaFusionError) in (try table.column(name), label) })
  }

  /// Whether the table has a column for each class, as the ISIC challenges publish their ground truth.
  var isChallengeTable: Bool { if case .oneHot = form { true } else { false } }

  /// - Throws: for a `dx` that is no class of the model, where a typing error is likelier than another disease, for a missing
  ///   class, and for a row that does not mark one column.
  func diagnosis(of row: CSVTable.Row) throws(DermaFusionError) -> Diagnosis {
    switch form {
    case .words(let columns, let areArchives):
      let words = columns.compactMap { row.known($0) }
      for word in words {
        if let label = labels.label(inWords: word) { return .label(label) }
      }
      if areArchives, let word = words.first { return .other(word) }
      let (column, text) = (columns[0], row[columns[0]])
      let ids = labels.count <= 12 ? labels.ids.quotedAlternatives : labels.ids.quotedList
      throw table.invalid(column, of: row, value: text, expectation: "Please provide one of \(ids).")
    case .oneHot(let columns):
      let marked = columns.filter { Double(row[$0.column].withDecimalPoint) == 1 }
      if marked.count == 1 { return marked[0].label.map { .label($0) } ?? .other(marked[0].column.name) }
      let first = (marked.first ?? columns[0]).column
      throw table.invalid(
        first, of: row,
        value: marked.isEmpty ? row[first] : marked.map(\.column.name).joined(separator: " and "),
        expectation: "Please mark one of \(columns.map(\.column.name).quotedList) with 1.")
    }
  }
}
