import CommandLineSupport
import DermaFusion

/// Images with what they show, as a table lists them.
package struct TestList: Sendable {
  package struct Entry: Sendable {
    /// In the table, from 1.
    package let line: Int
    /// The file's name without its ending, in the same Unicode scalars.
    package let image: String
    package let lesion: String
    package let label: LesionClass
    /// How the label was confirmed; `nil` where the table does not say.
    package let confirmation: String?
    package let metadata: MetadataTable.Entry
  }

  /// Columns that the table must have; it may have others, in any order.
  package static let columns = ["image_id", "lesion_id", "dx", "age", "sex", "localization"]
  /// A column that it may have: how the label was confirmed, in HAM10000 `histo`, `follow_up`, `consensus` or `confocal`.
  package static let confirmationColumn = "dx_type"

  /// Of the table, for messages.
  package let path: String
  /// In the order of the table, at least one.
  package let entries: [Entry]

  /// - Throws: ``CSVError`` naming the file, line, column and value.
  package init(_ bytes: [UInt8], path: String) throws(CSVError) {
    let table = try CSVTable(bytes, path: path)
    let columns = try table.columns(Self.columns, optional: [Self.confirmationColumn], path: path)
    var entries: [Entry] = []
    var lines: [[UInt8]: Int] = [:]
    for row in table.rows {
      let image = try columns.uniqueIdentifier("image_id", of: row, seen: &lines)
      entries.append(
        Entry(
          line: row.line, image: image,
          lesion: try columns.identifier("lesion_id", of: row),
          label: try columns.requiredValue("dx", of: row, as: Self.label),
          confirmation: columns.optionalText(Self.confirmationColumn, of: row),
          metadata: try columns.metadata(of: row)))
    }
    if entries.isEmpty { throw .noRows(path: path) }
    self.path = path
    self.entries = entries
  }

  private static let label = Option<LesionClass>(
    "dx", valueName: "dx", abstract: "", allowedValues: LesionClass.allCases.map(\.rawValue),
    convert: { LesionClass(rawValue: $0) })
}
