import SystemModule

extension DermaFusionError.Code {
  /// A table breaks a rule.
  package static let invalidTable = Self("invalidTable")
}

/// A table of text as RFC 4180 describes it: commas, or semicolons or tabs where the first line has more of them; quotes doubled
/// inside quoted fields, line breaks inside them, LF, CRLF or CR between rows. A first line such as `sep=;` names what separates
/// fields. The text is UTF-8, or UTF-16 with a byte-order mark as spreadsheets write it, or else Windows-1252. A byte-order mark is
/// passed over, and so are lines without text, such as the rows of nothing but commas that spreadsheets leave.
package struct CSVTable: Equatable, Sendable {
  package struct Row: Equatable, Sendable {
    /// The line on which the row begins, from 1.
    package let line: Int
    package var fields: [String]

    /// A cell without blanks around it.
    package subscript(column: Column) -> String { fields[column.index].trimmed }

    /// A cell without blanks around it; `nil` where it is missing.
    package func known(_ column: Column) -> String? {
      CSVTable.isMissing(self[column]) ? nil : self[column]
    }
  }

  package struct Column: Equatable, Sendable {
    /// As it stands in the header.
    package let name: String
    fileprivate let index: Int
  }

  /// For the messages.
  package let path: String
  /// The column names, without blanks around them.
  package let header: [String]
  /// Each with as many fields as the header.
  package let rows: [Row]
  /// What a person should know of how the text was read.
  package let notes: [String]
  /// Whether `classify` wrote the table.
  package let isOfClassify: Bool
  /// Whether names in the table are marked as text for spreadsheets: those that `classify` or `evaluate --predictions` wrote.
  private let marksNames: Bool

  /// - Parameter path: for the messages.
  package init(_ bytes: [UInt8], path: String) throws(DermaFusionError) {
    self.path = path
    let (content, notes) = try CSVText.read(bytes, path: path)
    self.notes = notes
    var scanner = CSVScanner(bytes: content, path: path)
    var all = try scanner.rows()
    guard !all.isEmpty else { throw Self.failure(path, "the table has no header") }
    header = all.removeFirst().fields.map { $0.trimmed }
    isOfClassify = Self.isOfClassify(header)
    marksNames = isOfClassify || ["image_id", "label", "abstain"].allSatisfy(header.contains)
    for row in all where row.fields.count != header.count {
      let count = row.fields.count
      throw Self.failure(
        path,
        "line \(row.line): \(count) \(count == 1 ? "field" : "fields"), where the header has \(header.count)")
    }
    rows = all
  }

  /// The fields of one row with commas between them, exactly as they stand; `nil` where it is not one row.
  package static func fields(ofRow bytes: ArraySlice<UInt8>) -> [String]? {
    guard String(validating: bytes, as: UTF8.self) != nil else { return nil }
    var scanner = CSVScanner(bytes: bytes, separator: UInt8(ascii: ","), path: "")
    guard let rows = try? scanner.rows(), rows.count == 1 else { return nil }
    return rows[0].fields
  }

  /// The first row of a table with commas, with the line feed behind it, and the number of its lines; `nil` where no line feed
  /// stands outside of quotes.
  package static func firstRow(of bytes: ArraySlice<UInt8>) -> (row: ArraySlice<UInt8>, lineCount: Int)? {
    var (isQuoted, lineCount) = (false, 0)
    for index in bytes.indices {
      switch bytes[index] {
      case UInt8(ascii: "\""): isQuoted.toggle()
      case UInt8(ascii: "\n"):
        lineCount += 1
        if !isQuoted { return (bytes[...index], lineCount) }
      default: break
      }
    }
    return nil
  }

  /// Whether a cell says that there is no value, as R, pandas and people write it.
  package static func isMissing(_ text: String) -> Bool {
    ["", "na", "n/a", "nan", "<na>", "null", "none", "-", "?"].contains(text.lowercased())
  }

  /// The columns `NAME_5` to `NAME_1` of the ISIC archive, from the most exact to the most general.
  package static func hierarchy(_ name: String) -> [String] { (1...5).reversed().map { "\(name)_\($0)" } }

  /// A person may have removed some of the columns that `classify` wrote, or written them in another letter case.
  private static func isOfClassify(_ header: [String]) -> Bool {
    let names = Set(header.map { $0.lowercased() })
    guard names.contains("class") else { return false }
    return !names.isDisjoint(with: ["abstain", "disclaimer", "modelsha256", "summary"])
      || (names.contains("probability") && !names.isDisjoint(with: ["name", "risk"]))
  }
}

