import TestFiles
import TestModels
import Testing

@testable import Commands
@testable import DermaFusion

/// `classify --format isic`.
@Suite struct ISICSubmissionTests {
  let folder = TemporaryFolder()
  static let header = "image,MEL,NV,BCC,AKIEC,BKL,DF,VASC"

  /// The cells that belong to a result.
  private func row(_ name: String, _ result: Classification) -> String {
    let byClass = Dictionary(
      uniqueKeysWithValues: result.probabilities.labels.map { ($0.id, result.probabilities[$0]) })
    let values = ["mel", "nv", "bcc", "akiec", "bkl", "df", "vasc"].map { byClass[$0]?.description ?? "none" }
    return ([name] + values).joined(separator: ",")
  }

  @Test func aRowForEachImageAlsoForOneFromWhichTheModelAbstains() throws {
    let photograph = pnm(seed: 30)
    let plain = Array("P6 60 60 255\n".utf8) + [UInt8](repeating: 120, count: 60 * 60 * 3)
    let paths = [
      folder.write(photograph, to: "ISIC_0000002.v1.ppm"), folder.write(plain, to: "deep/ISIC_0000001.ppm"),
    ]
    let classifier = try toyClassifier(threadCount: 2, usesMetadata: true)
    let results = try [photograph, plain].map {
      try classifier.classify(encodedImage: $0, metadata: PatientMetadata(ageInYears: 55))
    }
    #expect(!results[0].abstains && results[1].abstains)
    let expected =
      [Self.header, row("ISIC_0000002.v1", results[0]), row("ISIC_0000001", results[1])]
      .joined(separator: "\n") + "\n"
    let words = ["classify"] + paths + ["--age", "55", "--format", "isic"]
    let printed = runTool(words: words)
    #expect(printed.status == .success && printed.errors == "")
    #expect(printed.output == expected)
    let output = folder.write("old", to: "submission.csv")
    let written = runTool(words: words + ["--output", output, folder.path + "/none.ppm"])
    #expect(written.status == .failure && written.output == "")
    #expect(folder.text(of: "submission.csv") == expected)
  }

  @Test func aModelWithOtherClassesIsRefused() throws {
    let labels = ModelLabelsTests()
    let image = folder.write(pnm(), to: "A.ppm")
    let output = folder.write("old", to: "submission.csv")
    let result = labels.run(
      "classify", image, "--model", try labels.model(ModelLabelsTests.isic2019), "--format", "isic",
      "--output", output)
    result.expect(
      .usage,
      "Error: The value 'isic' is invalid for '--format <format>'. A submission has the classes MEL, NV, BCC, AKIEC, "
        + "BKL, DF, VASC, and the model's classes are 'MEL', 'NV', 'BCC', 'AK', 'BKL', 'DF', 'VASC', 'SCC'. A table of --isic-classes names the column of each.\n"
    )
    #expect(folder.contents(of: "submission.csv") == Array("old".utf8))
    // The challenge's own names, in another order.
    let capitals = try labels.model(["VASC", "DF", "BKL", "AKIEC", "BCC", "NV", "MEL"])
    let accepted = labels.run("classify", image, "--model", capitals, "--format", "isic")
    #expect(accepted.status == .success && accepted.output.hasPrefix(Self.header + "\n"))
    let cells = accepted.output.split(separator: "\n")[1].split(separator: ",").dropFirst().compactMap {
      Float($0)
    }
    // Its last class is the likeliest, its first the least likely.
    #expect(cells.count == 7 && cells.first == cells.max() && cells.last == cells.min())
  }

  /// Two classes in one column, a column that no class has, and a class without a column.
  @Test func aTableNamesTheColumns() throws {
    let image = folder.write(pnm(seed: 30), to: "A.ppm")
    let table = folder.write(
      "class,isic\nnv,NV\nmel,MAL\nbcc,MAL\n,INF\nakiec,AKIEC\nBKL,BKL\ndf,\n", to: "classes.csv")
    let words = ["classify", image, "--format", "isic", "--isic-classes", table]
    let result = runTool(words: words)
    let made = try toyClassifier(threadCount: 2, usesMetadata: true).classify(encodedImage: pnm(seed: 30))
    let values = [.nv, .mel, .akiec, .bkl].map { made.probabilities[$0] }
    let cells = [
      "\(values[0])", "\(values[1] + made.probabilities[.bcc])", "0.0", "\(values[2])", "\(values[3])",
    ]
    #expect(result.output == "image,NV,MAL,INF,AKIEC,BKL\nA,\(cells.joined(separator: ","))\n")
    #expect(
      result.errors
        == "Note: \(table): the submission leaves out the probabilities of 'df', 'vasc'; no class of the model is 'INF', which is 0.0.\n"
    )
    // A model of other classes, which no challenge of 2018 takes.
    let labels = ModelLabelsTests()
    folder.write("class,isic\nSCC,SCCKA\n", to: "classes.csv")
    let other = labels.run(
      "classify", image, "--model", try labels.model(ModelLabelsTests.isic2019), "--format", "isic",
      "--isic-classes", table, "--quiet")
    #expect(other.output.hasPrefix("image,SCCKA\nA,"), "\(other.errors)")
  }

  @Test(arguments: [
    (
      "class,isic\nscc,SCC\n",
      "line 2: column 'class': the value 'scc' is invalid. Please provide one of 'akiec',"
    ),
    ("class,isic\nnv,NV\nNV,MEL\n", "line 3: the class 'nv' was already on line 2"),
    ("class,isic\nnv,image\n", "line 2: column 'isic': the value 'image' is invalid."),
    ("class,name\nnv,NV\n", "the column 'isic' is missing; the header has 'class', 'name'"),
    ("class,isic\nnv,\n", "no row names a class of the model and its column"),
  ])
  func aTableThatNamesNoColumnsIsRefused(text: String, message: String) {
    let image = folder.write(pnm(), to: "A.ppm")
    let table = folder.write(text, to: "classes.csv")
    let result = runTool("classify", image, "--format", "isic", "--isic-classes", table)
    result.expect(.failure, "Error: \(table): \(message)")
    let csv = runTool("classify", image, "--format", "csv", "--isic-classes", table)
    #expect(csv.status == .usage && csv.errors.contains("has no effect without '--format isic'"))
  }

  @Test func twoImagesOfOneNameAreRefused() {
    let first = folder.write(pnm(), to: "one/A.ppm")
    let second = folder.write(pnm(), to: "two/A.pnm")
    let result = runTool("classify", first, second, "--format", "isic")
    result.expect(
      .failure,
      whole:
        "Error: \(second): a submission has one row for each image, and 'A' is the name of \(first) too\n")
  }

  @Test(arguments: [
    (["--resume", "--output", "x.csv"], "'json' or 'csv' with --resume"),
    (["--timing"], "'text', 'json' or 'csv' with --timing"),
    (["--explain-metadata"], "'text' or 'json' with --explain-metadata"),
  ])
  func whatHasNoColumnIsRefused(words: [String], said: String) {
    let result = runTool(words: ["classify", "A.ppm", "--format", "isic"] + words)
    result.expect(
      .usage, "Error: The value 'isic' is invalid for '--format <format>'. Please provide \(said).\n")
  }
}
