import Testing

@testable import Commands

@Suite struct CSVTableTests {
  func table(_ text: String) throws(CSVError) -> CSVTable { try CSVTable(Array(text.utf8), path: "t.csv") }

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
    let columns = try table.columns(["id", "age"], path: "t.csv")
    #expect(try table.rows[..<2].map { try columns.identifier("id", of: $0) } == ["a", " a"])
    #expect(table.rows.map { columns.text("age", of: $0) } == ["5", "6", "7"])
    #expect(throws: CSVError.self) { try columns.identifier("id", of: table.rows[2]) }
  }

  @Test func columnsThatNobodyAskedForMayHaveAnyName() throws {
    let table = try table("x,a,x,b,\n1,2,3,4,5\n")
    let columns = try table.columns(["b", "a"], path: "t.csv")
    #expect(columns.text("a", of: table.rows[0]) == "2" && columns.text("b", of: table.rows[0]) == "4")
  }

  @Test func everyRuleHasItsError() {
    #expect(throws: CSVError.noHeader(path: "t.csv")) { try table("") }
    #expect(throws: CSVError.noHeader(path: "t.csv")) { try table("\n\n") }
    #expect(throws: CSVError.repeatedColumn(path: "t.csv", name: "a")) {
      try table("a,b,a\n").columns(["b", "a"], path: "t.csv")
    }
    #expect(throws: CSVError.fieldCount(path: "t.csv", line: 3, count: 3, expected: 2)) {
      try table("a,b\n1,2\n1,2,3\n")
    }
    #expect(throws: CSVError.fieldCount(path: "t.csv", line: 2, count: 1, expected: 2)) {
      try table("a,b\n1\n")
    }
    #expect(throws: CSVError.unterminatedQuote(path: "t.csv", line: 2)) { try table("a,b\n\"1,2\n3,4\n") }
    #expect(throws: CSVError.textAfterQuote(path: "t.csv", line: 2)) { try table("a,b\n\"1\"x,2\n") }
    #expect(throws: CSVError.notUTF8(path: "t.csv")) { try CSVTable([0x61, 0xFF, 0x0A], path: "t.csv") }
  }
}
