import CommandLineSupport
import DermaFusion

/// What a row says of the patient.
struct PatientEntry: Equatable, Sendable {
  /// `nil` where the cell is empty.
  let ageInYears: Double?
  let sex: Sex?
  let site: BodySite?
}

/// Where a table says which image a row is of, and what is known of the patient: by the names that HAM10000, the ISIC archive
/// and the ISIC challenges give their columns, in any letter case. Only the image's column must be there; what has no column is missing.
struct PatientColumns {
  static let identifierNames = ["image_id", "isic_id", "image"]
  private static let ageNames = ["age", "age_approx"]
  private static let siteNames = ["localization", "anatom_site_general"]

  let cells: CSVColumns
  let identifier: String
  private let age: String?
  private let sex: String?
  private let site: String?

  /// - Parameter others: columns that are looked at besides, where there are any of these names.
  init(_ table: CSVTable, path: String, others: [String] = []) throws(CSVError) {
    guard let identifier = try table.column(among: Self.identifierNames, path: path) else {
      throw .missingColumn(path: path, name: Self.identifierNames[0], header: table.header)
    }
    self.identifier = identifier
    age = try table.column(among: Self.ageNames, path: path)
    sex = try table.column(among: ["sex"], path: path)
    site = try table.column(among: Self.siteNames, path: path)
    cells = try table.columns(
      [identifier] + [age, sex, site].compactMap { $0 }, optional: others, path: path)
  }

  /// The name of the row's image, which no other row may have.
  func identifier(of row: CSVTable.Row, seen lines: inout [[UInt8]: Int]) throws(CSVError) -> String {
    try cells.uniqueIdentifier(identifier, of: row, seen: &lines)
  }

  func metadata(of row: CSVTable.Row) throws(CSVError) -> PatientEntry {
    PatientEntry(
      ageInYears: try cells.value(age, of: row, as: Self.ageInYears),
      sex: try cells.value(sex, of: row, as: MetadataOptions.sex),
      site: try cells.value(site, of: row, as: Self.site))
  }

  private static let ageInYears = Option<Double>(
    "age", valueName: "age", abstract: "", expectation: MetadataOptions.age.expectation,
    convert: { MetadataOptions.age.convert($0.withDecimalPoint) })

  /// A body site, or a region of the ISIC archive in which several sites lie: which of them it is is not known.
  private static let site = Option<BodySite>(
    "site", valueName: "site", abstract: "", allowedValues: BodySite.allCases.map(\.rawValue),
    convert: { text in
      BodySite(name: text) ?? (generalRegions.contains(text.lowercased()) ? .unknown : nil)
    })

  private static let generalRegions: Set<String> = [
    "anterior torso", "posterior torso", "lateral torso", "torso", "head/neck", "oral/genital", "palms/soles",
  ]
}

extension String {
  /// With a point for the comma of `55,5`, which spreadsheets of many languages write.
  var withDecimalPoint: String {
    let parts = split(separator: ",", omittingEmptySubsequences: false)
    return parts.count == 2 ? parts.joined(separator: ".") : self
  }
}
