import Files
import SystemModule
import Testing

@Suite struct CSVTableTests {
  func table(_ text: String) throws(DermaFusionError) -> CSVTable {
    try CSVTable(Array(text.utf8), path: "t.csv")
  }

  @Test func quotesCommasAndLineBreaksInsideQuotesAreText() throws {
    let table = try table("a,b\n\"x,\"\"y\"\"\",\"two\nlines\"\n1,\n")
    #expect(table.header == ["a", "b"])
    #expect(table.rows.map(\.fields) == [["x,\"y\"", "two\nlines"], ["1", ""]])
    #expect(table.rows.map(\.line) == [2, 4])
  }

  @Test func lineEndingsAndTheByteOrderMarkMakeNoDifference() throws {
    for text in ["a,b\n1,2\n3,4\n", "a,b\r\n1,2\r\n3,4\r\n", "\u{FEFF}a,b\n1,2\n3,4", "a,b\r\n1,2\r\n3,4"] {
      let table = try table(text)
      #expect(table.header == ["a", "b"], "\(text)")
      #expect(table.rows.map(\.fields) == [["1", "2"], ["3", "4"]], "\(text)")
      #expect(table.rows.map(\.line) == [2, 3], "\(text)")
    }
  }

  @Test func emptyLinesArePassedOverButCounted() throws {
    let table = try table("a,b\n\n1,2\n\r\n3,4\n\n")
    #expect(table.rows.map(\.line) == [3, 5])
  }

  @Test func rowsOfNothingButCommasArePassedOver() throws {
    let table = try table(",,\na,b\n,\n1,2\n,,,\r\n\"\",\"\"\n,2\n,\n , \t\n")
    #expect(table.header == ["a", "b"])
    #expect(table.rows.map(\.fields) == [["1", "2"], ["", "2"]])
    #expect(table.rows.map(\.line) == [4, 7])
  }

  /// A file's name may begin or end with a blank; values and columns do not.
  @Test func blanksArePartOfNames() throws {
    let table = try table("id , age\n a\t, 5 \n\" a\",\" 6 \"\n\"  \",7\n")
    let (id, age) = (try table.column("id"), try table.column("age"))
    #expect(try table.rows.map { try table.name(id, of: $0) } == [" a\t", " a", "  "])
    #expect(table.rows.map { $0[age] } == ["5", "6", "7"])
    for name in [" a", "a ", " ", "a"] {
      let row = try self.table("id,age\n\(CSVCell.text(name)),5\n")
      #expect(try row.name(row.column("id"), of: row.rows[0]) == name)
    }
    #expect(CSVCell.text("a ") == "\"a \"" && CSVCell.text("a b") == "a b")
  }

  /// The first line that spreadsheets of other languages write.
  @Test func theLineOfTheSeparatorIsObeyed() throws {
    for start in ["sep=;", "SEP=;", "\u{FEFF}sep=;", "\"sep=;\"", "sep=;;"] {
      let table = try table("\(start)\r\na,b;c\r\n1,5;2\r\n")
      #expect(table.header == ["a,b", "c"] && table.rows.map(\.fields) == [["1,5", "2"]], "\(start)")
      #expect(table.rows[0].line == 3 && table.notes == [])
    }
    // Without a separator it is a name.
    #expect(try table("sep=,b\n1,2\n").header == ["sep=", "b"])
  }

