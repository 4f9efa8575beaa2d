import DermaFusion
import Files
import SystemModule
import TestFiles
import Testing

@testable import Commands

@Suite struct TableCommandTests {
  private static func table(_ text: String) throws -> MetadataTable {
    try MetadataTable(Array(text.utf8), path: "p.csv")
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
      "image_id,age,sex,site\na,5,male,back\nb,five,male,back\nc,7,male,moon\n", to: "p.csv")
    for words in [["classify", "--format", "json"], ["classify", "--format", "csv"]] {
      let result = runTool(words: words + [folder.path + "/images", "--metadata", path])
      #expect(result.status == .failure)
      let errors = result.errors.split(separator: "\n").filter { $0.hasPrefix("Error") }
      try #require(errors.count == 1, "\(result.errors)")
      #expect(
        errors[0].hasPrefix(
          "Error: \(images[1]): \(path): line 3: column 'age': the value 'five' is invalid."))
      #expect(
        result.errors.contains(
          "Note: in \(path), a site is no known word and counts as missing: 'moon' (1)."))
      #expect(result.output.contains("a.ppm") && result.output.contains("c.ppm"))
    }
  }

  /// A fact that an option tells is not looked for in the table.
  @Test func anOptionTakesPrecedenceOverACellThatCannotBeUnderstood() throws {
    let folder = TemporaryFolder()
    let image = folder.write(pnm(), to: "a.ppm")
    let path = folder.write("image_id,age,sex\na,five,x\n", to: "p.csv")
    let words = ["classify", image, "--metadata", path, "--format", "json", "--age", "30"]
    #expect(runTool(words: words).errors.contains("column 'sex': the value 'x' is invalid."))
    let result = runTool(words: words + ["--sex", "male"])
    #expect(
      result.errors == "Note: \(path) has no column for site; its columns are 'image_id', 'age', 'sex'.\n")
    #expect(result.output.contains(#""metadata":{"age":30,"sex":"male","site":"unknown","#))
  }

  @Test func anImageWithTwoRowsIsRefusedByTheirNames() throws {
    let folder = TemporaryFolder()
    let image = folder.write(pnm(), to: "a.ppm")
    let metadata = folder.write("image_id,age\nA,20\nA.ppm,80\n", to: "p.csv")
    let labels = folder.write("image_id,dx\nA,nv\nA.ppm,mel\n", to: "l.csv")
    let reason = "the rows 'A.ppm' and 'A' could both be that of \(image)"
    for words in [
      ["classify", image, "--metadata", metadata], ["evaluate", "--images", folder.path, "--labels", labels],
      ["report", image, "--labels", labels, "--output", folder.path + "/r.html"],
    ] {
      let result = runTool(words: words)
      #expect(result.status == .failure && result.errors.contains(reason), "\(words): \(result.errors)")
    }
  }

  /// The table that `classify` writes holds metadata of patients, and no labels.
  @Test func theToolsOwnTableIsMetadataAndNoLabels() throws {
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
    for command in [
      ["evaluate", "--images", folder.path],
      ["calibrate", "--images", folder.path, "--output", "\(folder.path)/n"],
      ["compare", folder.path, "--against", "other"],
    ] {
      let refused = runTool(words: command + ["--labels", written])
      refused.expect(.failure, part: "written.csv: the table was written by classify")
    }
    let text = try #require(folder.text(of: "written.csv"))
    // Also in another letter case, as databases write names of columns.
    let end = try #require(text.firstIndex(of: "\n"))
    let shouted = folder.write(text[..<end].uppercased() + text[end...], to: "shouted.csv")
    #expect(
      runTool("evaluate", "--images", folder.path, "--labels", shouted).errors
        .contains("shouted.csv: the table was written by classify"))
    // Where a person added what they show, that is taken.
    let lines = text.split(separator: "\n").enumerated().map { $0 == 0 ? "dx,\($1)" : "mel,\($1)" }
    let labels = folder.write(lines.joined(separator: "\n"), to: "labelled.csv")
    let evaluated = runTool("evaluate", "--labels", labels, "--images", folder.path, "--format", "json")
    #expect(evaluated.output.contains("\"n\":3,"), "\(evaluated.errors)")
  }

  /// Each of the files of one name in several folders has its own row.
  @Test func theToolsOwnTableOfAFolderTreeIsMetadata() throws {
    let folder = TemporaryFolder()
    let images = ["x/a.ppm", "y/a.ppm"].enumerated().map { folder.write(pnm(seed: $0 * 9), to: "t/\($1)") }
    let rows = images.enumerated().map { place, image in
      runTool("classify", image, "--format", "csv", "--age", "\(20 + place)").output
    }
    let table = rows[0] + rows[1].drop { $0 != "\n" }.dropFirst()
    let written = folder.write(table, to: "written.csv")
    let again = runTool("classify", folder.path + "/t", "--format", "csv", "--metadata", written)
    #expect(again.output == table, "\(again.errors)")
  }

  /// Names with blanks at their ends, and names of which one is another's with the mark of a spreadsheet.
  @Test func theToolsOwnTableKeepsNamesApart() throws {
    let folder = TemporaryFolder()
    let names = ["q", "q ", " ", "=x", "'=x"]
    for (seed, name) in names.enumerated() { folder.write(pnm(seed: seed * 9), to: "\(name).ppm") }
    var table = ""
    for (place, name) in names.enumerated() {
      let row = runTool(
        "classify", "\(folder.path)/\(name).ppm", "--format", "csv", "--age", "\(20 + place)")
      table += place == 0 ? row.output : String(row.output.drop { $0 != "\n" }.dropFirst())
    }
    let again = runTool(
      "classify", folder.path, "--format", "csv", "--metadata", folder.write(table, to: "own.csv"))
    #expect(again.errors == "")
    let rows = again.output.split(separator: "\n").dropFirst().sorted()
    #expect(rows == table.split(separator: "\n").dropFirst().sorted())
    // A table of somebody else's means what it says.
    let one = folder.write("image_id,age\n'=x,85\n", to: "one.csv")
    let other = runTool("classify", folder.path, "--format", "json", "--metadata", one)
    #expect(other.output.components(separatedBy: "\"age\":85").count == 2)
    #expect(other.errors.contains("has no row for 4 of 5 images"))
  }

  @Test func imagesAreKnownByTheScalarsOfTheirNames() throws {
    let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
    try #require(composed == decomposed, "strings do not tell them apart")
    let images = [composed, decomposed].map { ListedImage("\($0).ppm") }
    let both = try Self.table("image_id,age,sex,localization\n\(composed),1,,\n\(decomposed),2,,\n")
      .rows(of: images)
    #expect(try both.entry(ofImage: images[0].path)?.ageInYears == 1)
    #expect(try both.entry(ofImage: images[1].path)?.ageInYears == 2)
    let one = try Self.table("image_id,age,sex,localization\n\(composed),1,,\n")
    #expect(try one.rows(of: images).entry(ofImage: images[1].path) == nil)
    // Alone it is the one that is meant, and a note says so.
    let alone = try one.rows(of: [images[1]])
    #expect(try alone.entry(ofImage: images[1].path)?.ageInYears == 1)
    #expect(alone.notes.count == 1 && alone.notes[0].description.contains("in another Unicode form"))

    let folder = TemporaryFolder()
    folder.write(pnm(), to: "\(composed).ppm")
    folder.write(pnm(seed: 3), to: "\(decomposed).ppm")
    let index = try ImageIndex(folders: [folder.path])
    let list = try TestList(
      Array("\(EvaluateCommandTests.header)\(decomposed),L1,nv,,,\n\(composed),L1,nv,,,\n".utf8),
      path: "l.csv", labels: .ham10000, images: index.sources)
    let found = list.entries.map { Array(index.locations[$0.places[0]].source.name.utf8) }
    #expect(found == [decomposed, composed].map { Array("\(folder.path)/\($0).ppm".utf8) })
  }

  @Test(arguments: [
    ("\u{1B}[31mred", "\\u{1B}[31mred"), ("\u{202E}gpj.exe", "\\u{202E}gpj.exe"), ("\u{200F}x", "\\u{200F}x"),
    ("=\u{7}", "'=\\u{07}"), ("a\nb", "a\\nb"),
  ])
  func aTerminalIsGivenNothingToObey(text: String, cell: String) {
    #expect(CSVCell.text(text, isForTerminal: true) == cell)
  }
}

