import Files
import SystemModule
import Testing

@testable import DermaFusion

@Suite struct MetadataTableTests {
  func table(_ text: String) throws(DermaFusionError) -> MetadataTable {
    try MetadataTable(Array(text.utf8), path: "p.csv")
  }

  /// A table's words on the image with this name; nil where none can be understood.
  private func entry(_ table: MetadataTable, _ name: String) -> MetadataTable.Entry? {
    try? table.rows(of: [ListedImage("\(name).png")]).entry(ofImage: "\(name).png")
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
        try table.rows(of: [ListedImage("A.png")]).entry(ofImage: "A.png")
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
    #expect(try entry(self.table("IMAGE_ID,image_id,Age,age\nA,B,,2\n"), "B")?.ageInYears == 2)
    for header in ["image_id,age,age", "image_id,image_id,age", "image_id,Sex,Sex"] {
      #expect(throws: DermaFusionError.self, "\(header)") { try self.table("\(header)\nA,,\n") }
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
    #expect(try table.rows(of: ["A.png", "B.png", "C.png"].map { ListedImage($0) }).notes == [])
  }

  @Test func anEmptyCellIsFilledFromAnotherColumnOfTheSame() throws {
    let table = try table(
      "image_id,age_approx,age,site,location\nA,50,,,Vienna\nB,7,7,back,hand\nC,,,,hand\n")
    #expect(entry(table, "A") == .init(ageInYears: 50, sex: nil, site: nil))
    #expect(entry(table, "B") == .init(ageInYears: 7, sex: nil, site: .back))
    #expect(entry(table, "C") == .init(ageInYears: nil, sex: nil, site: .hand))
    let sexes = try self.table("image_id,sex,Gender,Age,age\nA,unknown,f,,5\nB,M,unknown,6.0,6\n")
    #expect(entry(sexes, "A") == .init(ageInYears: 5, sex: .female, site: nil))
    #expect(entry(sexes, "B") == .init(ageInYears: 6, sex: .male, site: nil))
  }

  @Test(arguments: [
    ("Age,age", "57,55", "column 'age' has the value '55' and column 'Age' the value '57'."),
    (
      "age,AGE_approx,Age_approx", "55,,50",
      "column 'age' has the value '55' and column 'Age_approx' the value '50'."
    ),
    ("sex,gender,x", "m,f,", "column 'sex' has the value 'm' and column 'gender' the value 'f'."),
    ("age,age_years,x", "5,old,", "column 'age_years': the value 'old' is invalid."),
  ])
  func twoColumnsThatDisagreeFailTheirImage(header: String, row: String, message: String) throws {
    let commas = String(repeating: ",", count: header.count { $0 == "," })
    let table = try table("image_id,\(header)\nZ,\(commas)\nA,\(row)\n")
    #expect(entry(table, "Z") == .init(ageInYears: nil, sex: nil, site: nil))
    let error = #expect(throws: DermaFusionError.self) {
      try table.rows(of: [ListedImage("A.png")]).entry(ofImage: "A.png")
    }
    #expect(error?.description.hasPrefix("p.csv: line 3: \(message)") == true, "\(String(describing: error))")
  }

