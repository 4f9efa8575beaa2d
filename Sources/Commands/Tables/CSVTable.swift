/// A table of text as RFC 4180 describes it: commas, or semicolons or tabs where the first line has more of them; quotes doubled inside quoted fields, line breaks inside
/// them, LF or CRLF between rows. Blanks around a field are dropped unless it is quoted. The text is UTF-8, or UTF-16 with a
/// byte-order mark as spreadsheets write it. A byte-order mark is passed over,
/// and so are lines without text, such as the rows of nothing but commas that spreadsheets leave.
package struct CSVTable: Equatable, Sendable {
  package struct Row: Equatable, Sendable {
    /// The line on which the row begins, from 1.
    package let line: Int
    package var fields: [String]
  }

  /// The column names, without blanks around them.
  package let header: [String]
  /// Each with as many fields as the header.
  package let rows: [Row]

  /// - Parameter path: for the messages.
  /// - Throws: ``CSVError`` naming the file, the line and the rule.
  package init(_ bytes: [UInt8], path: String) throws(CSVError) {
    let content = try Self.text(bytes, path: path)

    var scanner = CSVScanner(bytes: content, separator: CSVScanner.separator(of: content), path: path)
    var all = try scanner.rows()
    guard !all.isEmpty else { throw .noHeader(path: path) }
    header = all.removeFirst().fields.map(\.trimmed)
    for row in all where row.fields.count != header.count {
      throw .fieldCount(path: path, line: row.line, count: row.fields.count, expected: header.count)
    }
    rows = all
  }

  /// The text as UTF-8, without a byte-order mark.
  private static func text(_ bytes: [UInt8], path: String) throws(CSVError) -> ArraySlice<UInt8> {
    let isLittleEndian = bytes.starts(with: [0xFF, 0xFE])
    guard isLittleEndian || bytes.starts(with: [0xFE, 0xFF]) else {
      let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
      let content = bytes.starts(with: byteOrderMark) ? bytes[3...] : bytes[...]
      guard String(validating: content, as: UTF8.self) != nil else { throw .notUTF8(path: path) }
      // Valid UTF-8, but of UTF-16 without a mark whose letters are ASCII.
      if let zero = content.firstIndex(of: 0) {
        throw .zeroByte(path: path, line: 1 + content[..<zero].count { $0 == UInt8(ascii: "\n") })
      }
      return content
    }
    let units = stride(from: 2, to: bytes.count - 1, by: 2).map { index in
      let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
      return isLittleEndian ? second << 8 | first : first << 8 | second
    }
    guard bytes.count % 2 == 0, let text = String(validating: units, as: UTF16.self) else {
      throw .notUTF16(path: path)
    }
    return Array(text.utf8)[...]
  }
}

/// The rule that a table broke.
package enum CSVError: Error, Equatable, CustomStringConvertible {
  case notUTF8(path: String)
  case notUTF16(path: String)
  case zeroByte(path: String, line: Int)
  case noHeader(path: String)
  case noRows(path: String)
  case noKnownDiagnosis(path: String, first: String, known: [String])
  case repeatedColumn(path: String, name: String)
  case missingColumn(path: String, name: String, header: [String])
  case fieldCount(path: String, line: Int, count: Int, expected: Int)
  case unterminatedQuote(path: String, line: Int)
  case textAfterQuote(path: String, line: Int)
  case repeatedIdentifier(path: String, line: Int, column: String, identifier: String, firstLine: Int)
  case invalidValue(path: String, line: Int, column: String, value: String, expectation: String)

  package var description: String {
    switch self {
    case .notUTF8(let path): "\(path): the table is not UTF-8 text"
    case .notUTF16(let path): "\(path): the table begins like UTF-16 text but is not UTF-16"
    case .zeroByte(let path, let line):
      "\(path): line \(line): a zero byte, as in UTF-16 text without a byte-order mark. Please save the table as UTF-8."
    case .noHeader(let path): "\(path): the table has no header"
    case .noRows(let path): "\(path): the table has no row below its header"
    case .noKnownDiagnosis(let path, let first, let known):
      "\(path): no row shows one of the model's classes \(known.quotedList); the first shows '\(first)'"
    case .repeatedColumn(let path, let name): "\(path): the column '\(name)' occurs more than once"
    case .missingColumn(let path, let name, let header):
      "\(path): the column '\(name)' is missing; the header has \(header.quotedList)"
    case .fieldCount(let path, let line, let count, let expected):
      "\(path): line \(line): \(count) \(count == 1 ? "field" : "fields"), where the header has \(expected)"
    case .unterminatedQuote(let path, let line): "\(path): line \(line): a quote that is never closed"
    case .textAfterQuote(let path, let line):
      "\(path): line \(line): text between a closing quote and the separator"
    case .repeatedIdentifier(let path, let line, let column, let identifier, let firstLine):
      "\(path): line \(line): the \(column) '\(identifier)' was already on line \(firstLine)"
    case .invalidValue(let path, let line, let column, let value, let expectation):
      "\(path): line \(line): column '\(column)': the value '\(value)' is invalid. \(expectation)"
    }
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
  var line = 1

  mutating func rows() throws(CSVError) -> [CSVTable.Row] {
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

  private mutating func field() throws(CSVError) -> String {
    guard bytes.first == UInt8(ascii: "\"") else {
      let text = bytes.prefix { $0 != separator && !Self.endsLine($0) }
      bytes = bytes.dropFirst(text.count)
      return String(decoding: text, as: UTF8.self).trimmed
    }
    let openingLine = line
    var text: [UInt8] = []
    repeat {
      // Past the opening quote, or past the second of a doubled one.
      bytes.removeFirst()
      let quoted = bytes.prefix { $0 != UInt8(ascii: "\"") }
      bytes = bytes.dropFirst(quoted.count)
      line += quoted.count { $0 == UInt8(ascii: "\n") }
      guard bytes.popFirst() != nil else { throw .unterminatedQuote(path: path, line: openingLine) }
      text += quoted
      if bytes.first == UInt8(ascii: "\"") { text.append(UInt8(ascii: "\"")) }
    } while bytes.first == UInt8(ascii: "\"")
    if let next = bytes.first, next != separator, !Self.endsLine(next) {
      throw .textAfterQuote(path: path, line: line)
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
