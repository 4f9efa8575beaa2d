import DermaFusion
import TestFiles
import Testing

@testable import Commands

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

  @Test func onlyTheImagesColumnMustBeThere() throws {
    #expect(
      throws: CSVError.missingColumn(path: "p.csv", name: "image_id", header: ["age", "sex", "localization"])
    ) { try table("age,sex,localization\n") }
    for header in ["image_id", "isic_id", "image"] {
      #expect(try table("\(header)\nA\n")["A"] == .init(ageInYears: nil, sex: nil, site: nil), "\(header)")
    }
    #expect(
      CSVError.missingColumn(path: "p.csv", name: "age", header: ["image_id:age", "sex"]).description
        == "p.csv: the column 'age' is missing; the header has 'image_id:age', 'sex'")
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
    #expect(table["A"] == .init(ageInYears: 45, sex: .female, site: .lowerExtremity))
    // Regions in which several sites lie are none of them.
    #expect(table["B"] == .init(ageInYears: nil, sex: nil, site: .unknown))
    #expect(table["C"]?.site == .unknown && table["D"]?.site == .unknown)
    #expect(table["E"]?.site == .upperExtremity)
  }

  @Test func aDecimalCommaIsOneOfTheAge() throws {
    let table = try table("image_id;age\nA;55,5\nB;0,25\nC;70\n")
    #expect(["A", "B", "C"].map { table[$0]?.ageInYears } == [55.5, 0.25, 70])
    #expect(try self.table("image_id,age\nA,\"5,5\"\n")["A"]?.ageInYears == 5.5)
    for age in ["1,2,3", "55,5.5", ",", "200,5"] {
      let table = try self.table("image_id;age\nA;\(age)\n")
      let error = #expect(throws: CSVError.self) { try table.entry(for: .file("A.png")) }
      #expect(
        error?.description == "p.csv: line 2: column 'age': the value '\(age)' is invalid. "
          + "Please provide a number of years from 0 to 130.", "\(String(describing: error))")
    }
  }

  @Test func columnsAreKnownInAnyLetterCase() throws {
    let table = try table("Image_ID,AGE,Sex,Localization\nA,5,male,back\n")
    #expect(table["A"] == .init(ageInYears: 5, sex: .male, site: .back))
    // The name as it is documented goes before.
    #expect(try self.table("IMAGE_ID,image_id,Age,age\nA,B,1,2\n")["B"]?.ageInYears == 2)
    #expect(throws: CSVError.repeatedColumn(path: "p.csv", name: "Age")) {
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
    #expect(table["A"] == .init(ageInYears: 5, sex: .female, site: .upperExtremity))
    #expect(table["B"] == .init(ageInYears: 6, sex: .female, site: .lowerExtremity))
    #expect(table["C"] == .init(ageInYears: 7, sex: .male, site: .unknown))
    #expect(table.notes(on: [.file("A.png")], path: "p.csv") == [])
  }

  @Test func anEmptyCellIsFilledFromAnotherColumnOfTheSame() throws {
    let table = try table(
      "image_id,age_approx,age,site,location\nA,50,,,Vienna\nB,50,7,back,hand\nC,,,,hand\n")
    #expect(table["A"] == .init(ageInYears: 50, sex: nil, site: nil))
    #expect(table["B"] == .init(ageInYears: 7, sex: nil, site: .back))
    #expect(table["C"] == .init(ageInYears: nil, sex: nil, site: .hand))
    // A name as it is documented goes before one in another letter case, and a second one that is unclear is not asked.
    #expect(try self.table("image_id,Age,age_approx\nA,1,2\n")["A"]?.ageInYears == 2)
    #expect(try self.table("image_id,age,AGE_approx,Age_approx\nA,1,2,3\n")["A"]?.ageInYears == 1)
  }

  @Test(arguments: ["", " ", "NA", "nan", "NaN", "NULL", "None", "-", "?"])
  func aMissingCellIsMissing(cell: String) throws {
    let table = try table("image_id,age,sex,localization\nA,\(cell),\(cell),\(cell)\n")
    #expect(table["A"] == .init(ageInYears: nil, sex: nil, site: nil))
  }

  @Test func aTableWithoutAColumnIsNamedWithItsHeader() throws {
    let folder = TemporaryFolder()
    let image = folder.write(pnm(), to: "A.ppm")
    let path = folder.write("image_id,Alter,sex\nA,5,male\n", to: "p.csv")
    let note = "Note: \(path) has no column for age, site; its columns are 'image_id', 'Alter', 'sex'.\n"
    #expect(runTool("classify", image, "--metadata", path).errors == note)
    #expect(runTool("classify", image, "--metadata", path, "--quiet").errors == "")
  }

  @Test func aBadCellCostsItsImageAndTheBatchGoesOn() throws {
    let folder = TemporaryFolder()
    let images = ["a", "b", "c"].map { folder.write(pnm(), to: "images/\($0).ppm") }
    let path = folder.write(
      "image_id,age,sex,site\na,5,male,back\nb,five,male,back\nc,7,male,knee\n", to: "p.csv")
    for words in [["classify", "--format", "json"], ["classify", "--format", "csv"]] {
      let result = runTool(words: words + [folder.path + "/images", "--metadata", path])
      #expect(result.status == .failure)
      let errors = result.errors.split(separator: "\n").filter { $0.hasPrefix("Error") }
      #expect(errors.count == 2)
      #expect(
        errors[0].hasPrefix(
          "Error: \(images[1]): \(path): line 3: column 'age': the value 'five' is invalid."))
      #expect(
        errors[1].hasPrefix(
          "Error: \(images[2]): \(path): line 4: column 'site': the value 'knee' is invalid."))
      #expect(result.output.contains("a.ppm"))
    }
  }

  /// The table that `classify` writes, as metadata and as labels.
  @Test func theToolsOwnTableIsTaken() throws {
    let folder = TemporaryFolder()
    // The name is marked as text in the table.
    for (seed, name) in ["=a", "b;-c", "d"].enumerated() {
      folder.write(pnm(seed: seed * 9), to: "\(name).ppm")
    }
    let given = ["--age", "50.5", "--sex", "female", "--site", "upper extremity"]
    let written = folder.path + "/written.csv"
    let first = runTool(words: ["classify", folder.path, "--format", "csv", "--output", written] + given)
    #expect(first.status == .success, "\(first.errors)")
    let again = runTool("classify", folder.path, "--format", "csv", "--metadata", written)
    #expect(again.errors == "" && again.outputBytes == folder.contents(of: "written.csv"))
    let evaluated = runTool(
      "evaluate", "--labels", written, "--images", folder.path, "--format", "json")
    #expect(evaluated.status == .success, "\(evaluated.errors)")
    #expect(
      evaluated.output.contains("\"n\":3,") && evaluated.output.contains("\"accuracy\":1,"),
      "\(evaluated.output)")
  }

  @Test func tablesOfUTF16AreRead() throws {
    let text = "image_id\tage\ncaf\u{E9} \u{1F600}\t55,5\n"
    let units = Array("\u{FEFF}\(text)".utf16)
    let little = units.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    let big = units.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
    for bytes in [little, big] {
      let table = try MetadataTable(bytes, path: "p.csv")
      #expect(table["caf\u{E9} \u{1F600}"]?.ageInYears == 55.5)
    }
    // Cut within a character, half of a pair, and without a mark.
    let damaged = [Array(little.dropLast()), little + [0x3D, 0xD8]]
    for bytes in damaged {
      #expect(throws: CSVError.notUTF16(path: "p.csv")) { try MetadataTable(bytes, path: "p.csv") }
    }
    let unmarked = Array("a\n".utf8) + "image_id\n".utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    let error = #expect(throws: CSVError.self) { try MetadataTable(unmarked, path: "p.csv") }
    #expect(error?.description.hasPrefix("p.csv: line 2: a zero byte, as in UTF-16 text") == true)
  }

  @Test func aBadValueIsNamedWithItsLineAndColumn() throws {
    for (row, message) in [
      ("A,abc,male,back", "column 'age': the value 'abc' is invalid. Please provide a number of years"),
      ("A,-3,male,back", "column 'age': the value '-3' is invalid."),
      ("A,5,x,back", "column 'sex': the value 'x' is invalid. Please provide one of 'male', 'female' or"),
      (
        "A,5,male,knee", "column 'localization': the value 'knee' is invalid. Please provide one of 'abdomen'"
      ),
    ] {
      let table = try table("image_id,age,sex,localization\nZ,1,male,back\n\(row)\n")
      #expect(table["Z"]?.ageInYears == 1 && table["A"] == nil, "one bad cell costs one image")
      let error = #expect(throws: CSVError.self) { try table.entry(for: .file("A.png")) }
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
      path: "l.csv", labels: .ham10000)
    #expect(list.entries.count == 2)
  }

  @Test func aRowOfNoImageIsAnError() {
    let error = #expect(throws: CSVError.self) { try table("image_id,age,sex,localization\n,1,male,back\n") }
    #expect(
      error?.description.hasPrefix("p.csv: line 2: column 'image_id': the value '' is invalid.") == true)
  }

  @Test func anImageHasOneRow() {
    #expect(
      throws: CSVError.repeatedIdentifier(
        path: "p.csv", line: 4, column: "image_id", identifier: "A", firstLine: 2)
    ) {
      try table("image_id,age,sex,localization\nA,1,male,back\nB,,,\nA,1,male,back\n")
    }
    #expect(
      CSVError.repeatedIdentifier(path: "p.csv", line: 4, column: "image_id", identifier: "A", firstLine: 2)
        .description
        == "p.csv: line 4: the image_id 'A' was already on line 2")
  }
}

