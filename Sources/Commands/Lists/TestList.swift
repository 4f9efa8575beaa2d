import DermaFusion
import Evaluation
import Files
import SystemModule

/// Images with what they show, as a table lists them.
struct TestList: Sendable {
  struct Entry: Sendable {
    /// The image's place among those that are there; of a file of several frames those of all of them.
    let places: [Int]
    /// The row's place in the table.
    let row: Int
    /// The image's name in the table.
    let image: String
    /// The image's own name where the table does not tell it.
    let lesion: String
    let label: LesionLabel
    /// The images that belong together with this one.
    fileprivate(set) var unit: ChanceUnit
    let weights: EvaluatedImage.Weights
    /// The way the label was confirmed, under the grouping's name, and the columns that were asked for; a missing one is missing
    /// here.
    let cells: [String: String]
    let metadata: MetadataTable.Entry

    var answerKey: [UInt8] { TestList.answerKey(lesion, label) }
  }

  /// A column that it may have: how the label was confirmed, in HAM10000 `histo`, `follow_up`, `consensus` or `confocal`.
  static let confirmationColumn = "dx_type"

  /// Columns of an ISIC challenge's ground truth: how much an image counts in all figures, and in those of the validation.
  static let weightColumn = "score_weight"
  static let validationColumn = "validation_weight"
  /// The image that isic-challenge-scoring gives the weight 0 whatever the table says.
  static let weightlessImage = "ISIC_0035068"

  /// The path of the table, for messages.
  let path: String
  /// The rows of images that are there, in the order of the table.
  private(set) var entries: [Entry] = []
  /// The diagnoses of the rows that are left out, none of them a class, in the order of the table, with the number of rows.
  private(set) var leftOut: [(diagnosis: String, rowCount: Int)] = []
  /// The rows of classes whose images are not there: how many, and the first of them.
  private(set) var missing: (count: Int, first: [(image: String, line: Int)]) = (0, [])
  /// The errors of rows with a cell that cannot be understood, or of which nobody can tell whose they are, in the order of the
  /// table: those of all images that are there, and the first of the others.
  private(set) var failedRows: [(row: Int, error: DermaFusionError)] = []
  private(set) var failureCount = 0
  private let mixedLesions: MixedLesions
  /// True if a lesion belongs to several patients, who are then one unit.
  let hasSharedLesions: Bool
  /// Notes on the table's text.
  let textNotes: [Sentence]
  /// ``textNotes``, the columns that are missing, and the words for sites that are not known. A challenge's ground truth
  /// has no columns about patients, so none is reported as missing.
  let notes: [Sentence]
  /// Whose rows they are.
  let matches: RowAssignment
  /// Rows of the table that have an image.
  private(set) var rowCount = 0

  /// The number of rows that are named where thousands may share a fault.
  static let namedCount = 5

  /// - Parameters:
  ///   - groups: columns whose cells to keep, in any letter case.
  ///   - reading: the rules by which the cells about patients are read.
  /// - Throws: ``DermaFusionError`` naming the file, line, column and value; if no row is that of an image; and if no image of a row
  ///   shows one of the classes.
  init(
    _ bytes: [UInt8], path: String, labels: Labels, images: [ImageSource], groups: [String] = [],
    reading: PatientReading = PatientReading()
  ) throws(DermaFusionError) {
    let table = try CSVTable(ofImages: bytes, path: path)
    var reader = try LabelColumns(table, labels: labels)
    var columns = try EntryColumns(table, groups: groups, reading: reading)
    let names = columns.patients.names
    let frameRows = FrameRows(names, images)
    matches = RowAssignment(
      images: images.map { frameRows.listed($0) }, rows: names, folder: FileBytes.currentFolder)
    try columns.patients.take(matches)
    let frames = Self.frames(images, matches)
    var rows: [ChanceUnit.Row] = []
    var (diagnoses, others) = (LesionDiagnoses(), OtherDiagnoses())
    for (place, row) in table.rows.enumerated() {
      let (image, refusal) = matches.outcome(ofRow: place)
      let isThere = image != nil || refusal != nil
      if !isThere, names.isNothing(place) { continue }
      rowCount += 1
      if !isThere, failureCount >= Self.namedCount, reader.isBad(row) {
        failureCount += 1
        continue
      }
      do throws(DermaFusionError) {
        if let refusal { throw table.failure("line \(row.line): \(refusal)") }
        let lesion = try isThere ? columns.lesion(of: row) : nil
        let label: LesionLabel
        switch try reader.diagnosis(of: row) {
        case .label(let found): label = found
        case .other(let diagnosis):
          if let lesion { diagnoses.add(diagnosis, of: lesion, line: row.line) }
          others.add(diagnosis)
          continue
        }
        guard let image else {
          Self.add(names[place], line: row.line, to: &missing)
          continue
        }
        let entry = try columns.entry(
          of: row, place: place, images: frames[place] ?? [image], lesion: lesion, label: label)
        entries.append(entry)
        rows.append(ChanceUnit.Row(image: entry.image, lesion: lesion, patient: columns.patient(of: row)))
        if let lesion { diagnoses.add(label.id, of: lesion, line: row.line) }
      } catch {
        failureCount += 1
        failedRows.append((place, error))
      }
    }
    leftOut = others.list
    guard !entries.isEmpty || missing.count > 0 else {
      throw failedRows.first?.error ?? Self.nothingToRead(table, labels, diagnosis: leftOut.first?.diagnosis)
    }
    let units = ChanceUnits(rows)
    for (place, unit) in units.ofEach.enumerated() { entries[place].unit = unit }
    mixedLesions = MixedLesions(zip(rows, entries).map { ($0, $1.metadata.sex) }, of: table)
    (self.path, hasSharedLesions) = (path, !units.sharedLesions.isEmpty)
    textNotes =
      table.notes
      + [
        columns.patients.namelessNote, diagnoses.note(path: path).map { Sentence($0) },
        Self.note(onShared: units.sharedLesions, path: path).map { Sentence($0) },
      ].compactMap { $0 }
    notes =
      textNotes
      + [
        reader.isChallengeTable ? nil : columns.patients.missing.note,
        PatientColumns.note(onUnknownSites: entries.compactMap(\.metadata.unknownSite), in: path),
      ].compactMap { $0 }
  }
}

