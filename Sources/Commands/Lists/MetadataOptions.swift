import DermaFusion
import Files
import SystemModule

/// The options that tell about the patient, the same for every command that takes them.
enum MetadataOptions {
  static let age = CommandOption<Double>(
    "age", valueName: "age",
    abstract: "Age in years, from 0 to 130; fractions are allowed. Without it the age is missing.",
    expectation: PatientMetadata.ageExpectation.description,
    convert: { text in
      PatientAge.years(in: text).flatMap { PatientAge.accepted.contains($0) ? $0 : nil }
    })

  static let sex = CommandOption<Sex>(
    "sex", valueName: "sex",
    abstract:
      "Sex of the patient, in any letter case, or a word for it as in tables. Without it the sex is missing.",
    allowedValues: Sex.allCases.map(\.rawValue), convert: { Sex(word: $0) })

  static let site = CommandOption<BodySite>(
    "site", valueName: "site",
    abstract:
      "Region of the body, in any letter case, or a word for it as in tables; quote a name with a blank. Without it the site is missing.",
    allowedValues: BodySite.allCases.map(\.rawValue), convert: { BodySite(word: $0) })

  /// The options for one image; see ``table`` for many.
  static let all: [any AnyCommandOption] = [age, sex, site]
}

extension MetadataOptions {
  static let table = CommandOption<String>.path(
    "metadata", valueName: "file.csv",
    abstract: """
      Table with the columns image_id (or \(PatientColumns.imageNames.dropFirst().joined(separator: ", "))), age, sex and \
      localization or site, or the ISIC archive's, or one that classify wrote, with a comma, semicolon, tab or blank between \
      them. Only the image's column must be there; other columns are ignored. Names of columns and values may have any letter \
      case, a sex may be m, f or w, sexes and regions may be in German or French, an age 55,5, 85+, 045Y, 018M or 45 years. An \
      empty cell, NA, nan, NULL, None, - and ? are missing; a region that could be several of the sites is unknown, a word that \
      is no region is missing and named. An age or sex that cannot be understood fails its image, and so do two columns that \
      disagree. A row names its image, strongest first, by the path as it was given, below the folder that was given or \
      absolute; by the file's name; by the name without its ending; by the end of the path; in another letter case; in another \
      Unicode form. What a stronger form matches takes part in no weaker one. A row that could be two images', and an image that \
      could have two rows, are refused. A table without a row of any image is an error. --age, --sex \
      and --site take precedence over the cells.
      """)

  static let joinPatient = Flag(
    "join-patient",
    abstract: """
      Take an age, sex or site that a row lacks from the rows without an image that have the same patient_id or record_id, as in \
      REDCap's exports.
      """)

  /// - Returns: `nil` when no table was named.
  static func readTable(_ arguments: ParsedArguments) throws -> MetadataTable? {
    try arguments[table].map { path in
      try MetadataTable(
        FileBytes.read(path: path, limit: MetadataTable.byteLimit), path: path, reading: reading(arguments))
    }
  }

  /// The rules by which a table's cells are read: what an option tells is not read.
  static func reading(_ arguments: ParsedArguments) -> PatientReading {
    PatientReading(
      given: Set(
        [
          arguments[age] == nil ? nil : age.name, arguments[sex] == nil ? nil : sex.name,
          arguments[site] == nil ? nil : site.name,
        ].compactMap { $0 }), joinsPatients: arguments[joinPatient])
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
