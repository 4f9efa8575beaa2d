import SystemModule

extension DermaFusionError.Code {
  /// A table breaks a rule.
  package static let invalidTable = Self("invalidTable")
}

/// A table of text as RFC 4180 describes it: commas, or semicolons or tabs where the first line has more of them; quotes doubled
/// inside quoted fields, line breaks inside them, LF, CRLF or CR between rows. Blanks around a field are dropped unless it is
/// quoted. The text is UTF-8, or UTF-16 with a byte-order mark as spreadsheets write it. A byte-order mark is passed over, and so
/// are lines without text, such as the rows of nothing but commas that spreadsheets leave.
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

  /// - Parameter path: for the messages.
  package init(_ bytes: [UInt8], path: String) throws(DermaFusionError) {
    self.path = path
    let content = try Self.text(bytes, path: path)
    var scanner = CSVScanner(bytes: content, separator: CSVScanner.separator(of: content), path: path)
    var all = try scanner.rows()
    guard !all.isEmpty else { throw Self.failure(path, "the table has no header") }
    header = all.removeFirst().fields.map { $0.trimmed }
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
    var scanner = CSVScanner(bytes: bytes, separator: UInt8(ascii: ","), path: "", keepsBlanks: true)
    guard let rows = try? scanner.rows(), rows.count == 1 else { return nil }
    return rows[0].fields
  }

  /// Whether a cell says that there is no value, as R, pandas and people write it.
  package static func isMissing(_ text: String) -> Bool {
    ["", "na", "nan", "null", "none", "-", "?"].contains(text.lowercased())
  }

  /// The text as UTF-8, without a byte-order mark.
  private static func text(_ bytes: [UInt8], path: String) throws(DermaFusionError) -> ArraySlice<UInt8> {
    let isLittleEndian = bytes.starts(with: [0xFF, 0xFE])
    guard isLittleEndian || bytes.starts(with: [0xFE, 0xFF]) else {
      let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
      let content = bytes.starts(with: byteOrderMark) ? bytes[3...] : bytes[...]
      guard String(validating: content, as: UTF8.self) != nil else {
        throw failure(path, "the table is not UTF-8 text")
      }
      // Valid UTF-8, but of UTF-16 without a mark whose letters are ASCII.
      if let zero = content.firstIndex(of: 0) {
        let line = 1 + content[..<zero].count { $0 == UInt8(ascii: "\n") }
        throw failure(
          path,
          "line \(line): a zero byte, as in UTF-16 text without a byte-order mark. Please save the table as UTF-8."
        )
      }
      return content
    }
    let units = stride(from: 2, to: bytes.count - 1, by: 2).map { index in
      let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
      return isLittleEndian ? second << 8 | first : first << 8 | second
    }
    guard bytes.count % 2 == 0, let text = String(validating: units, as: UTF16.self) else {
      throw failure(path, "the table begins like UTF-16 text but is not UTF-16")
    }
    return Array(text.utf8)[...]
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

  /// A cell with a name, as it stands: a file's name may begin with a blank.
  package func name(_ column: Column, of row: Row) throws(DermaFusionError) -> String {
    guard !row[column].isEmpty else {
      throw invalid(column, of: row, value: "", expectation: "Please provide an identifier.")
    }
    return row.fields[column.index]
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

  fileprivate static func failure(_ path: String, _ message: String) -> DermaFusionError {
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

/// Splits bytes into rows and fields. Every character that matters is ASCII, which UTF-8 never hides inside
/// another character.
private struct CSVScanner {
  var bytes: ArraySlice<UInt8>
  /// Between two fields.
  let separator: UInt8
  let path: String
  /// Whether blanks around a field without quotes are part of it.
  var keepsBlanks = false
  private var line = 1

  init(bytes: ArraySlice<UInt8>, separator: UInt8, path: String, keepsBlanks: Bool = false) {
    self.bytes = bytes
    self.separator = separator
    self.path = path
    self.keepsBlanks = keepsBlanks
  }

  mutating func rows() throws(DermaFusionError) -> [CSVTable.Row] {
    var rows: [CSVTable.Row] = []
    while !bytes.isEmpty {
      var row = CSVTable.Row(line: line, fields: [])
      repeat { row.fields.append(try field()) } while take(separator)
      let isBlank = row.fields.allSatisfy {
        $0.utf8.allSatisfy { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
      }
      if !isBlank { rows.append(row) }
      endLine()
    }
    return rows
  }

  private mutating func field() throws(DermaFusionError) -> String {
    guard bytes.first == UInt8(ascii: "\"") else {
      let text = bytes.prefix { $0 != separator && !Self.endsLine($0) }
      bytes = bytes.dropFirst(text.count)
      let field = String(decoding: text, as: UTF8.self)
      return keepsBlanks ? field : field.trimmed
    }
    let openingLine = line
    var text: [UInt8] = []
    repeat {
      // Past the opening quote, or past the second of a doubled one.
      bytes.removeFirst()
      let quoted = bytes.prefix { $0 != UInt8(ascii: "\"") }
      bytes = bytes.dropFirst(quoted.count)
      line += quoted.count { $0 == UInt8(ascii: "\n") }
      guard bytes.popFirst() != nil else {
        throw CSVTable.failure(path, "line \(openingLine): a quote that is never closed")
      }
      text += quoted
      if bytes.first == UInt8(ascii: "\"") { text.append(UInt8(ascii: "\"")) }
    } while bytes.first == UInt8(ascii: "\"")
    if let next = bytes.first, next != separator, !Self.endsLine(next) {
      throw CSVTable.failure(path, "line \(line): text between a closing quote and the separator")
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Of a comma, a semicolon and a tab the one that the first line with text has most of, outside of quotes; of as many the
  /// first of them.
  static func separator(of content: ArraySlice<UInt8>) -> UInt8 {
    let candidates = [",", ";", "\t"].map { UInt8(ascii: $0) }
    var counts = [0, 0, 0]
    var (isQuoted, hasText) = (false, false)
    for byte in content {
      if !isQuoted, endsLine(byte) {
        if hasText { break }
        counts = [0, 0, 0]
      } else if byte == UInt8(ascii: "\"") {
        isQuoted.toggle()
      } else if !isQuoted, let index = candidates.firstIndex(of: byte) {
        counts[index] += 1
      } else {
        hasText = hasText || byte != UInt8(ascii: " ")
      }
    }
    let most = counts.max() ?? 0
    return candidates[counts.firstIndex(of: most) ?? 0]
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard bytes.first == byte else { return false }
    bytes.removeFirst()
    return true
  }

  private mutating func endLine() {
    _ = take(UInt8(ascii: "\r"))
    _ = take(UInt8(ascii: "\n"))
    line += 1
  }

  private static func endsLine(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
  }
}