@Suite struct TestListTests {
  /// All images of the table are there.
  private func list(_ text: String, labels: Labels = .ham10000) throws(DermaFusionError) -> TestList {
    let table = try CSVTable(Array(text.utf8), path: "l.csv")
    let column = try table.column(among: PatientColumns.imageNames)
    let images = column.map { table.names($0).map { ImageSource(name: $0) } } ?? []
    return try TestList(Array(text.utf8), path: "l.csv", labels: labels, images: images)
  }

  @Test func theArchivesWordsAreTheModelsClasses() throws {
    let list = try list(
      "isic_id;diagnosis\nA;melanoma\nB;nevus\nC;solar lentigo\nD;Vascular lesions\nE;BCC\n")
    #expect(list.entries.map(\.label) == [.mel, .nv, .bkl, .vasc, .bcc])
    // Without a column for the lesions each image is one.
    #expect(list.entries.map(\.lesion) == ["A", "B", "C", "D", "E"])
    let failures = try self.list("isic_id;diagnosis\nA;melanoma\nB;\nC;NA\n").failedRows.map(
      \.error.description)
    #expect(failures.count == 2)
    #expect(failures[0].hasPrefix("l.csv: line 3: column 'diagnosis': the value '' is invalid."))
    #expect(failures[1].hasPrefix("l.csv: line 4: column 'diagnosis': the value 'NA' is invalid."))
  }

