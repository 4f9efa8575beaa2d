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
    let plain = try table("a,b\n1,2\n3,4\n")
    #expect(try table("a,b\r\n1,2\r\n3,4\r\n") == plain)
    #expect(try table("\u{FEFF}a,b\n1,2\n3,4") == plain)
    #expect(try table("a,b\r\n1,2\r\n3,4") == plain)
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

  /// A file's name may begin with a blank, which only quotes tell from one that makes a table pretty.
  @Test func blanksOfNamesAreKeptInsideQuotes() throws {
    let table = try table("id , age\n a\t, 5 \n\" a\",\" 6 \"\n\"  \",7\n")
    let (id, age) = (try table.column("id"), try table.column("age"))
    #expect(try table.rows[..<2].map { try table.name(id, of: $0) } == ["a", " a"])
    #expect(table.rows.map { $0[age] } == ["5", "6", "7"])
    #expect(throws: DermaFusionError.self) { try table.name(id, of: table.rows[2]) }
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
    expect("t.csv: the table is not UTF-8 text") { _ = try CSVTable([0x61, 0xFF, 0x0A], path: "t.csv") }
  }

  @Test func aRowIsReadAsItStands() {
    func fields(_ text: String) -> [String]? { CSVTable.fields(ofRow: Array(text.utf8)[...]) }
    #expect(fields(" a ,\"b,\nc\",\n") == [" a ", "b,\nc", ""])
    for text in ["", "a\nb\n", "\"a", "\"a\"b"] { #expect(fields(text) == nil, "\(text)") }
  }
}