extension CSVTable {
  /// The first of the names that the header has, as it stands there; where it has none of them as they are, in another letter
  /// case. The table may have others, in any order and of any names.
  ///
  /// - Parameter names: in lower case.
  /// - Throws: where the header has that name several times.
  package func column(among names: [String]) throws(DermaFusionError) -> Column? {
    guard let name = try columnNames(among: names).first else { return nil }
    return try column(name)
  }

  /// All of the names that the header has, as they stand there: first those that it has as they are, then those that it has
  /// once in another letter case, each in the order of `names`.
  ///
  /// - Parameter names: in lower case.
  /// - Throws: where the header has one of them several times; in another letter case only the first of them matters.
  package func columns(among names: [String]) throws(DermaFusionError) -> [Column] {
    var columns: [Column] = []
    for name in try columnNames(among: names) { columns.append(try column(name)) }
    return columns
  }

  private func columnNames(among names: [String]) throws(DermaFusionError) -> [String] {
    var found = names.filter(header.contains)
    for name in names where !found.contains(name) {
      let columns = header.filter { $0.lowercased() == name }
      if columns.count > 1, found.isEmpty { throw repeated(columns[0]) }
      if columns.count == 1 { found += columns }
    }
    return found
  }

  /// The column of this name, to the letter.
  package func column(_ name: String) throws(DermaFusionError) -> Column {
    guard let index = header.firstIndex(of: name) else { throw missing(name) }
    guard !header[(index + 1)...].contains(name) else { throw repeated(name) }
    return Column(name: name, index: index)
  }

  package func missing(_ name: String) -> DermaFusionError {
    failure("the column '\(name)' is missing; the header has \(header.quotedList)")
  }

  private func repeated(_ name: String) -> DermaFusionError {
    failure("the column '\(name)' occurs more than once")
  }

  /// A cell's value; `nil` where it is missing.
  ///
  /// - Parameters:
  ///   - expectation: what to write instead of a text that is no value, a full sentence.
  ///   - convert: `nil` for a text that is no value.
  package func value<Value>(
    _ column: Column, of row: Row, expectation: String, convert: (String) -> Value?
  ) throws(DermaFusionError) -> Value? {
    guard let text = row.known(column) else { return nil }
    guard let value = convert(text) else {
      throw invalid(column, of: row, value: text, expectation: expectation)
    }
    return value
  }

  /// A cell with a name, as it stands: a file's name may begin or end with blanks.
  package func name(_ column: Column, of row: Row) throws(DermaFusionError) -> String {
    let name = row.fields[column.index]
    guard !name.isEmpty else {
      throw invalid(column, of: row, value: "", expectation: "Please provide an identifier.")
    }
    return marksNames ? CSVCell.original(name) : name
  }

  /// The names in a column, one for each row, all of them different.
  package func uniqueNames(_ column: Column) throws(DermaFusionError) -> [String] {
    // By bytes: strings are equal too where they only look the same.
    var lines: [[UInt8]: Int] = [:]
    var names: [String] = []
    for row in rows {
      let name = try name(column, of: row)
      if let firstLine = lines.updateValue(row.line, forKey: Array(name.utf8)) {
        throw failure("line \(row.line): the \(column.name) '\(name)' was already on line \(firstLine)")
      }
      names.append(name)
    }
    return names
  }

  /// A cell breaks a rule that the caller knows.
  package func invalid(
    _ column: Column, of row: Row, value: String, expectation: String
  ) -> DermaFusionError {
    failure("line \(row.line): column '\(column.name)': the value '\(value)' is invalid. \(expectation)")
  }

  package func failure(_ message: String) -> DermaFusionError { Self.failure(path, message) }

  static func failure(_ path: String, _ message: String) -> DermaFusionError {
    DermaFusionError(.invalidTable, message: "\(path): \(message)", remedy: "Please correct the table.")
  }
}

extension String {
  /// Without blanks and tabs at either end.
  package var trimmed: String {
    let isBlank = { (character: Character) in character == " " || character == "\t" }
    guard let first = firstIndex(where: { !isBlank($0) }), let last = lastIndex(where: { !isBlank($0) })
    else { return "" }
    return String(self[first...last])
  }
}
