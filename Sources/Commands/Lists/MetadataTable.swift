import CommandLineSupport
import DermaFusion

/// What a table says about the patient of each image.
struct MetadataTable: Equatable, Sendable {
  typealias Entry = PatientEntry

  /// A hundred bytes a row.
  static let byteLimit = 64 * 1024 * 1024

  /// By ``Swift/String/imageKey``.
  private let entries: [[UInt8]: Entry]

  /// The row of the image with this name, in the same Unicode scalars; `nil` when the table has none.
  subscript(identifier: String) -> Entry? { entries[identifier.imageKey] }

  /// The row of an image; `nil` when the table has none, or the image comes without a name.
  func entry(for source: ImageSource) -> Entry? { source.identifier.flatMap { self[$0] } }

  /// What a person should know of the images and the rows that do not go one to one.
  ///
  /// - Parameter path: of the table.
  func notes(on sources: [ImageSource], path: String) -> [String] {
    var notes: [String] = []
    let unlisted = sources.filter { entry(for: $0) == nil }
    if let first = unlisted.first {
      // The row is there under the whole file name.
      let isNamedWhole = first.fileName.map { entries[$0.imageKey] != nil } ?? false
      let hint = isNamedWhole ? ImageFileName.endingHint : ""
      let share =
        sources.count == 1 ? "" : "\(unlisted.count) of \(sources.count) images, the first of them "
      notes.append("\(path) has no row for \(share)\(first.name)\(hint).")
    }
    // Two of each row are enough to tell.
    var imagesOfRow: [[UInt8]: [ImageSource]] = [:]
    var sharedRows: [[UInt8]] = []
    for source in sources where entry(for: source) != nil {
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

  /// Every row is checked, whether or not its image is asked for later.
  ///
  /// - Throws: ``CSVError`` naming the file, line, column and value.
  init(_ bytes: [UInt8], path: String) throws(CSVError) {
    let table = try CSVTable(bytes, path: path)
    let columns = try PatientColumns(table, path: path)
    var entries: [[UInt8]: Entry] = [:]
    var lines: [[UInt8]: Int] = [:]
    for row in table.rows {
      let identifier = try columns.identifier(of: row, seen: &lines)
      entries[identifier.imageKey] = try columns.metadata(of: row)
    }
    self.entries = entries
  }
}