@Suite struct TestListTests {
  private func list(_ text: String, labels: Labels = .ham10000) throws(CSVError) -> TestList {
    try TestList(Array(text.utf8), path: "l.csv", labels: labels)
  }

  @Test func theArchivesWordsAreTheModelsClasses() throws {
    let list = try list(
      "isic_id;diagnosis\nA;melanoma\nB;nevus\nC;solar lentigo\nD;Vascular lesions\nE;BCC\n")
    #expect(list.entries.map(\.label) == [.mel, .nv, .bkl, .vasc, .bcc])
    // Without a column for the lesions each image is one.
    #expect(list.entries.map(\.lesion) == ["A", "B", "C", "D", "E"])
    let failures = try self.list("isic_id;diagnosis\nA;melanoma\nB;\nC;NA\n").failures.map(\.description)
    #expect(failures.count == 2)
    #expect(failures[0].hasPrefix("l.csv: line 3: column 'diagnosis': the value '' is invalid."))
    #expect(failures[1].hasPrefix("l.csv: line 4: column 'diagnosis': the value 'NA' is invalid."))
  }

  @Test func rowsOfOtherDiagnosesAreLeftOutAndCounted() throws {
    let words = try list(
      "isic_id;diagnosis\nA;squamous cell carcinoma\nB;nevus\nC;cafe au lait macule\nD;squamous cell carcinoma\n"
    )
    #expect(words.entries.map(\.image) == ["B"] && words.rowCount == 4)
    #expect(words.leftOut.map(\.diagnosis) == ["squamous cell carcinoma", "cafe au lait macule"])
    #expect(words.leftOut.map(\.rowCount) == [2, 1])
    let marked = try list("image,MEL,NV,SCC,UNK\nA,0,1,0,0\nB,0,0,1,0\nC,0,0,0,1\nD,0,0,1.0,0\n")
    #expect(marked.entries.map(\.image) == ["A"] && marked.rowCount == 4)
    #expect(marked.leftOut.map(\.diagnosis) == ["SCC", "UNK"] && marked.leftOut.map(\.rowCount) == [2, 1])
    // A dx that is no class is a typing error sooner than another disease.
    #expect(try list("image_id,dx\nA,nv\nB,scc\n").failures.count == 1)
    #expect(
      throws: CSVError.noKnownDiagnosis(path: "l.csv", first: "UNK", known: Labels.ham10000.ids)
    ) {
      try self.list("image,MEL,NV,UNK\nA,0,0,1\n")
    }
  }

  @Test(arguments: ["dx", "label", "Class"]) func classesAreKnownByIdAndNameInAnyLetterCase(column: String)
    throws
  {
    let list = try list("image_id,\(column)\nA,MEL\nB,melanoma\nC,Melanocytic nevi\nD,Nv\nE,nv\nF,maybe\n")
    #expect(list.entries.map(\.label) == [.mel, .mel, .nv, .nv, .nv])
    #expect(list.rowCount == 6 && list.failures.count == 1)
    #expect(
      list.failures[0].description.hasPrefix(
        "l.csv: line 7: column '\(column)': the value 'maybe' is invalid."))
  }

  @Test func columnsOfLabelsAreKnownInAnyLetterCase() throws {
    let words = try list("Image_ID;Lesion_ID;DX;Dx_Type;Age\nA;L;mel;histo;4,5\n").entries[0]
    #expect(words.label == .mel && words.lesion == "L" && words.cells["confirmation"] == "histo")
    #expect(words.metadata.ageInYears == 4.5)
    #expect(try list("ISIC_ID;Diagnosis\nA;nevus\n").entries[0].label == .nv)
    #expect(try list("Image;MEL;NV\nA;0,0;1,0\n").entries[0].label == .nv)
  }

  @Test func aOneInAClassesColumnIsItsLabel() throws {
    let header = "image,MEL,NV,BCC,AKIEC,BKL,DF,VASC\n"
    let list = try list(header + "A,0.0,0.0,0.0,1.0,0.0,0.0,0.0\nB,1,0,0,0,0,0,0\n")
    #expect(list.entries.map(\.label) == [.akiec, .mel])
    for row in ["A,0,0,0,0,0,0,0", "A,1,1,0,0,0,0,0", "A,x,0,0,0,0,0,0"] {
      #expect(throws: CSVError.self, "\(row)") { try self.list(header + row) }
    }
    #expect(throws: CSVError.missingColumn(path: "l.csv", name: "dx", header: ["image", "MEL", "age"])) {
      try self.list("image,MEL,age\nA,1,5\n")
    }
  }
}
