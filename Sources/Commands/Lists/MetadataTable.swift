import DermaFusion

/// What a table says about the patient of each image.
struct MetadataTable: Equatable, Sendable {
  typealias Entry = PatientEntry

  /// A hundred bytes a row.
  static let byteLimit = 64 * 1024 * 1024

  /// By ``Swift/String/imageKey``; a failure is that of a row with a cell that cannot be understood.
  private let rows: [[UInt8]: Result<Entry, CSVError>]
  /// See ``PatientColumns/missingColumns``.
  private let missingColumns: String?

  /// The row of the image with this name, in the same Unicode scalars; `nil` when the table has none, or none that can be
  /// understood.
  subscript(identifier: String) -> Entry? { try? row(identifier)?.get() }

  /// The row of an image; `nil` when the table has none, or the image comes without a name.
  ///
  /// - Throws: ``CSVError`` for the cell that cannot be understood.
  func entry(for source: ImageSource) throws(CSVError) -> Entry? { try row(of: source)?.get() }

  private func row(of source: ImageSource) -> Result<Entry, CSVError>? { source.identifier.flatMap(row) }

  private func row(_ identifier: String) -> Result<Entry, CSVError>? {
    // A table that this program wrote may mark the name as text.
    rows[identifier.imageKey] ?? rows[CSVCell.neutralized(identifier).imageKey]
  }

  /// What a person should know of the images and the rows that do not go one to one.
  ///
  /// - Parameter path: of the table.
  func notes(on sources: [ImageSource], path: String) -> [String] {
    var notes = missingColumns.map { [$0] } ?? []
    let unlisted = sources.filter { row(of: $0) == nil }
    if let first = unlisted.first {
      // The row is there under the whole file name.
      let isNamedWhole = first.fileName.map { row($0) != nil } ?? false
      let hint = isNamedWhole ? ImageFileName.endingHint : ""
      let share =
        sources.count == 1 ? "" : "\(unlisted.count) of \(sources.count) images, the first of them "
      notes.append("\(path) has no row for \(share)\(first.name)\(hint).")
    }
    // Two of each row are enough to tell.
    var imagesOfRow: [[UInt8]: [ImageSource]] = [:]
    var sharedRows: [[UInt8]] = []
    for source in sources where row(of: source) != nil {
      guard let row = source.identifier?.imageKey else { continue }
      let images = imagesOfRow[row, default: []]
      if images.count == 2 || images.first == source { continue }
      imagesOfRow[row] = images + [source]
      if images.count == 1 { sharedRows.append(row) }
    }
    if let row = sharedRows.first, let images = imagesOfRow[row] {
      notes.append(
        """
        of \(path), \(sharedRows.count == 1 ? "a row was" : "\(sharedRows.count) rows were") used for more than one \
        image: '\(String(decoding: row, as: UTF8.self))' for \(images[0].name) and \
        \(images[1].name)\(sharedRows.count == 1 ? "" : ", ...").
        """)
    }
    return notes
  }

  /// - Throws: ``CSVError`` for a table that cannot be read as one, naming the file, line, column and value. A cell of one row
  ///   that cannot be understood is told when that row's image is asked for.
  init(_ bytes: [UInt8], path: String) throws(CSVError) {
    let table = try CSVTable(bytes, path: path)
    let columns = try PatientColumns(table, path: path)
    var rows: [[UInt8]: Result<Entry, CSVError>] = [:]
    var lines: [[UInt8]: Int] = [:]
    for row in table.rows {
      let identifier = try columns.identifier(of: row, seen: &lines)
      rows[identifier.imageKey] = Result { () throws(CSVError) in try columns.metadata(of: row) }
    }
    self.rows = rows
    missingColumns = columns.missingColumns
  }
}