  /// The columns that the archive's tables have today: the most exact word that is a class counts.
  @Test func theArchivesHierarchyIsRead() throws {
    let list = try list(
      """
      isic_id,diagnosis_1,diagnosis_2,diagnosis_3,diagnosis_4,anatom_site_1,anatom_site_2,anatom_site_3
      A,Malignant,Malignant melanocytic proliferations (Melanoma),"Melanoma, NOS",,Trunk,Posterior trunk,Upper back
      B,Malignant,Malignant melanocytic proliferations (Melanoma),,,Head and neck,Head,Face
      C,Benign,Benign melanocytic proliferations,Nevus,"Nevus, Spitz",Head and neck,Head,
      D,Indeterminate,Indeterminate epidermal proliferations,Solar or actinic keratosis,,Upper extremity,Hand,Palm of hand
      E,Benign,Benign soft tissue proliferations - Vascular,Hemangioma,"Hemangioma, Cherry",Lower extremity,Ankle,
      F,Benign,Cysts,Milium,,,,
      G,Benign,Benign epidermal proliferations,Lichen planus like keratosis,,Anogenital region,Perianal region,Anus
      """)
    #expect(list.entries.map(\.label) == [.mel, .mel, .nv, .akiec, .vasc, .bkl])
    #expect(
      list.entries.map(\.metadata.site) == [.back, .face, .unknown, .hand, .lowerExtremity, .unknown])
    #expect(list.leftOut.map(\.diagnosis) == ["Milium"])
    #expect(!list.notes.contains { $0.description.contains("no known word") })
  }

  @Test func thousandsOfOtherDiagnosesAreCountedSoon() throws {
    let rows = (0..<20_000).map { "i\($0),other \($0)\n" }.joined()
    let list = try list("image_id,diagnosis\na,nevus\n" + rows)
    #expect(list.leftOut.count == 20_000 && list.rowCount == 20_001)
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
    #expect(try list("image_id,dx\nA,nv\nB,scc\n").failureCount == 1)
    #expect(
      throws: error(
        "no row shows one of the model's classes 'akiec', 'bcc', 'bkl', 'df', 'mel', 'nv', 'vasc'; the first shows 'UNK'"
      )
    ) {
      try self.list("image,MEL,NV,UNK\nA,0,0,1\n")
    }
  }

  @Test(arguments: ["dx", "label", "Class"]) func classesAreKnownByIdAndNameInAnyLetterCase(column: String)
    throws
  {
    let list = try list("image_id,\(column)\nA,MEL\nB,melanoma\nC,Melanocytic nevi\nD,Nv\nE,nv\nF,maybe\n")
    #expect(list.entries.map(\.label) == [.mel, .mel, .nv, .nv, .nv])
    #expect(list.rowCount == 6 && list.failureCount == 1)
    #expect(
      list.failedRows[0].error.description.hasPrefix(
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
      #expect(throws: DermaFusionError.self, "\(row)") { try self.list(header + row) }
    }
    #expect(throws: error("the column 'dx' is missing; the header has 'image', 'MEL', 'age'")) {
      try self.list("image,MEL,age\nA,1,5\n")
    }
  }

  private func error(_ message: String) -> DermaFusionError {
    DermaFusionError(.invalidTable, message: "l.csv: \(message)", remedy: "Please correct the table.")
  }
}
