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
      #expect(errors.count == 2)
      #expect(
        errors[0].hasPrefix(
          "Error: \(images[1]): \(path): line 3: column 'age': the value 'five' is invalid."))
      #expect(
        errors[1].hasPrefix(
          "Error: \(images[2]): \(path): line 4: column 'site': the value 'moon' is invalid."))
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

  @Test func imagesAreKnownByTheScalarsOfTheirNames() throws {
    let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
    try #require(composed == decomposed, "strings do not tell them apart")
    let both = try Self.table("image_id,age,sex,localization\n\(composed),1,,\n\(decomposed),2,,\n")
    #expect(both[composed]?.ageInYears == 1)
    #expect(both[decomposed]?.ageInYears == 2)
    let one = try Self.table("image_id,age,sex,localization\n\(composed),1,,\n")
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

  @Test(arguments: [
    ("\u{1B}[31mred", "\\u{1B}[31mred"), ("\u{202E}gpj.exe", "\\u{202E}gpj.exe"), ("\u{200F}x", "\\u{200F}x"),
    ("=\u{7}", "'=\\u{07}"), ("a\nb", "a\\nb"),
  ])
  func aTerminalIsGivenNothingToObey(text: String, cell: String) {
    #expect(CSVCell.text(text, isForTerminal: true) == cell)
  }
}

@Suite struct TestListTests {
  private func list(_ text: String, labels: Labels = .ham10000) throws(DermaFusionError) -> TestList {
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
