import Files
import SystemModule

/// A table's data on the patient of each image.
package struct MetadataTable: Sendable {
  /// A row's data on the patient; `nil` where the cell is missing.
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

  /// The least rows take six bytes each.
  package static let byteLimit = 64 * 1024 * 1024

  private let table: CSVTable
  private let columns: PatientColumns

  /// - Throws: for a table that cannot be read as one. A bad cell is an error of its row's image only.
  package init(
    _ bytes: [UInt8], path: String, reading: PatientReading = PatientReading()
  ) throws(DermaFusionError) {
    table = try CSVTable(ofImages: bytes, path: path)
    columns = try PatientColumns(table, reading)
  }

  package var names: TableNames { columns.names }

  /// - Parameters:
  ///   - images: all that a person asks for at once: which row is an image's depends on the others.
  ///   - folder: the absolute path of the folder in which relative paths begin; nil if nobody knows where the images lie.
  package func rows(
    of images: [ListedImage], in folder: String? = nil, needsLesions: Bool = false
  ) throws(DermaFusionError) -> Rows {
    let matches = RowAssignment(images: images, rows: columns.names, folder: folder)
    var columns = columns
    try columns.take(matches)
    return Rows(
      table, columns, images, matches, lesions: needsLesions ? try lesions(matches, columns) : nil)
  }

  /// The name of each image's lesion, nil where its row names none, and those that get no answer.
  private func lesions(
    _ matches: RowAssignment, _ columns: PatientColumns
  ) throws(DermaFusionError) -> (names: [String?], mixed: MixedLesions) {
    guard let column = try table.column(among: ["lesion_id"]) else { throw table.missing("lesion_id") }
    let patient = try table.column(among: PatientColumns.patientNames)
    var names: [String?] = []
    var rows: [(row: ChanceUnit.Row, sex: Sex?)] = []
    for outcome in matches.outcomes {
      guard case .row(let place) = outcome, table.rows[place].known(column) != nil else {
        names.append(nil)
        continue
      }
      let row = table.rows[place]
      let name = try table.name(column, of: row)
      names.append(name)
      rows.append(
        (
          ChanceUnit.Row(image: "", lesion: name, patient: patient.flatMap(row.known)),
          (try? columns.entry(of: row))?.sex
        ))
    }
    return (names, MixedLesions(rows, of: table))
  }

  /// The rows of some images; it does not keep the table.
  package struct Rows: Sendable {
    /// Each image's row, nil without one; a failure if a cell cannot be understood, or if nobody can tell which row it is.
    private let entries: [Result<Entry, DermaFusionError>?]
    /// Each path's, by ``Swift/String/imageKey``.
    private let places: [[UInt8]: Int]
    /// One for each image, or none where nobody wants them.
    private let lesions: [String?]
    private let missing: [String]
    private let unused: [String]
    /// Notes for a person on the table, and on the images that have no row or one by another name.
    package let notes: [Sentence]

    fileprivate init(
      _ table: CSVTable, _ columns: PatientColumns, _ images: [ListedImage], _ matches: RowAssignment,
      lesions: (names: [String?], mixed: MixedLesions)?
    ) {
      self.lesions = lesions?.names ?? []
      entries = matches.outcomes.enumerated().map { place, outcome -> Result<Entry, DermaFusionError>? in
        switch outcome {
        case .row(let row):
          if let lesions, let name = lesions.names[place], let error = lesions.mixed.error(of: name) {
            return .failure(error)
          }
          return Result { () throws(DermaFusionError) in try columns.entry(of: table.rows[row]) }
        case .none: return nil
        case .refused(let reason):
          return .failure(
            DermaFusionError(
              .invalidTable, message: "\(table.path): \(reason)",
              remedy: "Please give each image a row of its own, by its path where its name is not enough."))
        }
      }
      var places: [[UInt8]: Int] = [:]
      for (place, image) in images.enumerated() where places[image.path.imageKey] == nil {
        places[image.path.imageKey] = place
      }
      self.places = places
      missing = columns.missing.fields
      unused = columns.unused
      notes = Self.notes(table, columns, images, matches, entries)
    }

    /// The row of one of the images; `nil` when the table has none, or the image comes without a name.
    package func entry(ofImage path: String) throws(DermaFusionError) -> Entry? {
      guard let place = places[path.imageKey] else { return nil }
      return try entries[place]?.get()
    }

    /// The name of the lesion of one of the images; nil where its row names none, or it has no row.
    package func lesion(ofImage path: String) -> String? { places[path.imageKey].flatMap { lesions[$0] } }

    private static func notes(
      _ table: CSVTable, _ columns: PatientColumns, _ images: [ListedImage], _ matches: RowAssignment,
      _ entries: [Result<Entry, DermaFusionError>?]
    ) -> [Sentence] {
      let unlisted = matches.outcomes.indices.filter { matches.outcomes[$0] == .none }
      var notes = table.notes + columns.notes + matches.notes(table: table.path)
      if let first = unlisted.first {
        let path = images[first].path
        let share: Sentence =
          images.count == 1
          ? Sentence(path) : "\(unlisted.count) of \(images.count) images, the first of them \(path)"
        notes.append("\(table.path) has no row for \(share).")
      }
      let sites = entries.compactMap { try? $0?.get().unknownSite }
      return notes + (PatientColumns.note(onUnknownSites: sites, in: table.path).map { [$0] } ?? [])
    }

    /// Answers a page or another program: for each image what its row says, `{"error":...}` where the row cannot be understood
    /// or told, or null where the table has no row for it; the fields that no column of the table has; the columns that say
    /// nothing of a patient; and the notes.
    ///
    /// - Parameter languages: of errors and notes; see ``DermaFusionError/json(in:)``.
    package func json(in languages: [Language]) -> JSONValue {
      let entries = entries.map { entry in
        switch entry {
        case nil: JSONValue.null
        case .failure(let error): error.json(in: languages)
        case .success(let entry): entry.json
        }
      }
      return .object([
        "images": .array(entries), "missing": .strings(missing), "unused": .strings(unused),
        "notes": .array(notes.map { languages.json(of: $0) }),
      ])
    }
  }
}