  @Test func aColumnOfCodesIsOneError() throws {
    for codes in ["1,2,1", "0,1,0", "1,NA,", "1.0,2.0,1.0"] {
      let rows = codes.split(separator: ",", omittingEmptySubsequences: false).enumerated().map {
        "i\($0),\($1)\n"
      }.joined()
      let error = #expect(throws: DermaFusionError.self) { try table("image_id,sex\n\(rows)") }
      #expect(error?.message.hasPrefix("p.csv: column 'sex' has codes and no words: '") == true, "\(codes)")
      #expect(
        try MetadataTable(
          Array("image_id,sex\n\(rows)".utf8), path: "p.csv", reading: PatientReading(given: ["sex"])
        ).rows(of: [ListedImage("i0")]).notes == [
          "p.csv has no column for age, site; its columns are 'image_id', 'sex'."
        ])
    }
    // A word among them costs the others' images only.
    let mixed = try table("image_id,sex\nA,1\nB,male\n")
    #expect(entry(mixed, "A") == nil && entry(mixed, "B")?.sex == .male)
    #expect(throws: Never.self) { try table("image_id,sex\nA,\nB,NA\n") }
  }

  @Test(arguments: [
    ("m\u{E4}nnlich", "R\u{DC}CKEN", Sex.male, BodySite.back),
    ("Frau", "linker Unterarm", .female, .upperExtremity),
    ("WEIBLICH", "Fu\u{DF}", .female, .foot), ("homme", "cuir chevelu", .male, .scalp),
    ("H", "dos", .male, .back),
    ("F\u{E9}minin", "membre inf\u{E9}rieur", .female, .lowerExtremity),
    ("Fe\u{301}minin", "Avant-bras droit", .female, .upperExtremity),
    ("femme", "l'oreille gauche", .female, .ear), ("unbekannt", "Hals", .unknown, .neck),
    ("Mann", "Oberer R\u{FC}cken", .male, .back),
  ])
  func germanAndFrenchWordsAreKnown(sex: String, site: String, expected: Sex, place: BodySite) throws {
    #expect(
      try entry(table("image_id,sex,site\nA,\(sex),\(site)\n"), "A")
        == .init(ageInYears: nil, sex: expected, site: place))
  }

  @Test func anEmptyCellOfTheImageLeavesItsRowOut() throws {
    let text = """
      record_id,image,age,sex,site
      1,,61,f,
      2,NA,,m,
      2,,40,,
      1,a.png,,,back
      1,b.png,5,,
      2,c.png,,,hand
      3,d.png,,,
      4,,50,,
      4,,51,,
      4,e.png,,f,
      5,,old,,
      5,f.png,3,m,

      """
    let images = ["a", "b", "c", "d", "e", "f"].map { ListedImage("\($0).png") }
    let plain = try table(text).rows(of: images)
    #expect(try plain.entry(ofImage: "a.png") == .init(ageInYears: nil, sex: nil, site: .back))
    let start = "in p.csv, 6 rows have no image and are left out. --join-patient"
    #expect(plain.notes.contains { $0.description.hasPrefix(start) })
    let joined = try MetadataTable(
      Array(text.utf8), path: "p.csv", reading: PatientReading(joinsPatients: true)
    ).rows(of: images)
    #expect(try joined.entry(ofImage: "a.png") == .init(ageInYears: 61, sex: .female, site: .back))
    #expect(try joined.entry(ofImage: "b.png") == .init(ageInYears: 5, sex: .female, site: nil))
    #expect(try joined.entry(ofImage: "c.png") == .init(ageInYears: 40, sex: .male, site: .hand))
    #expect(try joined.entry(ofImage: "d.png") == .init(ageInYears: nil, sex: nil, site: nil))
    #expect(throws: error("line 11: the rows of '4' on lines 9 and 10 have different values for the age")) {
      try joined.entry(ofImage: "e.png")
    }
    #expect(throws: DermaFusionError.self) { try joined.entry(ofImage: "f.png") }
    #expect(throws: error("the table has no column patient_id or record_id, by which rows could be joined")) {
      try MetadataTable(
        Array("image,age\na,5\n".utf8), path: "p.csv", reading: PatientReading(joinsPatients: true))
    }
  }

  /// A spreadsheet keeps fifteen digits of long numbers.
  @Test(arguments: [
    "3.91E+16", "3,91E+16", "39089837499752900", "39089837499752860", "3.9089837499752856e+16",
  ])
  func roundedNumbersAreNamed(name: String) {
    let ids = ["39089837499752854", "39089837499752861", "39089837499752899"]
    let rows = ids.indices.map { "\"\(name)\",\($0 + 40)\n" }
    for count in 1...2 {
      let error = #expect(throws: DermaFusionError.self) {
        _ = try table("image_id,age\n" + rows[..<count].joined()).rows(
          of: ids.map { ListedImage("\($0).png") })
      }
      #expect(
        error?.message.contains("A spreadsheet may have rounded") == true, "\(String(describing: error))")
    }
    let notes = try? table("image_id,age\n\(ids[0]),1\n" + rows[0]).rows(
      of: ids.map { ListedImage("\($0).png") }
    ).notes
    #expect(
      notes?.contains { $0.description.hasPrefix("in p.csv, no image has the name '\(name)'. A spreadsheet") }
        == true)
  }

  /// The most frequent word first, of as many in the order of their letters; five of them are named.
  @Test func unknownSitesAreCounted() throws {
    let words = ["sun", "moon", "sun", "b", "a", "c", "d", "Sun"]
    let rows = words.enumerated().map { "i\($0),\($1),,\n" }.joined()
    let images = words.indices.map { ListedImage("i\($0).png") }
    let notes = try table("image_id,site,age,sex\n\(rows)").rows(of: images).notes
    #expect(
      notes == [
        "in p.csv, 8 sites are no known word and count as missing: 'sun' (2), 'Sun' (1), 'a' (1), 'b' (1), 'c' (1), ..."
      ])
  }

  @Test func aFormulaForATextIsTheText() throws {
    #expect(
      try entry(table("image_id,age\n\"=\"\"39089837499752854\"\"\",5\n"), "39089837499752854")?.ageInYears
        == 5)
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

  @Test func workbooksAndPackedFilesAreNamed() throws {
    for (start, kind) in [
      ([0x50, 0x4B, 0x03, 0x04, 0x14, 0], "an Excel workbook or another zipped file"),
      ([0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1, 0], "an old Excel workbook"),
      ([0x1F, 0x8B, 8, 0], "a file packed by gzip"), (Array("PAR1".utf8), "a Parquet file"),
    ] {
      #expect(throws: error("this is \(kind), and not a table of text. Please save it as CSV.")) {
        try MetadataTable(start, path: "p.csv")
      }
    }
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
        try table.rows(of: [ListedImage("A.png")]).entry(ofImage: "A.png")
      }
      #expect(
        error?.description.hasPrefix("p.csv: line 3: \(message)") == true, "\(String(describing: error))")
    }
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
    // The archive's anatom_site_special: what may be acral or the hand is not guessed.
    ("acral palms or soles", .acral), ("acral NOS", .acral), ("palms/soles", .unknown),
    ("nail NOS", .unknown), ("fingernail", .unknown), ("toenail", .unknown), ("oral or genital", .unknown),
  ])
  func regionsAreKnownByTheirWords(region: String, site: BodySite) throws {
    let entry = try entry(table("image_id,site\nA,\(region)\n"), "A")
    #expect(entry?.site == site && entry?.unknownSite == nil)
  }

  /// The answers to a page, for the tables that page and command line once read differently.
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
        + #""in p.csv, 1 image was found by the name with the ending: a.jpg by 'a.jpg'.","in p.csv, 1 image was found by the end of the path: x/c.png by 'x\\c.png'.","#
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
      json = error.json().text
    }
    #expect(json == answer)
  }

  private func error(_ message: String) -> DermaFusionError {
    DermaFusionError(.invalidTable, message: "p.csv: \(message)", remedy: "Please correct the table.")
  }
}
