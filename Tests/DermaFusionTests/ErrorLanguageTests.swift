import ImagePipeline
import SystemModule
import TestModels
import Testing

@testable import DermaFusion
@testable import Files

/// Errors in the languages of the engine.
@Suite struct ErrorLanguageTests {
  private static let translations: [Language] = [.german, .french]

  /// The error of a table for the images `a.jpg` and `b.jpg`: of the whole table, or of the row of `a.jpg`.
  private func error(_ table: [UInt8]) throws -> DermaFusionError {
    try #require(throws: DermaFusionError.self) {
      let images = ["a.jpg", "b.jpg"].map { ListedImage($0) }
      _ = try MetadataTable(table, path: "t{1}.csv").rows(of: images).entry(ofImage: "a.jpg")
    }
  }

  @Test func aCellIsNamedInTheLanguage() throws {
    let error = try error(Array("image,sex\na.jpg,weib{2}lich\n".utf8))
    #expect(
      error.message
        == "t{1}.csv: line 2: column 'sex': the value 'weib{2}lich' is invalid. Please provide one of 'male', 'female' or 'unknown'."
    )
    #expect(error.worded(in: .english) == error)
    let german = error.worded(in: .english).worded(in: .german)
    #expect(
      german.message
        == "t{1}.csv: Zeile 2, Spalte „sex“: Der Wert „weib{2}lich“ ist ungültig. Bitte geben Sie einen dieser Werte an: "
        + "'male', 'female' oder 'unknown'.")
    #expect(german.remedy == "Bitte berichtigen Sie die Tabelle." && german.code == error.code)
    #expect(
      error.worded(in: .french).message
        == "t{1}.csv\u{A0}: ligne 2, colonne «\u{A0}sex\u{A0}»\u{A0}: la valeur «\u{A0}weib{2}lich\u{A0}» n’est pas valable. "
        + "Veuillez indiquer l’une de ces valeurs\u{A0}: 'male', 'female' ou 'unknown'.")
  }

  @Test(arguments: [
    "image,age\na.jpg,133\n", "image,age\na.jpg,50,1\n", "image,age\na.jpg\n",
    "image,age,age_approx\na.jpg,50,60\n",
    "image,sex\na.jpg,1\nb.jpg,2\n", "photograph,age\na.jpg,50\n", "image,image\na.jpg,b.jpg\n", "",
    "image,age\n",
    "image,age\n,50\n", "image,age\nc.jpg,50\n", "image,age\nc.jpg,50\nd.jpg,51\n",
    "image,age\na.jpg,50\na.jpg,51\n",
    "image,age\n391234567890123,50\n391234567890123,51\n", "image,age\na.JPG,60\nA.JPG,61\nb,1\n",
    "image,age\nx/A.jpg,50\nx/A,60\n", "image,age\n\"a.jpg,50\n", "image,age\n\"a.jpg\"x,50\n", "a\u{0}b",
    "PK\u{3}\u{4}", "PAR1", "\u{1}",
  ])
  func aTableIsRefusedInTheLanguage(text: String) throws {
    try expectWords(error(Array(text.utf8)))
  }

  @Test(arguments: [
    [0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1], [0x1F, 0x8B], [0xFF, 0xFE, 0x41], [0x41, 0x81],
  ])
  func anotherFileThanATableIsNamed(bytes: [UInt8]) throws { try expectWords(error(bytes)) }

  @Test(arguments: [
    ("image,age\na.jpg,\u{FC}\n", ["a.jpg"]), ("image\na.jpg\n", ["a.jpg", "b.jpg", "c.jpg"]),
    ("image,age,sex,site\na.jpg,1,m,xx\n,5,m,back\n", ["a.jpg"]),
    (
      "image,age,sex,site,patient_id\na,1,m,xx,P\nb,2,m,yy,P\n,5,m,back,P\n,6,m,back,P\n", ["a.jpg", "b.jpg"]
    ),
    ("image,age,sex,site\nA.jpg,1,m,back\nB.jpg,2,m,back\n", ["a.jpg", "b.jpg"]),
    ("image,age,sex,site\ne/x/a.jpg,1,m,back\n", ["x/a.jpg"]),
    ("image,age,sex,site\nx/a.jpg,1,m,back\n", ["x/a.jpg"]),
    ("image,age,sex,site\na.jpg,1,m,back\na,2,m,back\n", ["a.jpg"]),
    ("image,age,sex,site\nx/a.jpg,1,m,back\na,2,m,back\na.jpg,3,m,back\n", ["x/a.jpg"]),
    ("image,age,sex,site\ne\u{301}.jpg,1,m,back\n", ["\u{E9}.jpg"]),
    ("image,age,sex,site\na,1,m,back\n391234567890123000,2,m,back\n", ["a.jpg", "391234567890123456.jpg"]),
  ])
  func aTablesNotesAreInTheLanguage(text: String, images: [String]) throws {
    // Windows-1252, where it is not ASCII alone.
    let bytes = text.contains("\u{FC}") ? text.unicodeScalars.map { UInt8($0.value) } : Array(text.utf8)
    let notes = try MetadataTable(bytes, path: "t.csv").rows(of: images.map { ListedImage($0) }).notes
    #expect(!notes.isEmpty)
    for language in Self.translations {
      for note in notes { #expect(language.words(of: note) != note.description, "\(language): \(note)") }
    }
  }

  @Test func aRowOfTwoImagesIsRefusedInTheLanguage() throws {
    let rows = try MetadataTable(Array("image,age\na,1\n".utf8), path: "t.csv")
      .rows(of: ["d/a.jpg", "e/a.jpg"].map { ListedImage($0) })
    try expectWords(#require(throws: DermaFusionError.self) { try rows.entry(ofImage: "e/a.jpg") })
  }

  @Test func anExcelWorkbookIsNamed() throws {
    let error = try error([0x50, 0x4B, 0x03, 0x04, 0x14])
    #expect(
      error.worded(in: .german).message
        == "t{1}.csv: das ist eine Excel-Arbeitsmappe oder eine andere gezippte Datei und keine Tabelle aus Text. "
        + "Bitte speichern Sie sie als CSV.")
  }

  @Test func aPatientIsRefusedInTheLanguage() throws {
    for age in [-1, 130.5, .infinity] {
      try expectWords(#require(throws: DermaFusionError.self) { try PatientMetadata(ageInYears: age) })
    }
    try expectWords(#require(throws: DermaFusionError.self) { try ImageRequest.sex(named: "{1}") })
    try expectWords(#require(throws: DermaFusionError.self) { try ImageRequest.site(named: "{1}") })
    try expectWords(.tooSmall(width: 31, height: 200, minimumSide: 32))
    try expectWords(.tooManyPixels(width: 1 << 20, height: 1 << 20, limit: 7))
    try expectWords(.nonFiniteLogits([.nan, 1]))
  }

  /// A cell or another quoted text keeps its point.
  @Test(arguments: [(Language.english, "130.5"), (.german, "130,5"), (.french, "130,5")])
  func aNumberHasTheDecimalSignOfTheLanguage(language: Language, number: String) throws {
    let error = try #require(throws: DermaFusionError.self) { try PatientMetadata(ageInYears: 130.5) }
    #expect(error.worded(in: language).message.contains(number))
    let share: Sentence = "\(Float(0.25)) \(130.5)"
    #expect(language.words(of: share) == (language == .english ? "0.25 130.5" : "0,25 130,5"))
    let cell = try self.error(Array("image,age\na.jpg,130.5\n".utf8))
    #expect(cell.worded(in: language).message.contains("130.5"))
  }

  /// A stored result with one member that is another than it was.
  @Test(arguments: [
    (#""probabilities":{"a":0.75,"b":0.25}"#, #""probabilities":{"a":0.75,"b":0.5}"#),
    (#""probabilities":{"a":0.75,"b":0.25}"#, #""probabilities":{"a":0.25,"b":0.75}"#),
    (#""risk":"#, #""danger":"#), (#""abstainReasons":[]"#, #""abstainReasons":["blurred","blurred"]"#),
    (#""abstainReasons":[]"#, #""abstainReasons":["tired"]"#), (#""name":"A""#, #""name":"B""#),
    (#""sha256":"00"#, #""sha256":"zz"#), (#""age":null"#, #""age":131"#),
    (#""image":"i.png""#, #""image":7"#),
    (#""confidence":"normal""#, #""confidence":"low""#),
  ])
  func anImportIsRefusedInTheLanguage(member: String, other: String) throws {
    let labels = Labels([
      .init(id: "a", name: "A", malignancy: .benign), .init(id: "b", name: "B", malignancy: .malignant),
    ])
    let result = Classification(
      logits: ClassScores([1.0986123, 0], labels: labels),
      probabilities: ClassScores([0.75, 0.25], labels: labels),
      metadata: .unknown, warnings: [], imageSHA256: nil,
      model: ModelIdentity(name: "m", version: "1", sha256: String(repeating: "0", count: 64)),
      abstention: Abstention(reasons: [], conformalSet: nil))
    let json = result.json(imageName: "i.png")
    let classes =
      #"[{"class":"a","name":"A","malignancy":"benign"},{"class":"b","name":"B","malignancy":"malignant"}]"#
    func imported(_ text: String) throws -> ImportedResult {
      try ImportedResult(json: Array(#"{"classes":\#(classes),"result":\#(text)}"#.utf8)) { _ in nil }
    }
    _ = try imported(json)
    try #require(json.contains(member), "\(json)")
    let changed = json.split(separator: member, maxSplits: 1, omittingEmptySubsequences: false).joined(
      separator: other)
    try expectWords(#require(throws: DermaFusionError.self) { try imported(changed) })
  }

  private func expectWords(_ error: DermaFusionError) throws {
    for language in Self.translations {
      let words = error.worded(in: language)
      #expect(words.message != error.message && words.remedy != error.remedy, "\(language): \(error.message)")
      #expect(words.worded(in: .french) == words)
    }
  }

  /// Words that only developers meet stay English, and so does a sentence of which a part has no other words.
  @Test func aSentenceIsInOneLanguage() {
    let developers: DermaFusionError = .invalidModel("the tensor is cubic")
    #expect(developers.worded(in: .german).message == "the tensor is cubic")
    let mixed: Sentence = "line \(1): \("a part without a translation" as Sentence)"
    #expect(Language.german.words(of: mixed) == "line 1: a part without a translation")
    let named = DermaFusionError.notFound("a{1}.csv").named("b")
    #expect(
      Language.french.words(of: named.fault) == "b\u{A0}: a{1}.csv\u{A0}: fichier ou dossier introuvable"
    )
  }

  @Test func theLanguagesHaveTheSameSentences() {
    func values(_ text: String) -> [String] {
      text.split(separator: "{", omittingEmptySubsequences: false).dropFirst().map { String($0.prefix(2)) }
        .sorted()
    }
    #expect(Language.english.errors.isEmpty)
    for language in Language.allCases where language != .english {
      #expect(language.errors.keys.sorted() == Language.german.errors.keys.sorted())
      for (english, words) in language.errors { #expect(values(words) == values(english), "\(english)") }
    }
  }
}
