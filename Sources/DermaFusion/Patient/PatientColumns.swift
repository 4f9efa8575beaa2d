import Files
import SystemModule

/// The rules by which the cells of a table of patients are read.
package struct PatientReading: Sendable {
  /// Those of `age`, `sex` and `site` that are known otherwise: their cells are not read.
  package var given: Set<String> = []
  /// True if rows without an image say what is known of all images of their patient.
  package var joinsPatients = false

  package init(given: Set<String> = [], joinsPatients: Bool = false) {
    self.given = given
    self.joinsPatients = joinsPatients
  }
}

/// The columns of a table that say which image a row is of, and what is known of the patient: by the names that HAM10000, the
/// ISIC archive, the ISIC challenges, this program and people give their columns, in any letter case. Only the image's column
/// must be there; what has no column is missing.
package struct PatientColumns: Sendable {
  package static let imageNames = [
    "image_id", "isic_id", "image", "image_name", "imagename", "image name", "file_name", "filename", "file",
    "filepath", "path", "img_id",
  ]
  /// Those of the patient's name in a table with a row for each image.
  package static let patientNames = ["patient_id", "patient"]
  private static let ageNames = ["age", "age_approx", "age_years", "age (years)"]
  private static let sexNames = ["sex", "gender"]
  private static let siteNames =
    ["localization"] + CSVTable.hierarchy("anatom_site") + [
      "anatom_site_general", "site", "localisation", "location", "anatom_site",
      "anatom_site_general_challenge",
    ]

  package struct Missing: Equatable, Sendable {
    /// Those of `age`, `sex` and `site` that have no column.
    package let fields: [String]
    /// Tells a person of them and what the table has instead; `nil` where there are none.
    package let note: Sentence?
  }

  private let table: CSVTable
  private let image: CSVTable.Column
  /// Those of the images, all of them different.
  package let names: TableNames
  /// All that the table has, in the order in which they are asked.
  private let ages: [CSVTable.Column]
  private let sexes: [CSVTable.Column]
  private let sites: [CSVTable.Column]
  package let missing: Missing
  /// The number of rows without an image.
  private var namelessCount: Int
  /// The patients' details from rows without an image; nil if they do not count.
  private var patients: PatientRows?

  /// The names of the columns that are not read.
  package var unused: [String] {
    let read = ([image] + ages + sexes + sites + (patients.map { [$0.column] } ?? [])).map {
      $0.name.imageKey
    }
    return table.header.filter { !read.contains($0.imageKey) }
  }

  /// The columns that are missing, and the rows that are left out because they have no image.
  package var notes: [Sentence] { (missing.note.map { [$0] } ?? []) + (namelessNote.map { [$0] } ?? []) }

  /// Nil if each row has an image, or counts as that of its patient.
  package var namelessNote: Sentence? {
    guard namelessCount > 0, patients == nil else { return nil }
    let hint: Sentence =
      (try? patientColumn())?.map { _ in
        " --join-patient takes the age, sex and site of such rows for the same patient's images."
      } ?? ""
    return namelessCount == 1
      ? "in \(table.path), 1 row has no image and is left out.\(hint)"
      : "in \(table.path), \(namelessCount) rows have no image and are left out.\(hint)"
  }

  /// - Throws: for a table without a column of images, with a column of codes, with a column twice, or with an image twice.
  package init(_ table: CSVTable, _ reading: PatientReading = PatientReading()) throws(DermaFusionError) {
    self.table = table
    let given = reading.given
    guard let image = try table.column(among: Self.imageNames) else {
      throw table.missing(Self.imageNames[0])
    }
    func columns(_ field: String, _ names: [String]) throws(DermaFusionError) -> [CSVTable.Column] {
      given.contains(field) ? [] : try table.columns(among: names)
    }
    ages = try columns("age", Self.ageNames)
    sexes = try columns("sex", Self.sexNames)
    sites = try columns("site", Self.siteNames)
    for column in sexes {
      guard let codes = table.codes(column)?.prefix(5) else { continue }
      throw table.failure(
        """
        column '\(column.name)' has codes and no words: \(codes.map { "'\($0)'" }.joined(separator: ", ")). Nobody can tell \
        what a code means. Please write male, female or unknown in the place of each, or give one sex for all images.
        """)
    }
    let fields = [("age", ages), ("sex", sexes), ("site", sites)]
      .filter { $0.1.isEmpty && !given.contains($0.0) }.map { $0.0 }
    let list = fields.joined(separator: ", ")
    missing = Missing(
      fields: fields,
      note: fields.isEmpty
        ? nil
        : "\(table.path) has no column for \(list); its columns are \(table.header.quotedList).")
    do throws(DermaFusionError) {
      namelessCount = try table.names(image).requireUnique()
      self.image = image
    } catch {
      // classify's own table tells files of one name in several folders apart by their paths.
      guard table.isOfClassify, let paths = try table.column(among: ["image"]) else { throw error }
      namelessCount = try table.names(paths).requireUnique()
      self.image = paths
    }
    names = table.names(self.image)
    guard reading.joinsPatients else { return }
    guard let column = try patientColumn() else {
      throw table.failure("the table has no column patient_id or record_id, by which rows could be joined")
    }
    patients = PatientRows(column)
  }

  /// Takes notice of which rows are images': reads the rows without an image of these images' patients, if they count.
  package mutating func take(_ matches: RowAssignment) throws(DermaFusionError) {
    try matches.requireRow()
    let found = Set(matches.outcomes.compactMap { if case .row(let place) = $0 { place } else { nil } })
    // An image may have the name `NA`.
    namelessCount -= found.count { names.isNothing($0) }
    guard var patients else { return }
    for place in found { patients.ask(of: table.rows[place]) }
    for place in names.indices where names.isNothing(place) && !found.contains(place) {
      patients.add(table.rows[place]) { row throws(DermaFusionError) in try cells(of: row) }
    }
    self.patients = patients
  }

  private func patientColumn() throws(DermaFusionError) -> CSVTable.Column? {
    try table.column(among: ["patient_id", "record_id"])
  }

  /// The entry of a row's image, one of those of ``take(_:)``.
  package func entry(of row: CSVTable.Row) throws(DermaFusionError) -> MetadataTable.Entry {
    let entry = try cells(of: row)
    return try patients.map { patients throws(DermaFusionError) in
      try patients.filled(entry, of: row, in: table)
    } ?? entry
  }

  private func cells(of row: CSVTable.Row) throws(DermaFusionError) -> MetadataTable.Entry {
    let (site, unknownSite) = site(of: row)
    return MetadataTable.Entry(
      ageInYears: try value(ages, of: row, expectation: PatientMetadata.ageExpectation) {
        PatientAge.read($0.withDecimalPoint)
      },
      sex: try value(
        sexes, of: row,
        expectation: "Please provide one of \(Sex.allCases.map { $0.rawValue }.alternatives).",
        isKnown: { $0 != .unknown }
      ) { Sex(word: $0) }, site: site, unknownSite: unknownSite)
  }

  /// The first site that a column names; where none names one, whether one names a region of several sites, or a word that
  /// is not known.
  private func site(of row: CSVTable.Row) -> (site: BodySite?, unknown: String?) {
    let words = sites.compactMap { row.known($0) }
    let found = words.compactMap { BodySite(region: $0) }
    let site = found.first { $0 != .unknown } ?? found.first
    guard site == nil, sites.count > 1 else { return (site, site == nil ? words.first : nil) }
    // Beside another column this one may mean something else.
    return (nil, sites.filter { $0.name.lowercased() != "location" }.compactMap { row.known($0) }.first)
  }

  package static func note(onUnknownSites words: [String], in path: String) -> Sentence? {
    guard !words.isEmpty else { return nil }
    var counts: [[UInt8]: Int] = [:]
    for word in words { counts[word.imageKey, default: 0] += 1 }
    let sorted = counts.sorted {
      $0.value == $1.value ? $0.key.lexicographicallyPrecedes($1.key) : $0.value > $1.value
    }
    let shown = sorted.prefix(5).map { "'\(String(decoding: $0.key, as: UTF8.self))' (\($0.value))" }
    let list = shown.joined(separator: ", ") + (sorted.count > shown.count ? ", ..." : ".")
    return words.count == 1
      ? "in \(path), a site is no known word and counts as missing: \(list)"
      : "in \(path), \(words.count) sites are no known word and count as missing: \(list)"
  }

  /// The value on which all columns agree that have one for which `isKnown` is true.
  private func value<Value: Equatable>(
    _ columns: [CSVTable.Column], of row: CSVTable.Row, expectation: Sentence,
    isKnown: (Value) -> Bool = { _ in true }, convert: (String) -> Value?
  ) throws(DermaFusionError) -> Value? {
    var found: (value: Value, column: CSVTable.Column)?
    for column in columns {
      guard let value = try table.value(column, of: row, expectation: expectation, convert: convert) else {
        continue
      }
      guard let first = found, isKnown(first.value) else {
        found = (value, column)
        continue
      }
      if isKnown(value), value != first.value {
        throw table.failure(
          """
          line \(row.line): column '\(first.column.name)' has the value '\(row[first.column])' and column '\(column.name)' \
          the value '\(row[column])'. Please provide the same value in both, or one of them only.
          """)
      }
    }
    return found?.value
  }
}
