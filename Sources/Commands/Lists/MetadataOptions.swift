import DermaFusion
import Files
import SystemModule

/// The options that tell about the patient, the same for every command that takes them.
enum MetadataOptions {
  static let age = CommandOption<Double>(
    "age", valueName: "age",
    abstract: "Age in years, from 0 to 130; fractions are allowed. Without it the age is missing.",
    expectation: PatientMetadata.ageExpectation,
    convert: { text in
      PatientAge.years(in: text).flatMap { PatientAge.accepted.contains($0) ? $0 : nil }
    })

  static let sex = CommandOption<Sex>(
    "sex", valueName: "sex",
    abstract: "Sex of the patient, in any letter case. Without it the sex is missing.",
    allowedValues: Sex.allCases.map(\.rawValue), convert: { Sex(word: $0) })

  static let site = CommandOption<BodySite>(
    "site", valueName: "site",
    abstract:
      "Region of the body, in any letter case; quote a name with a blank. Without it the site is missing.",
    allowedValues: BodySite.allCases.map(\.rawValue), convert: { BodySite(name: $0) })

  /// Of one image; see ``table`` for many.
  static let all: [any AnyCommandOption] = [age, sex, site]
}

extension MetadataOptions {
  static let table = CommandOption<String>.path(
    "metadata", valueName: "file.csv",
    abstract: """
      Table with the columns image_id (or \(PatientColumns.imageNames.dropFirst().joined(separator: ", "))), age, sex and \
      localization or site, or the ISIC archive's, or one that classify wrote, with a comma, semicolon or tab between them. \
      Only the image's column must be there; other columns are ignored. Names of columns and values may have any letter case, \
      a sex may be m, f or w, an age 55,5, 85+, 045Y, 018M or 45 years. An empty cell, NA, nan, NULL, None, - and ? are \
      missing; a region that could be several of the sites is unknown, a word that is no region is missing and named. An age \
      or sex that cannot be understood fails its image only. A row belongs to the image whose file name without its ending it \
      has; else to the one whose name with the ending or end of the path it has, then in another letter case or Unicode form, \
      where that is unique. A row that could be two images', and an image that could have two rows, are refused. --age, --sex \
      and --site take precedence over the cells.
      """)

  /// - Returns: `nil` when no table was named.
  static func readTable(_ arguments: ParsedArguments) throws -> MetadataTable? {
    try arguments[table].map { path in
      try MetadataTable(
        FileBytes.read(path: path, limit: MetadataTable.byteLimit), path: path, given: given(arguments))
    }
  }

  /// Of `age`, `sex` and `site`, those that the options tell.
  static func given(_ arguments: ParsedArguments) -> Set<String> {
    Set(
      [
        arguments[age] == nil ? nil : age.name, arguments[sex] == nil ? nil : sex.name,
        arguments[site] == nil ? nil : site.name,
      ].compactMap { $0 })
  }

  /// Metadata of the options and a table's row together; an option takes precedence over a cell.
  ///
  /// - Parameter entry: `nil` when there is no table, or no row for this image.
  static func metadata(
    _ arguments: ParsedArguments, entry: MetadataTable.Entry?
  ) throws(DermaFusionError) -> PatientMetadata {
    try PatientMetadata(
      ageInYears: arguments[age] ?? entry?.ageInYears,
      sex: arguments[sex] ?? entry?.sex ?? .unknown,
      site: arguments[site] ?? entry?.site ?? .unknown)
  }
}
