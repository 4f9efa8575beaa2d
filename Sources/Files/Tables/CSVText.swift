import SystemModule

enum CSVText {
  /// The text as UTF-8, without a byte-order mark, and notes on how it was read.
  static func read(
    _ bytes: [UInt8], path: String
  ) throws(DermaFusionError) -> (text: ArraySlice<UInt8>, notes: [Sentence]) {
    if let kind = otherFiles.first(where: { bytes.starts(with: $0.start) })?.kind {
      throw CSVTable.failure(path, "this is \(kind), and not a table of text. Please save it as CSV.")
    }
    let isLittleEndian = bytes.starts(with: [0xFF, 0xFE])
    if isLittleEndian || bytes.starts(with: [0xFE, 0xFF]) {
      return (try utf16(bytes, isLittleEndian: isLittleEndian, path: path)[...], [])
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

  /// Files that people give in a table's place, by their first bytes: Zip archives, OLE 2 documents, gzip and Parquet.
  private static let otherFiles: [(start: [UInt8], kind: Sentence)] = [
    ([0x50, 0x4B, 0x03, 0x04], "an Excel workbook or another zipped file"),
    ([0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1], "an old Excel workbook"),
    ([0x1F, 0x8B], "a file packed by gzip"), ([0x50, 0x41, 0x52, 0x31], "a Parquet file"),
  ]

  private static func line(of place: Int, in bytes: ArraySlice<UInt8>) -> Int {
    1 + bytes[..<place].count { $0 == UInt8(ascii: "\n") }
  }

  private static func utf16(
    _ bytes: [UInt8], isLittleEndian: Bool, path: String
  ) throws(DermaFusionError) -> [UInt8] {
    let units = stride(from: 2, to: bytes.count - 1, by: 2).lazy.map { index in
      let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
      return isLittleEndian ? second << 8 | first : first << 8 | second
    }
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count)
    let isDamaged = transcode(
      units.makeIterator(), from: UTF16.self, to: UTF8.self, stoppingOnError: true, into: { text.append($0) })
    guard bytes.count % 2 == 0, !isDamaged else {
      throw CSVTable.failure(path, "the table begins like UTF-16 text but is not UTF-16")
    }
    return text
  }

  private static func windows1252(
    _ bytes: ArraySlice<UInt8>, path: String
  ) throws(DermaFusionError) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(bytes.reduce(0) { $0 + ($1 < 0x80 ? 1 : $1 < 0xA0 ? 3 : 2) })
    for (place, byte) in zip(bytes.indices, bytes) {
      let isControl = byte < 0x20 && ![0x09, 0x0A, 0x0D].contains(byte)
      let scalar = (0x80..<0xA0).contains(byte) ? upperControls[Int(byte) - 0x80] : UInt32(byte)
      guard !isControl, scalar != 0, let scalar = Unicode.Scalar(scalar) else {
        throw CSVTable.failure(
          path,
          "line \(line(of: place, in: bytes)): the byte 0x\(String(byte, radix: 16)) is neither UTF-8 nor Windows-1252 text. Please save the table as UTF-8."
        )
      }
      text.append(contentsOf: UTF8.encode(scalar)!)
    }
    return text
  }

  /// The scalars of 0x80 to 0x9F, 0 where there is none.
  private static let upperControls: [UInt32] = [
    0x20AC, 0, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0,
    0x017D, 0, 0, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A,
    0x0153, 0, 0x017E, 0x0178,
  ]
}