extension MetadataTable {
  /// Answers a page or another program that has a table of patients for some images.
  ///
  /// - Parameters:
  ///   - request: a JSON object with the table's `name`, for the messages, the paths of the `images`, if the patients' rows
  ///     count too, `"joinPatient": true`, and, if the messages are not to be English, their `language`.
  ///   - folder: see ``rows(of:in:needsLesions:)``.
  ///   - languages: of errors and notes in the place of the request's.
  package static func answer(
    _ table: [UInt8], to request: [UInt8], in folder: String? = nil, languages: [Language]? = nil
  ) throws(DermaFusionError) -> JSONValue {
    guard case .object(let object) = try? JSONParser.parse(request), case .string(let name) = object["name"],
      case .array(let elements) = object["images"]
    else {
      throw DermaFusionError(
        .invalidRequest, message: "the request is not an object with a \"name\" and \"images\"",
        remedy: "Send the table's name and an array of the images' names.")
    }
    let language: Language =
      if case .string(let name) = object["language"] {
        try ImageRequest.language(named: name)
      } else {
        .english
      }
    // An image without a name has no row.
    let images = elements.map {
      if case .string(let image) = $0 { ListedImage(image) } else { ListedImage("") }
    }
    let reading = PatientReading(joinsPatients: object["joinPatient"] == .bool(true))
    return try language.wording { () throws(DermaFusionError) in
      guard table.count <= byteLimit else {
        throw DermaFusionError(
          .invalidTable,
          message: "\(name): the table is larger than the limit of \(byteLimit / (1024 * 1024)) MB",
          remedy: "Please split the table.")
      }
      return try MetadataTable(table, path: name, reading: reading).rows(of: images, in: folder).json(
        in: languages ?? [language])
    }
  }
}

extension String {
  /// The key by which two names of images are the same: their Unicode scalars. Strings are equal too where they only look the
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
