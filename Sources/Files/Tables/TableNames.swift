import SystemModule

/// The names in a column of a table, one for each row. An empty one names nothing.
package struct TableNames: RandomAccessCollection, Sendable {
  fileprivate let table: CSVTable
  fileprivate let column: CSVTable.Column

  init(table: CSVTable, column: CSVTable.Column) {
    self.table = table
    self.column = column
  }

  package var startIndex: Int { 0 }
  package var endIndex: Int { table.rows.count }

  /// A name as it stands: a file's name may begin or end with blanks.
  package subscript(row: Int) -> String { String(decoding: bytes(row), as: UTF8.self) }

  package func bytes(_ row: Int) -> ArraySlice<UInt8> {
    let bytes = table.cell(column, ofRow: row)
    if table.marksNames { return Array(CSVCell.original(String(decoding: bytes, as: UTF8.self)).utf8)[...] }
    // A spreadsheet's formula for a text, as people write it to keep a long number: ="39089837499752854"
    let isFormula = bytes.count > 3 && bytes.starts(with: [0x3D, 0x22]) && bytes.last == 0x22
    return isFormula ? bytes.dropFirst(2).dropLast() : bytes
  }

  package var columnName: String { column.name }

  package func failure(_ message: Sentence) -> DermaFusionError { table.failure(message) }

  /// The line on which a row begins, from 1.
  package func line(ofRow row: Int) -> Int { table.rows[row].line }

  /// True if a row names no image: its cell is blank, or says that there is no value. A file of such a name is found all the same.
  /// The tables of `classify` name an image in each row.
  package func isNothing(_ row: Int) -> Bool { isNothing(bytes(row)) }

  private func isNothing(_ name: ArraySlice<UInt8>) -> Bool {
    guard !table.marksNames else { return false }
    return name.allSatisfy { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
      || (name.count <= 4 && CSVTable.isMissing(String(decoding: name, as: UTF8.self)))
  }

  /// - Returns: how many rows name nothing.
  /// - Throws: if a name occurs twice.
  package func requireUnique() throws(DermaFusionError) -> Int {
    // By bytes: strings are equal too where they only look the same.
    var index = ByteIndex(capacity: count)
    var namelessCount = 0
    for row in indices {
      let name = bytes(row)
      if isNothing(name) {
        namelessCount += 1
      } else if let first = index.insert(row, name, bytes: bytes) {
        let hint: Sentence = LongNumber(name) == nil ? Sentence("") : ". \(LongNumber.hint)"
        throw table.failure(
          "line \(line(ofRow: row)): the \(column.name) '\(self[row])' was already on line \(line(ofRow: first))\(hint)"
        )
      }
    }
    return namelessCount
  }
}

/// Finds numbers by the bytes that belong to them, of which it keeps no copy: four bytes or fewer for each number.
package struct ByteIndex: Sendable {
  /// A number plus one, and above it some bits of the bytes' hash; 0 if free.
  private var slots: [UInt32]
  private let numberBits: Int

  /// - Parameter capacity: how many numbers it may take, from 0.
  package init(capacity: Int) {
    precondition(capacity < 1 << 30, "an index for \(capacity) numbers, fewer than \(1 << 30)")
    numberBits = UInt32.bitWidth - UInt32(capacity).leadingZeroBitCount
    var size = 4
    while size < capacity + capacity / 2 { size *= 2 }
    slots = [UInt32](repeating: 0, count: size)
  }

  /// Takes a number that is below the capacity.
  ///
  /// - Parameter bytes: those of a number that was taken before.
  /// - Returns: a number of the same bytes that was there before; then this one is not taken.
  package mutating func insert(
    _ number: Int, _ key: ArraySlice<UInt8>, bytes: (Int) -> ArraySlice<UInt8>
  ) -> Int? {
    let (slot, found) = find(key, bytes: bytes)
    if found == nil { slots[slot.place] = slot.tag | UInt32(number + 1) }
    return found
  }

  package func number(
    of key: ArraySlice<UInt8>, bytes: (Int) -> ArraySlice<UInt8>
  ) -> Int? { find(key, bytes: bytes).number }

  private func find(
    _ key: ArraySlice<UInt8>, bytes: (Int) -> ArraySlice<UInt8>
  ) -> (slot: (place: Int, tag: UInt32), number: Int?) {
    var hasher = Hasher()
    unsafe key.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    let hash = UInt(bitPattern: hasher.finalize())
    // The upper bits: the lower ones are the place.
    let tag = UInt32(truncatingIfNeeded: hash >> UInt(UInt.bitWidth * 5 / 8)) << UInt32(numberBits)
    var place = Int(hash & UInt(slots.count - 1))
    while slots[place] != 0 {
      let number = Int(slots[place] & ~(UInt32.max << UInt32(numberBits))) - 1
      if slots[place] ^ tag < 1 << UInt32(numberBits), bytes(number) == key { return ((place, tag), number) }
      place = (place + 1) & (slots.count - 1)
    }
    return ((place, tag), nil)
  }
}
