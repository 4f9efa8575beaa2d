import SystemModule

/// Finds rows and fields in bytes. Every character that matters is ASCII, which UTF-8 never hides inside another character.
struct CSVScanner {
  /// A field's place in the bytes, without the quotes around it.
  struct Field {
    let range: Range<Int>
    /// True if quotes inside it are written twice.
    var isDoubled = false
  }

  let bytes: ArraySlice<UInt8>
  /// Between two fields.
  let separator: UInt8
  let path: String
  /// In the bytes.
  private(set) var place: Int
  /// From 1.
  private(set) var line = 1

  /// - Parameter place: where to begin; at the first byte if nil.
  init(bytes: ArraySlice<UInt8>, separator: UInt8, path: String = "", place: Int? = nil) {
    self.bytes = bytes
    self.separator = separator
    self.path = path
    self.place = place ?? bytes.startIndex
  }

  /// The scanner of a whole table, which tells what separates its fields.
  init(bytes: ArraySlice<UInt8>, path: String) {
    let first = bytes.prefix { !Self.endsLine($0) }
    if let separator = Self.separator(markedBy: first) {
      self.init(bytes: bytes, separator: separator, path: path)
      place = first.endIndex
      endLine()
    } else {
      self.init(bytes: bytes, separator: Self.separator(of: bytes), path: path)
    }
  }

  var isAtEnd: Bool { place == bytes.endIndex }

  /// The separator that a first line such as `sep=;` names, also with the quotes and the empty cells behind it that a spreadsheet
  /// adds where it writes the line as a row.
  private static func separator(markedBy line: ArraySlice<UInt8>) -> UInt8? {
    let start = Array("sep=".utf8)
    // Nobody writes a longer one.
    guard line.count < 4096 else { return nil }
    let text = line.filter { $0 != UInt8(ascii: "\"") }
    guard text.count >= 5, text.prefix(4).map({ $0 | 0x20 }) == start.map({ $0 | 0x20 }),
      text[4...].allSatisfy({ $0 == text[4] })
    else { return nil }
    return text[4]
  }

  /// The number of the next row's fields, 0 if none has text, with ``place`` behind its end.
  mutating func passRow() throws(DermaFusionError) -> Int {
    var (count, hasText) = (0, false)
    repeat {
      let field = try field()
      count += 1
      hasText =
        hasText || bytes[field.range].contains { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
    } while takeSeparator()
    endLine()
    return hasText ? count : 0
  }

  /// The next row's fields as texts.
  mutating func fields() throws(DermaFusionError) -> [String] {
    var fields: [String] = []
    repeat { fields.append(text(of: try field())) } while takeSeparator()
    endLine()
    return fields
  }

  mutating func field() throws(DermaFusionError) -> Field {
    guard !isAtEnd, bytes[place] == UInt8(ascii: "\"") else {
      let start = place
      while !isAtEnd, bytes[place] != separator, !Self.endsLine(bytes[place]) { place += 1 }
      return Field(range: start..<place)
    }
    let (openingLine, start) = (line, place + 1)
    var isDoubled = false
    while true {
      // Past the opening quote, or past the second of a doubled one.
      place += 1
      while !isAtEnd, bytes[place] != UInt8(ascii: "\"") {
        if bytes[place] == UInt8(ascii: "\n") { line += 1 }
        place += 1
      }
      guard !isAtEnd else {
        throw CSVTable.failure(path, "line \(openingLine): a quote that is never closed")
      }
      place += 1
      guard !isAtEnd, bytes[place] == UInt8(ascii: "\"") else { break }
      isDoubled = true
    }
    if !isAtEnd, bytes[place] != separator, !Self.endsLine(bytes[place]) {
      throw CSVTable.failure(path, "line \(line): text between a closing quote and the separator")
    }
    return Field(range: start..<(place - 1), isDoubled: isDoubled)
  }

  /// A field's bytes, with one quote for two.
  func content(of field: Field) -> ArraySlice<UInt8> {
    guard field.isDoubled else { return bytes[field.range] }
    var (content, isAfterQuote): ([UInt8], Bool) = ([], false)
    for byte in bytes[field.range] {
      isAfterQuote = byte == UInt8(ascii: "\"") && !isAfterQuote
      // The second of two.
      if byte == UInt8(ascii: "\""), !isAfterQuote { continue }
      content.append(byte)
    }
    return content[...]
  }

  func text(of field: Field) -> String { String(decoding: content(of: field), as: UTF8.self) }

  /// The separator of a table without a line that names it: the one of a comma, a semicolon and a tab that the first line with text has most of, outside of quotes,
  /// the first of them if it has as many of several; or a blank.
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
    guard let most = counts.max(), most > 0, let place = counts.firstIndex(of: most) else {
      return isSeparatedByBlanks(content) ? UInt8(ascii: " ") : candidates[0]
    }
    return candidates[place]
  }

  /// True if the first row below the header has the header's number of words, or one more: R's `write.table` gives the names of
  /// the rows no name.
  private static func isSeparatedByBlanks(_ content: ArraySlice<UInt8>) -> Bool {
    var scanner = CSVScanner(bytes: content, separator: UInt8(ascii: " "))
    func count() -> Int? {
      while !scanner.isAtEnd {
        guard let count = try? scanner.passRow() else { return nil }
        if count > 0 { return count }
      }
      return nil
    }
    guard let header = count(), header > 1, let row = count() else { return false }
    // A column of this name alone.
    let isImageName = String(decoding: content.prefix(10), as: UTF8.self).lowercased() == "image name"
    return (row == header && !(isImageName && header == 2)) || row == header + 1
  }

  mutating func takeSeparator() -> Bool { take(separator) }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard !isAtEnd, bytes[place] == byte else { return false }
    place += 1
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
