import DermaFusion

/// What a row says of the patient.
struct PatientEntry: Equatable, Sendable {
  /// `nil` where the cell is empty.
  let ageInYears: Double?
  let sex: Sex?
  let site: BodySite?
}

/// Where a table says which image a row is of, and what is known of the patient: by the names that HAM10000, the ISIC archive,
/// the ISIC challenges, this program and people give their columns, in any letter case. Only the image's column must be there;
/// what has no column is missing.
struct PatientColumns {
  static let identifierNames = ["image_id", "isic_id", "image"]
  private static let ageNames = ["age", "age_approx", "age_years", "age (years)"]
  private static let sexNames = ["sex", "gender"]
  private static let siteNames = [
    "localization", "anatom_site_general", "site", "localisation", "location", "anatom_site",
    "anatom_site_general_challenge",
  ]

  let cells: CSVColumns
  let identifier: String
  /// All that the table has, in the order in which they are asked.
  private let ages: [String]
  private let sexes: [String]
  private let sites: [String]
  /// What the table says nothing of, and what it has instead; nil where it has a column for each.
  let missingColumns: String?

  /// - Parameter others: columns that are looked at besides, where there are any of these names.
  init(_ table: CSVTable, path: String, others: [String] = []) throws(CSVError) {
    guard let identifier = try table.column(among: Self.identifierNames, path: path) else {
      throw .missingColumn(path: path, name: Self.identifierNames[0], header: table.header)
    }
    self.identifier = identifier
    ages = try table.columns(among: Self.ageNames, path: path)
    sexes = try table.columns(among: Self.sexNames, path: path)
    sites = try table.columns(among: Self.siteNames, path: path)
    let missing = [("age", ages), ("sex", sexes), ("site", sites)].filter(\.1.isEmpty).map(\.0)
    missingColumns =
      missing.isEmpty
      ? nil
      : "\(path) has no column for \(missing.joined(separator: ", ")); its columns are \(table.header.quotedList)."
    cells = try table.columns([identifier] + ages + sexes + sites, optional: others, path: path)
  }

  /// The name of the row's image, which no other row may have.
  func identifier(of row: CSVTable.Row, seen lines: inout [[UInt8]: Int]) throws(CSVError) -> String {
    try cells.uniqueIdentifier(identifier, of: row, seen: &lines)
  }

  func metadata(of row: CSVTable.Row) throws(CSVError) -> PatientEntry {
    PatientEntry(
      ageInYears: try value(ages, of: row, as: Self.ageInYears),
      sex: try value(sexes, of: row, as: Self.sex),
      site: try value(sites, of: row, as: Self.site))
  }

  /// The first column's; where its cell is empty, the first of the others that can be understood: a column such as
  /// `location` may mean something else.
  private func value<Value>(
    _ columns: [String], of row: CSVTable.Row, as option: CommandOption<Value>
  ) throws(CSVError) -> Value? {
    if let value = try cells.value(columns.first, of: row, as: option) { return value }
    for column in columns.dropFirst() {
      if let value = try? cells.value(column, of: row, as: option) { return value }
    }
    return nil
  }

  private static let ageInYears = CommandOption<Double>(
    "age", valueName: "age", abstract: "", expectation: MetadataOptions.age.expectation,
    convert: { MetadataOptions.age.convert($0.withDecimalPoint) })

  private static let sex = CommandOption<Sex>(
    "sex", valueName: "sex", abstract: "", allowedValues: Sex.allCases.map(\.rawValue),
    convert: { text in
      switch text.lowercased() {
      case "m": .male
      case "f", "w": .female
      default: Sex(name: text)
      }
    })

  /// A body site, or a region of the ISIC archive in which several sites lie: which of them it is is not known.
  private static let site = CommandOption<BodySite>(
    "site", valueName: "site", abstract: "", allowedValues: BodySite.allCases.map(\.rawValue),
    convert: { text in
      // Also with another character between the words: lower_extremity, head neck.
      let words = text.lowercased().map { "/_-".contains($0) ? " " : $0 }
      return BodySite(name: String(words)) ?? (generalRegions.contains(String(words)) ? .unknown : nil)
    })

  private static let generalRegions: Set<String> = [
    "anterior torso", "posterior torso", "lateral torso", "torso", "head neck", "oral genital", "palms soles",
  ]
}

extension PatientMetadata {
  /// With what a row says in the place of the fields that are not known.
  func filled(from entry: PatientEntry?) throws(DermaFusionError) -> PatientMetadata {
    try PatientMetadata(
      ageInYears: ageInYears ?? entry?.ageInYears, sex: sex == .unknown ? entry?.sex ?? .unknown : sex,
      site: site == .unknown ? entry?.site ?? .unknown : site)
  }
}

extension String {
  /// With a point for the comma of `55,5`, which spreadsheets of many languages write.
  var withDecimalPoint: String {
    let parts = split(separator: ",", omittingEmptySubsequences: false)
    return parts.count == 2 ? parts.joined(separator: ".") : self
  }
}
