import Testing

@testable import Commands
@testable import DermaFusion

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

@Suite struct MetadataTableTests {
  func table(_ text: String) throws(CSVError) -> MetadataTable {
    try MetadataTable(Array(text.utf8), path: "p.csv")
  }

  @Test func columnsStandInAnyOrderAmongOthers() throws {
    let table = try table(
      """
      dx,localization,age,image_id,sex
      nv,lower extremity,55.0,A,male
      mel,,,B,
      bcc, Back ,0,C,unknown

      """)
    #expect(table["A"] == .init(ageInYears: 55, sex: .male, site: .lowerExtremity))
    #expect(table["B"] == .init(ageInYears: nil, sex: nil, site: nil))
    #expect(table["C"] == .init(ageInYears: 0, sex: .unknown, site: .back))
    #expect(table["D"] == nil)
  }

  @Test func aMissingColumnIsNamed() {
    for column in MetadataTable.columns {
      let header = MetadataTable.columns.filter { $0 != column }.joined(separator: ",")
      let columns = header.split(separator: ",").map(String.init)
      #expect(throws: CSVError.missingColumn(path: "p.csv", name: column, header: columns)) {
        try table(header + "\n")
      }
    }
    #expect(
      CSVError.missingColumn(path: "p.csv", name: "age", header: ["image_id;age", "sex"]).description
        == "p.csv: the column 'age' is missing; the header has 'image_id;age', 'sex'")
  }

  @Test func aBadValueIsNamedWithItsLineAndColumn() throws {
    for (row, message) in [
      ("A,abc,male,back", "column 'age': the value 'abc' is invalid. Please provide a number of years"),
      ("A,-3,male,back", "column 'age': the value '-3' is invalid."),
      ("A,5,m,back", "column 'sex': the value 'm' is invalid. Please provide one of 'male', 'female' or"),
      (
        "A,5,male,knee", "column 'localization': the value 'knee' is invalid. Please provide one of 'abdomen'"
      ),
    ] {
      let error = #expect(throws: CSVError.self) {
        try table("image_id,age,sex,localization\nZ,1,male,back\n\(row)\n")
      }
      #expect(
        error?.description.hasPrefix("p.csv: line 3: \(message)") == true, "\(String(describing: error))")
    }
  }

  @Test func imagesAreKnownByTheScalarsOfTheirNames() throws {
    let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
    try #require(composed == decomposed, "strings do not tell them apart")
    let both = try table("image_id,age,sex,localization\n\(composed),1,,\n\(decomposed),2,,\n")
    #expect(both[composed]?.ageInYears == 1)
    #expect(both[decomposed]?.ageInYears == 2)
    let one = try table("image_id,age,sex,localization\n\(composed),1,,\n")
    #expect(one[decomposed] == nil)

    let folder = TemporaryFolder()
    folder.write(pnm(), to: "\(composed).ppm")
    folder.write(pnm(seed: 3), to: "\(decomposed).ppm")
    let index = try ImageIndex(folders: [folder.path])
    #expect(index[composed]?.source.name.utf8.elementsEqual("\(folder.path)/\(composed).ppm".utf8) == true)
    #expect(
      index[decomposed]?.source.name.utf8.elementsEqual("\(folder.path)/\(decomposed).ppm".utf8) == true)
    let list = try TestList(
      Array("\(EvaluateCommandTests.header)\(composed),L1,nv,,,\n\(decomposed),L1,nv,,,\n".utf8),
      path: "l.csv")
    #expect(list.entries.count == 2)
  }

  @Test func aRowOfNoImageIsAnError() {
    let error = #expect(throws: CSVError.self) { try table("image_id,age,sex,localization\n,1,male,back\n") }
    #expect(
      error?.description.hasPrefix("p.csv: line 2: column 'image_id': the value '' is invalid.") == true)
  }

  @Test func anImageHasOneRow() {
    #expect(
      throws: CSVError.repeatedIdentifier(path: "p.csv", line: 4, identifier: "A", firstLine: 2)
    ) {
      try table("image_id,age,sex,localization\nA,1,male,back\nB,,,\nA,1,male,back\n")
    }
    #expect(
      CSVError.repeatedIdentifier(path: "p.csv", line: 4, identifier: "A", firstLine: 2).description
        == "p.csv: line 4: the image_id 'A' was already on line 2")
  }
}
