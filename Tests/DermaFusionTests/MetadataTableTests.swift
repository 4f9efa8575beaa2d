import Files
import SystemModule
import Testing

@testable import DermaFusion

@Suite struct MetadataTableTests {
  func table(_ text: String) throws(DermaFusionError) -> MetadataTable {
    try MetadataTable(Array(text.utf8), path: "p.csv")
  }

  /// What a table says of the image with this name; nil where it says nothing that can be understood.
  private func entry(_ table: MetadataTable, _ name: String) -> MetadataTable.Entry? {
    try? table.rows(ofImages: ["\(name).png"]).entry(ofImage: "\(name).png")
  }

  @Test func columnsStandInAnyOrderAmongOthers() throws {
    let table = try table(
      """
      dx,localization,age,image_id,sex
      nv,lower extremity,55.0,A,male
      mel,,,B,
      bcc, Back ,0,C,unknown

      """)
    #expect(entry(table, "A") == .init(ageInYears: 55, sex: .male, site: .lowerExtremity))
    #expect(entry(table, "B") == .init(ageInYears: nil, sex: nil, site: nil))
    #expect(entry(table, "C") == .init(ageInYears: 0, sex: .unknown, site: .back))
    #expect(entry(table, "D") == nil)
  }

  @Test func onlyTheImagesColumnMustBeThere() throws {
    #expect(
      throws: error("the column 'image_id' is missing; the header has 'age', 'sex', 'localization'")
    ) { try table("age,sex,localization\n") }
    for header in ["image_id", "isic_id", "image"] {
      #expect(
        try entry(table("\(header)\nA\n"), "A") == .init(ageInYears: nil, sex: nil, site: nil), "\(header)")
    }
  }

  @Test(arguments: [",", ";", "\t"])
  func theISICArchivesColumnsAreRead(separator: String) throws {
    let rows = [
      ["isic_id", "age_approx", "anatom_site_general", "sex"], ["A", "45", "lower extremity", "female"],
      ["B", "", "posterior torso", ""], ["C", "80.0", "head/neck", "male"],
      ["D", "5", "palms/soles", "male"],
      ["E", "5", "upper extremity", "male"],
    ]
    let table = try table(rows.map { $0.joined(separator: separator) }.joined(separator: "\n"))
    #expect(entry(table, "A") == .init(ageInYears: 45, sex: .female, site: .lowerExtremity))
    // Regions in which several sites lie are none of them.
    #expect(entry(table, "B") == .init(ageInYears: nil, sex: nil, site: .unknown))
    #expect(entry(table, "C")?.site == .unknown && entry(table, "D")?.site == .unknown)
    #expect(entry(table, "E")?.site == .upperExtremity)
  }

  @Test func aDecimalCommaIsOneOfTheAge() throws {
    let table = try table("image_id;age\nA;55,5\nB;0,25\nC;70\n")
    #expect(["A", "B", "C"].map { entry(table, $0)?.ageInYears } == [55.5, 0.25, 70])
    #expect(try entry(self.table("image_id,age\nA,\"5,5\"\n"), "A")?.ageInYears == 5.5)
    for age in ["1,2,3", "55,5.5", ",", "200,5"] {
      let table = try self.table("image_id;age\nA;\(age)\n")
      let error = #expect(throws: DermaFusionError.self) {
        try table.rows(ofImages: ["A.png"]).entry(ofImage: "A.png")
      }
      #expect(
        error?.description == "p.csv: line 2: column 'age': the value '\(age)' is invalid. "
          + "Please provide a number of years from 0 to 130.", "\(String(describing: error))")
    }
  }

  @Test func columnsAreKnownInAnyLetterCase() throws {
    let table = try table("Image_ID,AGE,Sex,Localization\nA,5,male,back\n")
    #expect(entry(table, "A") == .init(ageInYears: 5, sex: .male, site: .back))
    // The name as it is documented goes before.
    #expect(try entry(self.table("IMAGE_ID,image_id,Age,age\nA,B,1,2\n"), "B")?.ageInYears == 2)
    #expect(throws: error("the column 'Age' occurs more than once")) {
      try self.table("image_id,Age,AGE\nA,1,2\n")
    }
  }

  @Test(arguments: [
    "age,sex,site", "Age (years),gender,location", "AGE_YEARS,Sex,localisation",
    "age_approx,Gender,anatom_site",
    "age,sex,anatom_site_general_challenge",
  ])
  func columnsOfOtherNamesAreTaken(names: String) throws {
    let table = try table(
      "image_id,\(names)\nA,5,F,Upper Extremity\nB,6,w,lower_extremity\nC,7,M,head neck\n")
    #expect(entry(table, "A") == .init(ageInYears: 5, sex: .female, site: .upperExtremity))
    #expect(entry(table, "B") == .init(ageInYears: 6, sex: .female, site: .lowerExtremity))
    #expect(entry(table, "C") == .init(ageInYears: 7, sex: .male, site: .unknown))
    #expect(table.rows(ofImages: ["A.png", "B.png", "C.png"]).notes == [])
  }

  @Test func anEmptyCellIsFilledFromAnotherColumnOfTheSame() throws {
    let table = try table(
      "image_id,age_approx,age,site,location\nA,50,,,Vienna\nB,50,7,back,hand\nC,,,,hand\n")
    #expect(entry(table, "A") == .init(ageInYears: 50, sex: nil, site: nil))
    #expect(entry(table, "B") == .init(ageInYears: 7, sex: nil, site: .back))
    #expect(entry(table, "C") == .init(ageInYears: nil, sex: nil, site: .hand))
    // A name as it is documented goes before one in another letter case, and a second one that is unclear is not asked.
    #expect(try entry(self.table("image_id,Age,age_approx\nA,1,2\n"), "A")?.ageInYears == 2)
    #expect(try entry(self.table("image_id,age,AGE_approx,Age_approx\nA,1,2,3\n"), "A")?.ageInYears == 1)
  }

  @Test(arguments: ["", " ", "NA", "nan", "NaN", "NULL", "None", "-", "?"])
  func aMissingCellIsMissing(cell: String) throws {
    let table = try table("image_id,age,sex,localization\nA,\(cell),\(cell),\(cell)\n")
    #expect(entry(table, "A") == .init(ageInYears: nil, sex: nil, site: nil))
  }

  @Test func tablesOfUTF16AreRead() throws {
    let text = "image_id\tage\ncaf\u{E9} \u{1F600}\t55,5\n"
    let units = Array("\u{FEFF}\(text)".utf16)
    let little = units.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    let big = units.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
    for bytes in [little, big] {
      let table = try MetadataTable(bytes, path: "p.csv")
      #expect(entry(table, "caf\u{E9} \u{1F600}")?.ageInYears == 55.5)
    }
    // Cut within a character, half of a pair, and without a mark.
    let damaged = [Array(little.dropLast()), little + [0x3D, 0xD8]]
    for bytes in damaged {
      #expect(throws: error("the table begins like UTF-16 text but is not UTF-16")) {
        try MetadataTable(bytes, path: "p.csv")
      }
    }
    let unmarked = Array("a\n".utf8) + "image_id\n".utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    let error = #expect(throws: DermaFusionError.self) { try MetadataTable(unmarked, path: "p.csv") }
    #expect(error?.description.hasPrefix("p.csv: line 2: a zero byte, as in UTF-16 text") == true)
  }

  @Test func aBadValueIsNamedWithItsLineAndColumn() throws {
    for (row, message) in [
      ("A,abc,male,back", "column 'age': the value 'abc' is invalid. Please provide a number of years"),
      ("A,-3,male,back", "column 'age': the value '-3' is invalid."),
      ("A,5,x,back", "column 'sex': the value 'x' is invalid. Please provide one of 'male', 'female' or"),
    ] {
      let table = try table("image_id,age,sex,localization\nZ,1,male,back\n\(row)\n")
      #expect(entry(table, "Z")?.ageInYears == 1 && entry(table, "A") == nil, "one bad cell costs one image")
      let error = #expect(throws: DermaFusionError.self) {
        try table.rows(ofImages: ["A.png"]).entry(ofImage: "A.png")
      }
      #expect(
        error?.description.hasPrefix("p.csv: line 3: \(message)") == true, "\(String(describing: error))")
    }
  }

  @Test func aRowOfNoImageIsAnError() {
    let error = #expect(throws: DermaFusionError.self) {
      try table("image_id,age,sex,localization\n,1,male,back\n")
    }
    #expect(
      error?.description.hasPrefix("p.csv: line 2: column 'image_id': the value '' is invalid.") == true)
  }

  @Test func anImageHasOneRow() {
    #expect(throws: error("line 4: the image_id 'A' was already on line 2")) {
      try table("image_id,age,sex,localization\nA,1,male,back\nB,,,\nA,1,male,back\n")
    }
  }

  /// The words of DICOM and of people for regions within one site.
  @Test(arguments: [
    ("FOREARM", BodySite.upperExtremity), ("NOSE", .face), ("THIGH", .lowerExtremity), ("upper back", .back),
    ("lower_extremity", .lowerExtremity), ("Skin of left knee", .lowerExtremity), ("torso", .unknown),
    ("Head/Neck", .unknown),
  ])
  func regionsAreKnownByTheirWords(region: String, site: BodySite) throws {
    #expect(try entry(table("image_id,site\nA,\(region)\n"), "A")?.site == site)
  }

  /// What a page is answered, for the tables that page and command line once read differently.
  @Test(arguments: [
    // A row with a field too many, a column twice, a quote that is never closed, a row twice.
    (
      "image_id,diameter_mm,age\na,4,5,55\n",
      #"{"error":{"code":"invalidTable","message":"p.csv: line 2: 4 fields, where the header has 3","remedy":"Please correct the table."}}"#
    ),
    (
      "image_id,age,age\na,5,55\n",
      #"{"error":{"code":"invalidTable","message":"p.csv: the column 'age' occurs more than once","remedy":"Please correct the table."}}"#
    ),
    (
      "image_id,age\n\"a,5\n",
      #"{"error":{"code":"invalidTable","message":"p.csv: line 2: a quote that is never closed","remedy":"Please correct the table."}}"#
    ),
    (
      "image_id,age\na,5\na,6\n",
      #"{"error":{"code":"invalidTable","message":"p.csv: line 3: the image_id 'a' was already on line 2","remedy":"Please correct the table."}}"#
    ),
    // CR between lines, a quoted semicolon, other words, an empty cell beside a second column.
    (
      "image_id,age\ra,5\rb,6\r",
      #"{"images":[{"age":5,"sex":"unknown","site":"unknown"},null],"missing":["sex","site"],"unused":[],"notes":["#
        + #""p.csv has no column for sex, site; its columns are 'image_id', 'age'.","p.csv has no row for 1 of 2 images, the first of them x/c.png."]}"#
    ),
    (
      "\"image_id;x\",image_id,age,sex,site\n1,a,5,w,lower_extremity\n2,c,,m,torso\n",
      #"{"images":[{"age":5,"sex":"female","site":"lower extremity"},{"age":null,"sex":"male","site":"unknown"}],"missing":[],"unused":["image_id;x"],"notes":[]}"#
    ),
    (
      "image;age;age_approx;sex;site\na;;50;;\nc;5,5;;f;FOREARM\n",
      #"{"images":[{"age":50,"sex":"unknown","site":"unknown"},{"age":5.5,"sex":"female","site":"upper extremity"}],"missing":[],"unused":[],"notes":[]}"#
    ),
    // A bad cell costs its image only.
    (
      "image_id,age,sex,site\na,131,m,back\nc,1,m,back\n",
      #"{"images":[{"error":{"code":"invalidTable","message":"p.csv: line 2: column 'age': the value '131' is invalid. "#
        + #"Please provide a number of years from 0 to 130.","remedy":"Please correct the table."}},{"age":1,"sex":"male","site":"back"}],"missing":[],"unused":[],"notes":[]}"#
    ),
    (
      "image_id,sex\na,robot\nc,M\n",
      #"{"images":[{"error":{"code":"invalidTable","message":"p.csv: line 2: column 'sex': the value 'robot' is invalid. "#
        + #"Please provide one of 'male', 'female' or 'unknown'.","remedy":"Please correct the table."}},{"age":null,"sex":"male","site":"unknown"}],"#
        + #""missing":["age","site"],"unused":[],"notes":["p.csv has no column for age, site; its columns are 'image_id', 'sex'."]}"#
    ),
    // What is not read is told.
    (
      "image,dx,age,sex,Site,Ü\na,nv,1,m,back,\nc,,2,f,,\n",
      #"{"images":[{"age":1,"sex":"male","site":"back"},{"age":2,"sex":"female","site":"unknown"}],"missing":[],"unused":["dx","Ü"],"notes":[]}"#
    ),
    (
      "picture,age\na,1\n",
      #"{"error":{"code":"invalidTable","message":"p.csv: the column 'image_id' is missing; the header has 'picture', 'age'","remedy":"Please correct the table."}}"#
    ),
    // An unknown word for a site costs nothing; a row by the path, one with the ending.
    (
      "file_name,age,sex,site\nx\\c.png,85+,m,moon\na.jpg,018M,f,back\n",
      #"{"images":[{"age":1.5,"sex":"female","site":"back"},{"age":85,"sex":"male","site":"unknown"}],"missing":[],"unused":[],"notes":["#
        + #""in p.csv, 1 image was found by its name with the ending: a.jpg by 'a.jpg'.","in p.csv, 1 image was found by the end of its path: x/c.png by 'x\\c.png'.","#
        + #""in p.csv, a site is no known word and counts as missing: 'moon' (1)."]}"#
    ),
    (
      "sep=;\r\nimage_id;age\r\na;45 years\r\nc;>85\r\n",
      #"{"images":[{"age":45,"sex":"unknown","site":"unknown"},{"age":85,"sex":"unknown","site":"unknown"}],"missing":["sex","site"],"unused":[],"notes":["#
        + #""p.csv has no column for sex, site; its columns are 'image_id', 'age'."]}"#
    ),
  ])
  func aPageIsAnsweredAsTheCommandLineReads(text: String, answer: String) {
    let json: String
    do throws(DermaFusionError) {
      json = try MetadataTable.answer(
        Array(text.utf8), to: Array(#"{"name":"p.csv","images":["a.jpg","x/c.png"]}"#.utf8)
      ).text
    } catch {
      json = error.json.text
    }
    #expect(json == answer)
  }

  private func error(_ message: String) -> DermaFusionError {
    DermaFusionError(.invalidTable, message: "p.csv: \(message)", remedy: "Please correct the table.")
  }
}
