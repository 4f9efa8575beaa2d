import Files
import SystemModule

/// What a table says about the patient of each image.
package struct MetadataTable: Equatable, Sendable {
  /// What a row says of the patient; `nil` where the cell is missing.
  package struct Entry: Equatable, Sendable {
    package let ageInYears: Double?
    package let sex: Sex?
    package let site: BodySite?
    /// A word for a site that is not known, and counts as missing.
    package var unknownSite: String?

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
  /// The names of the rows.
  package let names: [String]
  /// Of each of ``names``; a failure is that of a row with a cell that cannot be understood.
  private let rows: [Result<Entry, DermaFusionError>]
  private let missing: PatientColumns.Missing
  /// Of the header, the columns that say nothing of a patient.
  private let unused: [String]
  /// What the reader of the text has to say.
  private let textNotes: [String]

  /// - Parameters:
  ///   - path: for the messages.
  ///   - given: of `age`, `sex` and `site`, those that are known otherwise: their cells are not read.
  /// - Throws: for a table that cannot be read as one. A bad cell is an error of its row's image only.
  package init(_ bytes: [UInt8], path: String, given: Set<String> = []) throws(DermaFusionError) {
    let table = try CSVTable(bytes, path: path)
    let columns = try PatientColumns(table, given: given)
    names = columns.names
    rows = table.rows.map { row in
      Result { () throws(DermaFusionError) in try columns.entry(of: row) }
    }
    self.path = path
    missing = columns.missing
    unused = columns.unused
    textNotes = table.notes
  }

  /// The rows of some images.
  ///
  /// - Parameter images: their paths, all that a person asks for at once: which row is an image's depends on the others.
  package func rows(ofImages images: [String]) -> Rows { Rows(table: self, images: images) }

  /// What a table says of some images.
  package struct Rows: Sendable {
    private let table: MetadataTable
    private let images: [String]
    private let matches: ImageMatches
    /// Of each path, by ``Swift/String/imageKey``.
    private let places: [[UInt8]: Int]

    fileprivate init(table: MetadataTable, images: [String]) {
      self.table = table
      self.images = images
      matches = ImageMatches(images: images, rows: table.names)
      var places: [[UInt8]: Int] = [:]
      for (place, image) in images.enumerated() { places[image.imageKey] = places[image.imageKey] ?? place }
      self.places = places
    }

    private func row(_ place: Int) -> Result<Entry, DermaFusionError>? {
      switch matches.outcomes[place] {
      case .row(let row): table.rows[row]
      case .none: nil
      case .refused(let reason):
        .failure(
          DermaFusionError(
            .invalidTable, message: "\(table.path): \(reason)",
            remedy: "Please give each image a row of its own, by its path where its name is not enough."))
      }
    }

    /// The row of an image; `nil` when the table has none, or the image comes without a name.
    ///
    /// - Parameter path: one of the images.
    /// - Throws: for the cell that cannot be understood, and where it cannot be told which row it is.
    package func entry(ofImage path: String) throws(DermaFusionError) -> Entry? {
      guard let place = places[path.imageKey] else { return nil }
      return try row(place)?.get()
    }

    /// What a person should know of the table, and of the images that have no row or one by another name.
    package var notes: [String] {
      let unlisted = matches.outcomes.indices.filter { matches.outcomes[$0] == .none }
      var notes = table.textNotes + (table.missing.note.map { [$0] } ?? [])
      notes += matches.notes(table: table.path)
      if let first = unlisted.first {
        let share =
          images.count == 1 ? "" : "\(unlisted.count) of \(images.count) images, the first of them "
        notes.append("\(table.path) has no row for \(share)\(images[first]).")
      }
      let sites = matches.outcomes.indices.compactMap { try? row($0)?.get().unknownSite }
      return notes + (PatientColumns.note(onUnknownSites: sites, in: table.path).map { [$0] } ?? [])
    }

    /// Answers a page or another program: for each image what its row says, `{"error":...}` where the row cannot be understood
    /// or told, or null where the table has no row for it; the fields that no column of the table has; the columns that say
    /// nothing of a patient; and the notes.
    package var json: JSONValue {
      let entries = images.indices.map { place in
        switch row(place) {
        case nil: JSONValue.null
        case .failure(let error): error.json
        case .success(let entry): entry.json
        }
      }
      return .object([
        "images": .array(entries), "missing": .strings(table.missing.fields),
        "unused": .strings(table.unused), "notes": .strings(notes),
      ])
    }
  }
}

extension MetadataTable {
  /// Answers a page or another program that has a table of patients for some images.
  ///
  /// - Parameters:
  ///   - table: the table's bytes.
  ///   - request: a JSON object with the table's `name`, for the messages, and the paths of the `images`.
  package static func answer(_ table: [UInt8], to request: [UInt8]) throws(DermaFusionError) -> JSONValue {
    guard case .object(let object) = try? JSONParser.parse(request), case .string(let name) = object["name"],
      case .array(let elements) = object["images"]
    else {
      throw DermaFusionError(
        .invalidRequest, message: "the request is not an object with a \"name\" and \"images\"",
        remedy: "Send the table's name and an array of the images' names.")
    }
    guard table.count <= byteLimit else {
      throw DermaFusionError(
        .invalidTable,
        message: "\(name): the table is larger than the limit of \(byteLimit / (1024 * 1024)) MB",
        remedy: "Please split the table.")
    }
    // An image without a name has no row.
    let images = elements.map { if case .string(let image) = $0 { image } else { "" } }
    return try MetadataTable(table, path: name).rows(ofImages: images).json
  }
}

/// Where a table says which image a row is of, and what is known of the patient: by the names that HAM10000, the ISIC archive,
/// the ISIC challenges, this program and people give their columns, in any letter case. Only the image's column must be there;
/// what has no column is missing.
package struct PatientColumns: Sendable {
  package static let imageNames = [
    "image_id", "isic_id", "image", "image_name", "file_name", "filename", "file", "path", "img_id",
  ]
  private static let ageNames = ["age", "age_approx", "age_years", "age (years)"]
  private static let sexNames = ["sex", "gender"]
  private static let siteNames =
    ["localization"] + CSVTable.hierarchy("anatom_site") + [
      "anatom_site_general", "site", "localisation", "location", "anatom_site",
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
  private let image: CSVTable.Column
  /// Of the images, one for each row, all of them different.
  package let names: [String]
  /// All that the table has, in the order in which they are asked.
  private let ages: [CSVTable.Column]
  private let sexes: [CSVTable.Column]
  private let sites: [CSVTable.Column]
  package let missing: Missing

  /// The names of the columns that are not read.
  fileprivate var unused: [String] {
    let read = ([image] + ages + sexes + sites).map { $0.name.imageKey }
    return table.header.filter { !read.contains($0.imageKey) }
  }

  /// - Parameter given: of `age`, `sex` and `site`, those whose cells are not read.
  package init(_ table: CSVTable, given: Set<String> = []) throws(DermaFusionError) {
    self.table = table
    guard let image = try table.column(among: Self.imageNames) else {
      throw table.missing(Self.imageNames[0])
    }
    func columns(_ field: String, _ names: [String]) throws(DermaFusionError) -> [CSVTable.Column] {
      given.contains(field) ? [] : try table.columns(among: names)
    }
    ages = try columns("age", Self.ageNames)
    sexes = try columns("sex", Self.sexNames)
    sites = try columns("site", Self.siteNames)
    let fields = [("age", ages), ("sex", sexes), ("site", sites)]
      .filter { $0.1.isEmpty && !given.contains($0.0) }.map { $0.0 }
    let list = fields.joined(separator: ", ")
    missing = Missing(
      fields: fields,
      note: fields.isEmpty
        ? nil
        : "\(table.path) has no column for \(list); its columns are \(table.header.quotedList).")
    do throws(DermaFusionError) {
      names = try table.uniqueNames(image)
      self.image = image
    } catch {
      // Of files of one name in several folders, classify's own table tells by their paths which is which.
      guard table.isOfClassify, let paths = try table.column(among: ["image"]) else { throw error }
      names = try table.uniqueNames(paths)
      self.image = paths
    }
  }

  package func entry(of row: CSVTable.Row) throws(DermaFusionError) -> MetadataTable.Entry {
    let (site, unknownSite) = site(of: row)
    return MetadataTable.Entry(
      ageInYears: try value(ages, of: row, expectation: PatientMetadata.ageExpectation) {
        PatientAge.read($0.withDecimalPoint)
      },
      sex: try value(
        sexes, of: row,
        expectation: "Please provide one of \(Sex.allCases.map { $0.rawValue }.quotedAlternatives)."
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

  /// Counts the words for sites that are not known.
  package static func note(onUnknownSites words: [String], in path: String) -> String? {
    guard !words.isEmpty else { return nil }
    var counts: [[UInt8]: Int] = [:]
    for word in words { counts[word.imageKey, default: 0] += 1 }
    let sorted = counts.sorted {
      $0.value == $1.value ? $0.key.lexicographicallyPrecedes($1.key) : $0.value > $1.value
    }
    let shown = sorted.prefix(5).map { "'\(String(decoding: $0.key, as: UTF8.self))' (\($0.value))" }
    return """
      in \(path), \(words.count == 1 ? "a site is" : "\(words.count) sites are") no known word and \
      \(words.count == 1 ? "counts" : "count") as missing: \(shown.joined(separator: ", "))\
      \(sorted.count > shown.count ? ", ..." : "").
      """
  }

  /// The first column's; where its cell is empty, the first of the others that can be understood: a column such as
  /// `age_years` may mean something else.
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
  /// What makes two names of images the same: their Unicode scalars. Strings are equal too where they only look the
  /// same (`é` as one scalar and as two), and files of such names are different files.
  package var imageKey: [UInt8] { Array(utf8) }

  /// With a point for the comma of `55,5`, which spreadsheets of many languages write.
  package var withDecimalPoint: String {
    let parts = split(separator: ",", omittingEmptySubsequences: false)
    return parts.count == 2 ? parts.joined(separator: ".") : self
  }
}

extension [String] {
  /// Without those that occurred before, to the byte.
  package var unique: [String] {
    var seen: Set<[UInt8]> = []
    return filter { seen.insert($0.imageKey).inserted }
  }
}
