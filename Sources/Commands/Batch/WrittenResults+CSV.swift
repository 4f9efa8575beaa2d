import DermaFusion
import SystemModule

extension WrittenResults {
  mutating func readTable(
    _ bytes: [UInt8], header: String, images: [String], model: ModelIdentity
  ) throws(DermaFusionError) {
    let headerBytes = Array(header.utf8)
    guard bytes.starts(with: headerBytes) else {
      // Interrupted before the first result.
      if headerBytes.starts(with: bytes) { return }
      throw failure(1, "has other columns than this batch")
    }
    byteCount = headerBytes.count
    var reader = WrittenRows(bytes: bytes, place: headerBytes.count, line: 2)
    let names = WrittenRows.cells(ofHeader: header)
    let wanted = ["image", "modelSHA256", "age", "sex", "site"]
    let places = wanted.compactMap(names.firstIndex)
    precondition(places.count == wanted.count, "of \(wanted) the header has \(places.count): \(header)")
    while let row = reader.next() {
      switch row {
      case .unfinished:
        return try requireTornResult(
          bytes[byteCount...], line: reader.line, images: images, start: ClassificationCSV.start)
      case .whole(let cells) where cells.count == names.count:
        let (image, hash) = (CSVCell.original(cells[places[0]]), cells[places[1]])
        if hash != model.sha256 { throw failure(reader.line, "is of another model") }
        let age = cells[places[2]]
        guard age.isEmpty || Double(age) != nil,
          let metadata = Self.metadata(age: Double(age), sex: cells[places[3]], site: cells[places[4]])
        else { throw failure(reader.line, "has no age, sex and site of a result") }
        add(Result(line: reader.line, metadata: metadata), image: image, end: reader.place)
      case .whole, .malformed:
        throw failure(reader.line, "is not a row of this command's table")
      }
    }
  }
}

/// Reads rows as ``ClassificationCSV`` writes them, and nothing else: commas between cells, quotes around those that need them,
/// a line feed behind each row. Each byte is looked at once.
private struct WrittenRows {
  enum Row {
    case whole([String])
    /// The text ends inside it.
    case unfinished
    case malformed
  }

  let bytes: [UInt8]
  /// Where the next row begins.
  var place: Int
  /// The line on which the last row begins, from 1.
  private(set) var line: Int
  private var nextLine: Int

  init(bytes: [UInt8], place: Int, line: Int) {
    self.bytes = bytes
    self.place = place
    self.line = line
    nextLine = line
  }

  static func cells(ofHeader header: String) -> [String] {
    var reader = WrittenRows(bytes: Array(header.utf8), place: 0, line: 1)
    guard case .whole(let cells) = reader.next() else { preconditionFailure("not a row: \(header)") }
    return cells
  }

  /// nil at the end.
  mutating func next() -> Row? {
    if place == bytes.count { return nil }
    line = nextLine
    var cells: [String] = []
    while true {
      guard let cell = cell() else { return .malformed }
      guard place < bytes.count else { return .unfinished }
      guard let text = String(validating: cell, as: UTF8.self) else { return .malformed }
      cells.append(text)
      defer { place += 1 }
      if bytes[place] == UInt8(ascii: "\n") {
        nextLine += 1
        return .whole(cells)
      }
    }
  }

  /// The bytes of a cell, which a comma, a line feed or the end follows; nil where it is not written so.
  private mutating func cell() -> [UInt8]? {
    guard place < bytes.count, bytes[place] == UInt8(ascii: "\"") else {
      let start = place
      while place < bytes.count {
        switch bytes[place] {
        case UInt8(ascii: ","), UInt8(ascii: "\n"): return Array(bytes[start..<place])
        case UInt8(ascii: "\""), UInt8(ascii: "\r"): return nil
        default: place += 1
        }
      }
      return []
    }
    var content: [UInt8] = []
    place += 1
    while place < bytes.count {
      let byte = bytes[place]
      place += 1
      if byte == UInt8(ascii: "\n") { nextLine += 1 }
      guard byte == UInt8(ascii: "\"") else {
        content.append(byte)
        continue
      }
      guard place < bytes.count else { break }
      switch bytes[place] {
      case UInt8(ascii: ","), UInt8(ascii: "\n"): return content
      case UInt8(ascii: "\""):
        content.append(byte)
        place += 1
      default: return nil
      }
    }
    return []
  }
}
