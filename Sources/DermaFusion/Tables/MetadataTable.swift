import Files
import SystemModule

/// What a table says about the patient of each image.
package struct MetadataTable: Equatable, Sendable {
  /// What a row says of the patient; `nil` where the cell is missing.
  package struct Entry: Equatable, Sendable {
    package let ageInYears: Double?
    package let sex: Sex?
    package let site: BodySite?

    package init(ageInYears: Double?, sex: Sex?, site: BodySite?) {
      self.ageInYears = ageInYears
      self.sex = sex
      self.site = site
    }

    fileprivate var json: JSONValue {
      let (sex, site) = (sex ?? .unknown, site ?? .unknown)
      return .object([
        "age": ageInYears.map(JSONValue.number) ?? .null, "sex": .string(sex.rawValue),
        "site": .string(site.rawValue),
      ])
    }
  }

  /// A hundred bytes a row.
  package static let byteLimit = 64 * 1024 * 1024

  private let path: String
  /// By ``Swift/String/imageKey``; a failure is that of a row with a cell that cannot be understood.
  private let rows: [[UInt8]: Result<Entry, DermaFusionError>]
  private let missing: PatientColumns.Missing

  /// - Parameter path: for the messages.
  /// - Throws: for a table that cannot be read as one. A cell of one row that cannot be understood is told when that row's
  ///   image is asked for.
  package init(_ bytes: [UInt8], path: String) throws(DermaFusionError) {
    let table = try CSVTable(bytes, path: path)
    let columns = try PatientColumns(table)
    var rows: [[UInt8]: Result<Entry, DermaFusionError>] = [:]
    for (row, name) in zip(table.rows, try table.uniqueNames(columns.image)) {
      rows[name.imageKey] = Result { () throws(DermaFusionError) in try columns.entry(of: row) }
    }
    self.path = path
    self.rows = rows
    missing = columns.missing
  }

  /// The row of the image with this name, in the same Unicode scalars; `nil` when the table has none, or none that can be
  /// understood.
  package subscript(identifier: String) -> Entry? { try? row(identifier)?.get() }

  /// The row of an image; `nil` when the table has none, or the image comes without a name.
  ///
  /// - Throws: for the cell that cannot be understood.
  package func entry(ofImage path: String) throws(DermaFusionError) -> Entry? {
    try row(ofImage: path)?.get()
  }

  private func row(ofImage path: String) -> Result<Entry, DermaFusionError>? {
    path.imageIdentifier.flatMap { row($0) }
  }

  private func row(_ identifier: String) -> Result<Entry, DermaFusionError>? {
    // A table that this program wrote may mark the name as text.
    rows[identifier.imageKey] ?? rows[CSVCell.neutralized(identifier).imageKey]
  }

  /// What a person should know of the images and the rows that do not go one to one.
  ///
  /// - Parameter images: their paths.
  package func notes(onImages images: [String]) -> [String] {
    var notes = missing.note.map { [$0] } ?? []
    let unlisted = images.filter { row(ofImage: $0) == nil }
    if let first = unlisted.first {
      // The row is there under the whole file name.
      let isNamedWhole = first.fileName.map { row($0) != nil } ?? false
      let hint = isNamedWhole ? Self.endingHint : ""
      let share =
        images.count == 1 ? "" : "\(unlisted.count) of \(images.count) images, the first of them "
      notes.append("\(path) has no row for \(share)\(first)\(hint).")
    }
    // Two of each row are enough to tell.
    var imagesOfRow: [[UInt8]: [String]] = [:]
    var sharedRows: [[UInt8]] = []
    for image in images where row(ofImage: image) != nil {
      guard let row = image.imageIdentifier?.imageKey else { continue }
      let others = imagesOfRow[row, default: []]
      if others.count == 2 || others.first == image { continue }
      imagesOfRow[row] = others + [image]
      if others.count == 1 { sharedRows.append(row) }
    }
    if let row = sharedRows.first, let images = imagesOfRow[row] {
      notes.append(
        """
        of \(path), \(sharedRows.count == 1 ? "a row was" : "\(sharedRows.count) rows were") used for more than one \
        image: '\(String(decoding: row, as: UTF8.self))' for \(images[0]) and \
        \(images[1])\(sharedRows.count == 1 ? "" : ", ...").
        """)
    }
    return notes
  }

  /// Shown where an image is looked for by its whole file name.
  package static let endingHint = "; an image_id is the file name without its ending"

  /// Answers a page or another program: for each image what its row says, `{"error":...}` where the row cannot be understood,
  /// or null where the table has no row for it; the fields that no column of the table has; and the notes.
  package func json(ofImages images: [String]) -> JSONValue {
    let entries = images.map { image in
      switch row(ofImage: image) {
      case nil: JSONValue.null
      case .failure(let error): error.json
      case .success(let entry): entry.json
      }
    }
    return .object([
      "images": .array(entries), "missing": .strings(missing.fields),
      "notes": .strings(notes(onImages: images)),
    ])
  }
}

