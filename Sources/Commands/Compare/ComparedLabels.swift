import DermaFusion
import Files
import SystemModule

/// The rows of a table of labels that belong to images of a command line.
struct ComparedLabels: Sendable {
  /// With these rows only.
  let list: TestList
  /// By ``Swift/String/imageKey``; a failure is that of a row with a cell that cannot be understood.
  private let rows: [[UInt8]: Result<TestList.Entry, DermaFusionError>]

  /// - Throws: ``DermaFusionError`` for a table that cannot be read as one, ``ComparisonError`` where it has none of the images.
  init(_ bytes: [UInt8], path: String, labels: Labels, sources: [ImageSource]) throws {
    let whole = try TestList(bytes, path: path, labels: labels)
    let names = Set(sources.compactMap(\.identifier).flatMap(Self.keys))
    list = whole.only { names.contains($0.imageKey) }
    if list.entries.isEmpty {
      if let failure = list.failures.first { throw failure }
      throw ComparisonError.noLabelledImage(
        path: path, rowCount: whole.rowCount, imageCount: sources.count)
    }
    var rows: [[UInt8]: Result<TestList.Entry, DermaFusionError>] = [:]
    for entry in list.entries { rows[entry.image.imageKey] = .success(entry) }
    for (image, error) in list.failedRows { rows[image.imageKey] = .failure(error) }
    self.rows = rows
  }

  /// The names that a row of the image may have: a table that this program wrote may mark the name as text.
  private static func keys(of identifier: String) -> [[UInt8]] {
    [identifier.imageKey, CSVCell.neutralized(identifier).imageKey]
  }

  private func row(of source: ImageSource) -> Result<TestList.Entry, DermaFusionError>? {
    source.identifier.flatMap { Self.keys(of: $0).lazy.compactMap { rows[$0] }.first }
  }

  /// The row of an image; `nil` when there is none.
  ///
  /// - Throws: ``DermaFusionError`` for the cell that cannot be understood.
  func entry(of source: ImageSource) throws(DermaFusionError) -> TestList.Entry? {
    try row(of: source)?.get()
  }

  /// What a person should know of images without a label.
  ///
  /// - Parameter saysColumns: whether to name columns of the patient's data that are missing.
  func notes(on sources: [ImageSource], saysColumns: Bool) -> [String] {
    var notes = saysColumns ? list.missingColumns.map { [$0] } ?? [] : []
    let unlabelled = sources.filter { row(of: $0) == nil }
    if let first = unlabelled.first {
      notes.append(
        """
        \(list.path) has no row with one of the models' classes for \(unlabelled.count) of \(sources.count) images, the first \
        of them \(first.name).
        """)
    }
    return notes
  }
}