extension TestList {
  private static func add(
    _ image: String, line: Int, to missing: inout (count: Int, first: [(image: String, line: Int)])
  ) {
    missing.count += 1
    if missing.count <= namedCount { missing.first.append((image, line)) }
  }

  /// Makes a failure of each lesion whose rows cannot be of one person or have several weights, for a command that answers by lesion.
  mutating func refuseMixedLesions() {
    var refused: [[UInt8]: (row: Int, error: DermaFusionError)] = [:]
    var first: [[UInt8]: Entry] = [:]
    for entry in entries where refused[entry.lesion.imageKey] == nil {
      let other = first[entry.answerKey]
      first[entry.answerKey] = other ?? entry
      if let error = mixedLesions.error(of: entry.lesion)
        ?? other.flatMap({ Self.error(onWeightsOf: $0, entry, path: path) })
      {
        refused[entry.lesion.imageKey] = (entry.row, error)
      }
    }
    entries.removeAll { refused[$0.lesion.imageKey] != nil }
    failureCount += refused.count
    failedRows = (failedRows + refused.values).sorted { $0.row < $1.row }
  }

  /// The same for images of a lesion that have one answer.
  static func answerKey(_ lesion: String, _ label: LesionLabel) -> [UInt8] {
    lesion.imageKey + [0] + label.id.imageKey
  }

  /// - Parameters: rows of one answer.
  /// - Returns: nil if their weights are the same.
  private static func error(onWeightsOf one: Entry, _ other: Entry, path: String) -> DermaFusionError? {
    if one.weights == other.weights { return nil }
    let differsInScore = one.weights.score != other.weights.score
    let column = differsInScore ? weightColumn : validationColumn
    let words = [one, other].map { entry in
      let weight = differsInScore ? entry.weights.score : entry.weights.validation
      return "\(weight?.description ?? "none") for '\(entry.image)'"
    }
    return DermaFusionError(
      .invalidTable,
      message:
        "\(path): the rows of the lesion '\(one.lesion)' differ in the \(column): \(words.joined(separator: ", ")). One answer has one weight.",
      remedy: "Please correct the table.")
  }

  /// The places of the frames of each row that is the row of a file of several.
  private static func frames(_ images: [ImageSource], _ matches: RowAssignment) -> [Int: [Int]] {
    var frames: [Int: [Int]] = [:]
    for (place, outcome) in matches.outcomes.enumerated() where images[place].frame != nil {
      // A folder may be below another that was given too.
      guard case .row(let row) = outcome, images[frames[row]?.first ?? place].rank == images[place].rank
      else {
        continue
      }
      frames[row, default: []].append(place)
    }
    return frames
  }

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
  var patients: PatientColumns
  private let lesion: CSVTable.Column?
  private let patient: CSVTable.Column?
  private let weights: (score: CSVTable.Column?, validation: CSVTable.Column?)
  /// Columns whose cells are kept, by the names of their groupings.
  private let kept: [(name: String, column: CSVTable.Column)]

  init(_ table: CSVTable, groups: [String], reading: PatientReading) throws(DermaFusionError) {
    self.table = table
    lesion = try table.column(among: ["lesion_id"])
    patient = try table.column(among: PatientColumns.patientNames)
    weights = (
      try table.column(among: [TestList.weightColumn]), try table.column(among: [TestList.validationColumn])
    )
    let confirmation = try table.column(among: [TestList.confirmationColumn])
    kept =
      try groups.map { name throws(DermaFusionError) in
        guard let column = try table.column(among: [name.lowercased()]) else { throw table.missing(name) }
        return (name: name, column: column)
      } + (confirmation.map { [(name: EvaluationReport.Grouping.confirmation.name, column: $0)] } ?? [])
    patients = try PatientColumns(table, reading)
  }

  /// Nil where the cell is empty.
  func lesion(of row: CSVTable.Row) throws(DermaFusionError) -> String? {
    guard let lesion, row.known(lesion) != nil else { return nil }
    return try table.name(lesion, of: row)
  }

  func patient(of row: CSVTable.Row) -> String? { patient.flatMap(row.known) }

  /// - Parameters:
  ///   - place: the row's in the table.
  ///   - images: the places of its images among those that are there.
  /// - Returns: the row as a unit of its own.
  func entry(
    of row: CSVTable.Row, place: Int, images: [Int], lesion: String?, label: LesionLabel
  ) throws(DermaFusionError) -> TestList.Entry {
    let name = patients.names[place]
    let isWeightless = name == TestList.weightlessImage
    let score = try weight(weights.score, of: row) ?? 1
    let validation = try weight(weights.validation, of: row)
    return TestList.Entry(
      places: images, row: place, image: name, lesion: lesion ?? name, label: label,
      unit: ChanceUnit(.images, name),
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

/// The words of rows that show none of the classes.
private struct OtherDiagnoses {
  private(set) var list: [(diagnosis: String, rowCount: Int)] = []
  private var places: [[UInt8]: Int] = [:]

  mutating func add(_ diagnosis: String) {
    if let place = places[diagnosis.imageKey] {
      list[place].rowCount += 1
    } else {
      places[diagnosis.imageKey] = list.count
      list.append((diagnosis, 1))
    }
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
