import DermaFusion
import SystemModule

extension MetadataOptions {
  static let table = CommandOption<String>.path(
    "metadata", valueName: "file.csv",
    abstract: """
      Table with the columns image_id, age, sex and localization or site, or the ISIC archive's isic_id, age_approx, sex and \
      anatom_site_general, or one that classify wrote, with a comma, semicolon or tab between them. Only the first must be \
      there; other columns are ignored. Names of columns and values may have any letter case, a sex may be m, f or w, and an \
      age may have a decimal comma. An empty cell, NA, nan, NULL, None, - and ? are missing; a region that could be several of \
      the sites is unknown. A cell that cannot be understood fails its image only. A row belongs to the image whose file name without its ending is its image_id, equal to the byte; an image has one row at most. --age, \
      --sex and --site take precedence over the cells.
      """)

  /// - Returns: `nil` when no table was named.
  static func readTable(_ arguments: ParsedArguments) throws -> MetadataTable? {
    try arguments[table].map { path in
      try MetadataTable(FileBytes.read(path: path, limit: MetadataTable.byteLimit), path: path)
    }
  }

  /// What the options and a table's row say together: an option that is given wins over the row's cell.
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