  /// As R's `write.table` writes them.
  @Test func blanksSeparateAndRowsMayHaveNames() throws {
    let tables = [
      "\"id\" \"age\"\n\"1\" \"a b\" 5\n\"7\" \"c\" NA\n", "id age\n1 \"a b\" 5\n7 c NA\n",
      "\"id\",\"age\"\n\"1\",\"a b\",5\n\"7\",\"c\",NA\n",
    ]
    for text in tables {
      let table = try table(text)
      #expect(table.header == ["", "id", "age"], "\(text)")
      let (id, age) = (try table.column("id"), try table.column("age"))
      #expect(
        Array(table.names(id)) == ["a b", "c"] && table.rows.map { $0[age] } == ["5", "NA"], "\(text)")
    }
    #expect(try table("id age\na 5\n").rows.map(\.fields) == [["a", "5"]])
    #expect(try table("image name\nmy photo\n").header == ["image name"])
    #expect(try table("id\na b\n").rows.map(\.fields) == [["a b"]])
    // A field too many, as a comma in a number is.
    for text in ["id,age\n1,55,5\n", "id site\na upper back\n", "id,age\n\"a\",1\n\"b\",55,5\n"] {
      #expect(throws: DermaFusionError.self, "\(text)") { try self.table(text) }
    }
  }

  @Test func linesAreCountedBehindBlankOnesAndBreaksInQuotes() throws {
    let table = try table("a,b\n1,2\n\n\n3,\"x\ny\"\n4,5\n6,7\n\n8,9\n")
    #expect(table.rows.map(\.line) == [2, 5, 7, 8, 10])
  }

  @Test func otherTextIsReadAsWindows1252() throws {
    // 0x80 is the euro sign, 0xFC ü, 0x93 and 0x94 quotes.
    let table = try CSVTable(
      Array("a,b\n".utf8) + [0x80, 0xFC, 0x2C, 0x93, 0x94, 0x0A], path: "t.csv")
    #expect(table.rows.map(\.fields) == [["\u{20AC}\u{FC}", "\u{201C}\u{201D}"]])
    #expect(
      table.notes.count == 1
        && table.notes[0].description.hasPrefix("t.csv is not UTF-8 text and was read as"))
    #expect(try self.table("a\n\u{FC}\n").notes == [])
  }

  @Test func columnsThatNobodyAskedForMayHaveAnyName() throws {
    let table = try table("x,a,x,b,\n1,2,3,4,5\n")
    let row = table.rows[0]
    #expect(try row[table.column("a")] == "2" && row[table.column("b")] == "4")
  }

  @Test func everyRuleHasItsError() {
    func expect(
      _ message: String, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
    ) {
      let error = #expect(throws: DermaFusionError.self, sourceLocation: sourceLocation, performing: body)
      #expect(error?.message == message, sourceLocation: sourceLocation)
      #expect(error?.code == .invalidTable, sourceLocation: sourceLocation)
    }
    expect("t.csv: the table has no header") { _ = try table("") }
    expect("t.csv: the table has no header") { _ = try table("\n\n") }
    expect("t.csv: the column 'a' occurs more than once") { _ = try table("a,b,a\n").column("a") }
    expect("t.csv: the column 'c' is missing; the header has 'a', 'b'") { _ = try table("a,b\n").column("c") }
    expect("t.csv: line 3: 3 fields, where the header has 2") { _ = try table("a,b\n1,2\n1,2,3\n") }
    expect("t.csv: line 2: 1 field, where the header has 2") { _ = try table("a,b\n1\n") }
    expect("t.csv: line 2: a quote that is never closed") { _ = try table("a,b\n\"1,2\n3,4\n") }
    expect("t.csv: line 2: text between a closing quote and the separator") {
      _ = try table("a,b\n\"1\"x,2\n")
    }
    // No letter of Windows-1252, a control character beside one, and a picture.
    for (byte, place) in [(0x81, 2), (0x07, 2)] {
      let bytes: [UInt8] = [0x61, 0x0A, 0xFF, UInt8(byte)]
      expect(
        "t.csv: line \(place): the byte 0x\(String(byte, radix: 16)) is neither UTF-8 nor Windows-1252 text. Please save the table as UTF-8."
      ) { _ = try CSVTable(bytes, path: "t.csv") }
    }
  }

  @Test func aRowIsReadAsItStands() {
    func fields(_ text: String) -> [String]? { CSVTable.fields(ofRow: Array(text.utf8)[...]) }
    #expect(fields(" a ,\"b,\nc\",\n") == [" a ", "b,\nc", ""])
    for text in ["", "a\nb\n", "\"a", "\"a\"b"] { #expect(fields(text) == nil, "\(text)") }
  }
}
