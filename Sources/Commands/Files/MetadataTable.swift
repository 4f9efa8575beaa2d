import DermaFusion

/// What a table says about the patient of each image.
package struct MetadataTable: Equatable, Sendable {
  package struct Entry: Equatable, Sendable {
    /// `nil` where the cell is empty.
    package let ageInYears: Double?
    package let sex: Sex?
    package let site: BodySite?
  }

  /// Columns that a table must have; it may have others, in any order.
  package static let columns = ["image_id", "age", "sex", "localization"]

  private let entries: [String: Entry]

  /// The row of the image with this name; `nil` when the table has none.
  package subscript(identifier: String) -> Entry? { entries[identifier] }

  /// Every row is checked, whether or not its image is asked for later.
  ///
  /// - Throws: ``CSVError`` naming the file, line, column and value.
  package init(_ bytes: [UInt8], path: String) throws(CSVError) {
    let table = try CSVTable(bytes, path: path)
    var positions: [Int] = []
    for name in Self.columns {
      guard let position = table.header.firstIndex(of: name) else {
        throw .missingColumn(path: path, name: name)
      }
      positions.append(position)
    }

    var entries: [String: Entry] = [:]
    var lines: [String: Int] = [:]
    for row in table.rows {
      let cell = { (column: Int) in row.fields[positions[column]].trimmed }
      func read<Value>(_ column: Int, as option: Option<Value>) throws(CSVError) -> Value? {
        let text = cell(column)
        if text.isEmpty { return nil }
        guard let value = option.convert(text) else {
          throw .invalidValue(
            path: path, line: row.line, column: Self.columns[column], value: text,
            expectation: option.expectation)
        }
        return value
      }
      let identifier = cell(0)
      if let firstLine = lines.updateValue(row.line, forKey: identifier) {
        throw .repeatedIdentifier(path: path, line: row.line, identifier: identifier, firstLine: firstLine)
      }
      entries[identifier] = Entry(
        ageInYears: try read(1, as: MetadataOptions.age), sex: try read(2, as: MetadataOptions.sex),
        site: try read(3, as: MetadataOptions.site))
    }
    self.entries = entries
  }
}
