import Files
import SystemModule

/// The place of the class in a table: in words, or as a 1 in the column of the class.
package struct LabelColumns {
  package enum Diagnosis {
    case label(LesionLabel)
    /// None of the model's classes.
    case other(String)
  }

  private enum Form {
    /// In the ISIC archive's words, or in the model's.
    case words([CSVTable.Column], areArchives: Bool)
    case oneHot([(column: CSVTable.Column, label: LesionLabel?)])
  }

  private let table: CSVTable
  private let form: Form
  private let labels: Labels
  /// The meanings of words that occurred before: tables of millions of rows have few of them.
  private var known: [[String]: Diagnosis] = [:]

  package init(_ table: CSVTable, labels: Labels) throws(DermaFusionError) {
    self.table = table
    self.labels = labels
    let named = try table.column(among: ["dx", "diagnosis", "label", "class"])
    if let column = named, column.name.lowercased() != "diagnosis" {
      if table.isOfClassify, column.name.lowercased() == "class" {
        throw table.failure(
          "the table was written by classify: its column 'class' is the model's answer, and not what the image shows. "
            + "A column 'dx' would tell it")
      }
      form = .words([column], areArchives: false)
      return
    }
    // The archive's: today from the most exact to the most general.
    let archives = try [named].compactMap { $0 } + table.columns(among: CSVTable.hierarchy("diagnosis"))
    if !archives.isEmpty {
      form = .words(archives, areArchives: true)
      return
    }
    let columns = table.header.map { (name: $0, label: labels.label(inWords: $0)) }
    guard columns.count(where: { $0.label != nil }) >= 2 else { throw table.missing("dx") }
    form = .oneHot(
      try columns.filter { $0.label != nil || Labels.challengeColumns.contains($0.name.uppercased()) }
        .map { name, label throws(DermaFusionError) in (try table.column(name), label) })
  }

  /// True if the table has a column for each class, as the ISIC challenges publish their ground truth.
  package var isChallengeTable: Bool { if case .oneHot = form { true } else { false } }

  /// True if ``diagnosis(of:)`` would throw.
  package mutating func isBad(_ row: CSVTable.Row) -> Bool { (try? diagnosis(of: row)) == nil }

  /// - Throws: for a `dx` that is no class of the model, where a typing error is likelier than another disease, for a missing
  ///   class, and for a row that does not mark one column.
  package mutating func diagnosis(of row: CSVTable.Row) throws(DermaFusionError) -> Diagnosis {
    guard case .words(let columns, _) = form else { return try read(row) }
    let words = columns.map { row[$0] }
    if let diagnosis = known[words] { return diagnosis }
    let diagnosis = try read(row)
    known[words] = diagnosis
    return diagnosis
  }

  private func read(_ row: CSVTable.Row) throws(DermaFusionError) -> Diagnosis {
    switch form {
    case .words(let columns, let areArchives):
      let words = columns.compactMap { row.known($0) }
      for word in words {
        if let label = labels.label(inWords: word) { return .label(label) }
      }
      if areArchives, let word = words.first { return .other(word) }
      let (column, text) = (columns[0], row[columns[0]])
      let ids = labels.count <= 12 ? labels.ids.quotedAlternatives : labels.ids.quotedList
      throw table.invalid(column, of: row, value: text, expectation: "Please provide one of \(ids).")
    case .oneHot(let columns):
      let marked = columns.filter { Double(row[$0.column].withDecimalPoint) == 1 }
      if marked.count == 1 { return marked[0].label.map { .label($0) } ?? .other(marked[0].column.name) }
      let first = (marked.first ?? columns[0]).column
      throw table.invalid(
        first, of: row,
        value: marked.isEmpty ? row[first] : marked.map { $0.column.name }.joined(separator: " and "),
        expectation: "Please mark one of \(columns.map { $0.column.name }.quotedList) with 1.")
    }
  }
}
