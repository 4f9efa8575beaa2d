import SystemModule

extension DermaFusionError.Code {
  package static let invalidTable = Self("invalidTable")
}

/// A table of text as RFC 4180 describes it: commas, or semicolons or tabs if the first line has more of them, or blanks if it has
/// none of these; quotes doubled inside quoted fields, line breaks inside them, LF, CRLF or CR between rows. A first line such as
/// `sep=;` names what separates fields. The text is UTF-8, or UTF-16 with a byte-order mark as spreadsheets write it, or else
/// Windows-1252. A byte-order mark is passed over, and so are lines without text, such as the rows of nothing but commas that
/// spreadsheets leave.
///
/// A table keeps its text and four bytes for each row: millions of rows take no more memory than their file.
package struct CSVTable: Sendable {
  package struct Row: Sendable {
    fileprivate let table: CSVTable
    fileprivate let place: Int

    /// The line on which the row begins, from 1.
    package var line: Int { table.line(ofRow: place) }

    /// Each as it stands.
    package var fields: [String] {
      var scanner = table.scanner(atRow: place)
      // The table's rows have been read before.
      return (try? scanner.fields()) ?? []
    }

    /// A cell without blanks around it.
    package subscript(column: Column) -> String {
      String(decoding: table.cell(column, ofRow: place), as: UTF8.self).trimmed
    }

    /// A cell without blanks around it; `nil` where it is missing.
    package func known(_ column: Column) -> String? {
      let text = self[column]
      return CSVTable.isMissing(text) ? nil : text
    }
  }

  package struct Rows: RandomAccessCollection, Sendable {
    fileprivate let table: CSVTable
    package var startIndex: Int { 0 }
    package var endIndex: Int { table.starts.count }
    package subscript(place: Int) -> Row { Row(table: table, place: place) }
  }

  package struct Column: Equatable, Sendable {
    /// As it stands in the header.
    package let name: String
    fileprivate let index: Int
  }

  /// For the messages.
  package let path: String
  /// The column names, without blanks around them. R's names of rows have the name `""`.
  package let header: [String]
  /// Notes on how the text was read.
  package let notes: [Sentence]
  /// True if names in the table are marked as text for spreadsheets.
  let marksNames: Bool
  private let text: ArraySlice<UInt8>
  private let separator: UInt8
  /// The places in the text where rows begin.
  private let starts: [UInt32]
  /// The lines of rows that do not begin on the line behind their predecessor's.
  private let steps: [(row: UInt32, line: UInt32)]

  /// Each with as many fields as the header.
  package var rows: Rows { Rows(table: self) }

  /// - Parameters:
  ///   - bytes: fewer than 4 GB.
  ///   - path: for the messages.
  ///   - marksNames: true for the header of a table whose names are marked as text for spreadsheets.
  package init(
    _ bytes: [UInt8], path: String, marksNames: (_ header: [String]) -> Bool = { _ in false }
  ) throws(DermaFusionError) {
    self.path = path
    (text, notes) = try CSVText.read(bytes, path: path)
    precondition(text.endIndex <= UInt32.max, "a table of \(text.count) bytes, at most \(UInt32.max)")
    var scanner = CSVScanner(bytes: text, path: path)
    separator = scanner.separator
    var header: [String] = []
    while header.isEmpty, !scanner.isAtEnd {
      var row = scanner
      if try scanner.passRow() > 0 { header = try row.fields().map { $0.trimmed } }
    }
    guard !header.isEmpty else { throw Self.failure(path, "the table has no header") }
    var starts: [UInt32] = []
    var steps: [(row: UInt32, line: UInt32)] = []
    // At once: an array that grows would take twice as much.
    starts.reserveCapacity(text[scanner.place...].count { $0 == UInt8(ascii: "\n") } + 1)
    var nextLine = 0
    while !scanner.isAtEnd {
      let (start, line) = (scanner.place, scanner.line)
      let count = try scanner.passRow()
      guard count > 0 else { continue }
      if starts.isEmpty, Self.hasNamedRows(count, header, text[start...], separator) {
        header.insert("", at: 0)
      }
      guard count == header.count else { throw Self.wrongCount(count, header.count, line: line, path) }
      if line != nextLine { steps.append((UInt32(starts.count), UInt32(line))) }
      starts.append(UInt32(start))
      nextLine = line + 1
    }
    self.header = header
    self.starts = starts
    self.steps = steps
    self.marksNames = marksNames(header)
  }

  /// True if R's `write.table` gave the first field of each row no name in the header. It writes these fields in quotes, or, with
  /// blanks between fields, as numbers; anything else may be a field too many.
  private static func hasNamedRows(
    _ count: Int, _ header: [String], _ row: ArraySlice<UInt8>, _ separator: UInt8
  ) -> Bool {
    guard count == header.count + 1, let first = row.first else { return false }
    return first == UInt8(ascii: "\"")
      || (separator == UInt8(ascii: " ") && row.prefix { $0 != separator }.allSatisfy { 48...57 ~= $0 })
  }

  private static func wrongCount(
    _ count: Int, _ expected: Int, line: Int, _ path: String
  ) -> DermaFusionError {
    let fields: Sentence = count == 1 ? "1 field" : "\(count) fields"
    return failure(path, "line \(line): \(fields), where the header has \(expected)")
  }

  fileprivate func line(ofRow row: Int) -> Int {
    // The last step that is not behind it.
    var (low, high) = (0, steps.count)
    while low + 1 < high {
      let middle = (low + high) / 2
      if Int(steps[middle].row) <= row { low = middle } else { high = middle }
    }
    return Int(steps[low].line) + row - Int(steps[low].row)
  }

  fileprivate func scanner(atRow row: Int) -> CSVScanner {
    CSVScanner(bytes: text, separator: separator, place: Int(starts[row]))
  }

  /// A cell as it stands.
  func cell(_ column: Column, ofRow row: Int) -> ArraySlice<UInt8> {
    var scanner = scanner(atRow: row)
    for _ in 0..<column.index {
      _ = try? scanner.field()
      _ = scanner.takeSeparator()
    }
    return (try? scanner.field()).map { scanner.content(of: $0) } ?? []
  }

  /// The fields of one row with commas between them, exactly as they stand; `nil` where it is not one row.
  package static func fields(ofRow bytes: ArraySlice<UInt8>) -> [String]? {
    guard String(validating: bytes, as: UTF8.self) != nil else { return nil }
    var scanner = CSVScanner(bytes: bytes, separator: UInt8(ascii: ","))
    guard !bytes.isEmpty, let fields = try? scanner.fields(), scanner.isAtEnd else { return nil }
    return fields
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

  /// True if a cell says that there is no value, as R, pandas and people write it.
  package static func isMissing(_ text: String) -> Bool {
    ["", "na", "n/a", "nan", "<na>", "null", "none", "-", "?"].contains(text.lowercased())
  }

  /// The values of a column that has numbers alone, such as the codes of a questionnaire, each once; nil if it has a word, or
  /// nothing.
  package func codes(_ column: Column) -> [String]? {
    var codes: Set<String> = []
    for row in rows {
      guard let text = row.known(column) else { continue }
      guard let number = Double(text), number == number.rounded(), abs(number) < 1000 else { return nil }
      codes.insert(text)
    }
    return codes.isEmpty ? nil : codes.sorted()
  }

}

extension CSVTable {
  /// The first of the names, which are in lower case, that the header has, as it stands there; where it has none of them as they
  /// are, in another letter case. The table may have others, in any order and of any names.
  package func column(among names: [String]) throws(DermaFusionError) -> Column? {
    if let name = names.first(where: header.contains) { return try column(name) }
    for name in names {
      let variants = variants(of: name)
      if variants.count > 1 { throw repeated(variants[0]) }
      if let variant = variants.first { return try column(variant) }
    }
    return nil
  }

  /// All of the names, which are in lower case, that the header has, as they stand there: those of each name together, first the
  /// one to the letter.
  package func columns(among names: [String]) throws(DermaFusionError) -> [Column] {
    var columns: [Column] = []
    for name in names.flatMap({ variants(of: $0) }) { columns.append(try column(name)) }
    return columns
  }

  /// The names in the header that are this one in any letter case.
  private func variants(of name: String) -> [String] {
    var found: [String] = []
    for column in header where column.lowercased() == name && !found.contains(column) { found.append(column) }
    return found.filter { $0 == name } + found.filter { $0 != name }
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
    _ column: Column, of row: Row, expectation: Sentence, convert: (String) -> Value?
  ) throws(DermaFusionError) -> Value? {
    guard let text = row.known(column) else { return nil }
    guard let value = convert(text) else {
      throw invalid(column, of: row, value: text, expectation: expectation)
    }
    return value
  }

  /// A cell with a name, as it stands: a file's name may begin or end with blanks.
  package func name(_ column: Column, of row: Row) throws(DermaFusionError) -> String {
    let name = names(column)[row.place]
    guard !name.isEmpty else {
      throw invalid(column, of: row, value: "", expectation: "Please provide an identifier.")
    }
    return name
  }

  package func names(_ column: Column) -> TableNames { TableNames(table: self, column: column) }

  /// A cell breaks a rule that the caller knows.
  package func invalid(
    _ column: Column, of row: Row, value: String, expectation: Sentence
  ) -> DermaFusionError {
    failure("line \(row.line): column '\(column.name)': the value '\(value)' is invalid. \(expectation)")
  }

  package func failure(_ message: Sentence) -> DermaFusionError { Self.failure(path, message) }

  static func failure(_ path: String, _ message: Sentence) -> DermaFusionError {
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
