import SystemModule

/// The text of a table.
enum CSVText {
  /// The text as UTF-8, without a byte-order mark, and what a person should know of how it was read.
  static func read(
    _ bytes: [UInt8], path: String
  ) throws(DermaFusionError) -> (text: ArraySlice<UInt8>, notes: [String]) {
    let isLittleEndian = bytes.starts(with: [0xFF, 0xFE])
    if isLittleEndian || bytes.starts(with: [0xFE, 0xFF]) {
      let units = stride(from: 2, to: bytes.count - 1, by: 2).map { index in
        let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
        return isLittleEndian ? second << 8 | first : first << 8 | second
      }
      guard bytes.count % 2 == 0, let text = String(validating: units, as: UTF16.self) else {
        throw CSVTable.failure(path, "the table begins like UTF-16 text but is not UTF-16")
      }
      return (Array(text.utf8)[...], [])
    }
    let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
    let content = bytes.starts(with: byteOrderMark) ? bytes[3...] : bytes[...]
    // Valid UTF-8 too, but of UTF-16 without a mark whose letters are ASCII.
    if let zero = content.firstIndex(of: 0) {
      throw CSVTable.failure(
        path,
        "line \(line(of: zero, in: content)): a zero byte, as in UTF-16 text without a byte-order mark. Please save the table as UTF-8."
      )
    }
    if String(validating: content, as: UTF8.self) != nil { return (content, []) }
    return (
      try windows1252(content, path: path)[...],
      ["\(path) is not UTF-8 text and was read as Windows-1252, as spreadsheets save it in Western Europe."]
    )
  }

  private static func line(of place: Int, in bytes: ArraySlice<UInt8>) -> Int {
    1 + bytes[..<place].count { $0 == UInt8(ascii: "\n") }
  }

  private static func windows1252(
    _ bytes: ArraySlice<UInt8>, path: String
  ) throws(DermaFusionError) -> [UInt8] {
    var text = String.UnicodeScalarView()
    for (place, byte) in zip(bytes.indices, bytes) {
      let isControl = byte < 0x20 && ![0x09, 0x0A, 0x0D].contains(byte)
      let scalar = (0x80..<0xA0).contains(byte) ? upperControls[Int(byte) - 0x80] : UInt32(byte)
      guard !isControl, scalar != 0, let scalar = Unicode.Scalar(scalar) else {
        throw CSVTable.failure(
          path,
          "line \(line(of: place, in: bytes)): the byte 0x\(String(byte, radix: 16)) is neither UTF-8 nor Windows-1252 text. Please save the table as UTF-8."
        )
      }
      text.append(scalar)
    }
    return Array(String(text).utf8)
  }

  /// The scalars of 0x80 to 0x9F, 0 where there is none.
  private static let upperControls: [UInt32] = [
    0x20AC, 0, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0,
    0x017D, 0, 0, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A,
    0x0153, 0, 0x017E, 0x0178,
  ]
}

/// Splits bytes into rows and fields. Every character that matters is ASCII, which UTF-8 never hides inside
/// another character.
struct CSVScanner {
  var bytes: ArraySlice<UInt8>
  /// Between two fields.
  let separator: UInt8
  let path: String
  private var line = 1

  init(bytes: ArraySlice<UInt8>, separator: UInt8, path: String) {
    self.bytes = bytes
    self.separator = separator
    self.path = path
  }

  /// Of a whole table, which tells what separates its fields.
  init(bytes: ArraySlice<UInt8>, path: String) {
    let first = bytes.prefix { !Self.endsLine($0) }
    if let separator = Self.separator(markedBy: first) {
      self.init(bytes: bytes.dropFirst(first.count), separator: separator, path: path)
      endLine()
    } else {
      self.init(bytes: bytes, separator: Self.separator(of: bytes), path: path)
    }
  }

  /// What a first line such as `sep=;` names, also with the quotes and the empty cells behind it that a spreadsheet adds where it
  /// writes the line as a row.
  private static func separator(markedBy line: ArraySlice<UInt8>) -> UInt8? {
    let text = line.filter { $0 != UInt8(ascii: "\"") }
    guard text.count >= 5, text.prefix(4).map({ $0 | 0x20 }) == Array("sep=".utf8).map({ $0 | 0x20 }),
      text[4...].allSatisfy({ $0 == text[4] })
    else { return nil }
    return text[4]
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
      return String(decoding: text, as: UTF8.self)
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