/// Where a table says which image a row is of, and what is known of the patient: by the names that HAM10000, the ISIC archive,
/// the ISIC challenges, this program and people give their columns, in any letter case. Only the image's column must be there;
/// what has no column is missing.
package struct PatientColumns: Sendable {
  package static let imageNames = ["image_id", "isic_id", "image"]
  private static let ageNames = ["age", "age_approx", "age_years", "age (years)"]
  private static let sexNames = ["sex", "gender"]
  private static let siteNames = [
    "localization", "anatom_site_general", "site", "localisation", "location", "anatom_site",
    "anatom_site_general_challenge",
  ]

  /// What the table says nothing of.
  package struct Missing: Equatable, Sendable {
    /// Of `age`, `sex` and `site`, those that have no column.
    package let fields: [String]
    /// Tells a person of them and what the table has instead; `nil` where there are none.
    package let note: String?
  }

  private let table: CSVTable
  package let image: CSVTable.Column
  /// All that the table has, in the order in which they are asked.
  private let ages: [CSVTable.Column]
  private let sexes: [CSVTable.Column]
  private let sites: [CSVTable.Column]
  package let missing: Missing

  package init(_ table: CSVTable) throws(DermaFusionError) {
    self.table = table
    guard let image = try table.column(among: Self.imageNames) else {
      throw table.missing(Self.imageNames[0])
    }
    self.image = image
    ages = try table.columns(among: Self.ageNames)
    sexes = try table.columns(among: Self.sexNames)
    sites = try table.columns(among: Self.siteNames)
    let fields = [("age", ages), ("sex", sexes), ("site", sites)].filter { $0.1.isEmpty }.map { $0.0 }
    let list = fields.joined(separator: ", ")
    missing = Missing(
      fields: fields,
      note: fields.isEmpty
        ? nil
        : "\(table.path) has no column for \(list); its columns are \(table.header.quotedList).")
  }

  package func entry(of row: CSVTable.Row) throws(DermaFusionError) -> MetadataTable.Entry {
    MetadataTable.Entry(
      ageInYears: try value(ages, of: row, expectation: PatientMetadata.ageExpectation) {
        PatientMetadata.age(in: $0.withDecimalPoint)
      },
      sex: try value(sexes, of: row, among: Sex.allCases.map { $0.rawValue }) { Sex(word: $0) },
      site: try value(sites, of: row, among: BodySite.allCases.map { $0.rawValue }) { BodySite(region: $0) })
  }

  private func value<Value>(
    _ columns: [CSVTable.Column], of row: CSVTable.Row, among words: [String], convert: (String) -> Value?
  ) throws(DermaFusionError) -> Value? {
    try value(
      columns, of: row, expectation: "Please provide one of \(words.quotedAlternatives).", convert: convert)
  }

  /// The first column's; where its cell is empty, the first of the others that can be understood: a column such as
  /// `location` may mean something else.
  private func value<Value>(
    _ columns: [CSVTable.Column], of row: CSVTable.Row, expectation: String, convert: (String) -> Value?
  ) throws(DermaFusionError) -> Value? {
    guard let first = columns.first else { return nil }
    if let value = try table.value(first, of: row, expectation: expectation, convert: convert) {
      return value
    }
    for column in columns.dropFirst() {
      if let value = row.known(column).flatMap(convert) { return value }
    }
    return nil
  }
}

extension PatientMetadata {
  /// With what a row says in the place of the fields that are not known.
  package func filled(fromRow entry: MetadataTable.Entry?) throws(DermaFusionError) -> PatientMetadata {
    try PatientMetadata(
      ageInYears: ageInYears ?? entry?.ageInYears, sex: sex == .unknown ? entry?.sex ?? .unknown : sex,
      site: site == .unknown ? entry?.site ?? .unknown : site)
  }
}

extension String {
  /// A path's last part. `-` is standard input, which has none.
  package var fileName: String? {
    if self == "-" { return nil }
    // By bytes: as a character, a slash or a dot that an accent follows is another one.
    return utf8.split(separator: UInt8(ascii: "/")).last.flatMap { String($0) }
  }

  /// The file name without its ending, by which tables know an image.
  package var imageIdentifier: String? {
    fileName.map { name in
      guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), dot != name.startIndex else { return name }
      return String(name[..<dot])
    }
  }

  /// What makes two names of images the same: their Unicode scalars. Strings are equal too where they only look the
  /// same (`é` as one scalar and as two), and files of such names are different files.
  package var imageKey: [UInt8] { Array(utf8) }

  /// With a point for the comma of `55,5`, which spreadsheets of many languages write.
  package var withDecimalPoint: String {
    let parts = split(separator: ",", omittingEmptySubsequences: false)
    return parts.count == 2 ? parts.joined(separator: ".") : self
  }
}
