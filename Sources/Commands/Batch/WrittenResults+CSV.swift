import DermaFusion
import Files
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
    let names = CSVTable.fields(ofRow: headerBytes[...]) ?? []
    let wanted = ["image", "modelSHA256", "age", "sex", "site"]
    let places = wanted.compactMap(names.firstIndex)
    precondition(places.count == wanted.count, "of \(wanted) the header has \(places.count): \(header)")
    var line = 2
    while let end = Self.rowEnd(bytes[byteCount...]) {
      let row = bytes[byteCount..<end]
      // Each byte is as this command writes it.
      guard let cells = CSVTable.fields(ofRow: row)?.map(CSVCell.original), cells.count == names.count,
        row.elementsEqual(ClassificationCSV.line(cells).utf8)
      else { throw failure(line, "is not a row of this command's table") }
      if cells[places[1]] != model.sha256 { throw failure(line, "is of another model") }
      let age = cells[places[2]]
      guard age.isEmpty || Double(age) != nil,
        let metadata = Self.metadata(age: Double(age), sex: cells[places[3]], site: cells[places[4]])
      else { throw failure(line, "has no age, sex and site of a result") }
      add(Result(line: line, metadata: metadata), image: cells[places[0]], end: end)
      line += row.count { $0 == UInt8(ascii: "\n") }
    }
    try requireTornResult(bytes[byteCount...], line: line, images: images, start: ClassificationCSV.start)
  }

  /// Behind the first line feed outside of quotes; nil where there is none.
  private static func rowEnd(_ bytes: ArraySlice<UInt8>) -> Int? {
    var isQuoted = false
    for (index, byte) in zip(bytes.indices, bytes) {
      if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
      if byte == UInt8(ascii: "\n"), !isQuoted { return index + 1 }
    }
    return nil
  }
}
