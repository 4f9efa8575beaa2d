import DermaFusion
import Files
import Foundation
import SystemModule
import TestFiles
import TestModels
import Testing

@testable import Commands

/// Commands on models whose classes are not the seven of HAM10000.
@Suite struct ModelLabelsTests {
  let folder = TemporaryFolder()

  static let isic2019: [[String: String]] = [
    ("MEL", "Melanoma", "malignant"), ("NV", "Melanocytic nevus", "benign"),
    ("BCC", "Basal cell carcinoma", "malignant"), ("AK", "Actinic keratosis", "pre-malignant"),
    ("BKL", "Benign keratosis", "benign"), ("DF", "Dermatofibroma", "benign"),
    ("VASC", "Vascular lesion", "benign"), ("SCC", "Squamous cell carcinoma", "malignant"),
  ].map { ["class": $0.0, "name": $0.1, "malignancy": $0.2] }

  /// Writes a model whose last class is the likeliest of every image that is not black.
  func model(_ classes: [Any]) throws -> String {
    let files = try LightDetector.files(classes: classes, rising: classes.count - 1, falling: 0)
    folder.write(files.configuration, to: "model/config.json")
    folder.write(files.weights, to: "model/model.safetensors")
    return folder.path + "/model"
  }

  /// Runs a command that loads models as the program does, unless it is given one.
  func run(_ words: String..., loading classifier: Classifier? = nil) -> ToolResult {
    run(words: words, loading: classifier)
  }

  func run(words: [String], loading classifier: Classifier? = nil) -> ToolResult {
    runTool(words: words, environment: [:], width: 100) { folder, threadCount, _ in
      try classifier ?? Classifier(modelDirectory: folder, threadCount: threadCount ?? 2)
    }
  }

  func object(_ result: ToolResult) throws -> [String: Any] {
    try #require(result.status == .success, "\(result.errors)")
    return try result.object()
  }

  @Test func eightClassesOfISIC2019() throws {
    let model = try model(Self.isic2019)
    let image = folder.write(pnm(), to: "images/A.ppm")
    let classified = run("classify", image, "--model", model, "--format", "json")
    let json = try object(classified)
    let prediction = try #require(json["prediction"] as? [String: Any])
    #expect(prediction["class"] as? String == "SCC")
    #expect(prediction["name"] as? String == "Squamous cell carcinoma")
    #expect(classified.output.contains(#""probabilities":{"MEL":"#))
    #expect(json["risk"] as? String != "low")

    let explained = run(
      "gradcam", image, "--model", model, "--class", "SCC", "--output", "\(folder.path)/scc.png",
      "--format", "json")
    let maps = try #require(try object(explained)["maps"] as? [[String: Any]])
    #expect(maps.map { $0["class"] as? String } == ["SCC"])
    #expect(maps[0]["name"] as? String == "Squamous cell carcinoma")
    let sheet = run(
      "gradcam", image, "--model", model, "--class", "all", "--output", "\(folder.path)/all.png",
      "--format", "json")
    #expect(
      (try object(sheet)["maps"] as? [[String: Any]])?.map { $0["class"] as? String }
        == Self.isic2019.map { $0["class"] })
    let mistyped = run("gradcam", image, "--model", model, "--class", "mel")
    mistyped.expect(
      .usage,
      """
      Error: The value 'mel' is invalid for '--class <class>'. The model's classes are 'MEL', 'NV', 'BCC', 'AK', \
      'BKL', 'DF', 'VASC' or 'SCC'. Did you mean 'MEL'?
      """)
    let named = run("gradcam", image, "--model", model, "--class", "melanoma")
    #expect(named.errors.contains("Did you mean 'MEL'?"), "\(named.errors)")
  }

  @Test func evaluationOfEightClasses() throws {
    let model = try model(Self.isic2019)
    for (seed, name) in ["A", "B", "C"].enumerated() {
      folder.write(pnm(seed: seed * 11), to: "images/\(name).ppm")
    }
    let labels = folder.write(
      "image_id,lesion_id,dx,age,sex,localization\nA,1,SCC,,,\nB,2,NV,,,\nC,3,MEL,,,\n", to: "labels.csv")
    let words = ["evaluate", "--labels", labels, "--images", "\(folder.path)/images", "--model", model]
    let json = try object(run(words: words + ["--format", "json"]))
    #expect(
      (json["perClass"] as? [String: Any])?.keys.sorted() == Self.isic2019.compactMap { $0["class"] }.sorted()
    )
    #expect(json["melanomaSensitivityAt90Specificity"] is Double)
    #expect(json["malignantAUROC"] is Double)
    #expect(json["accuracy"] as? Double == 1.0 / 3)
    #expect((json["absentClasses"] as? [String]) == ["BCC", "AK", "BKL", "DF", "VASC"])
    let text = run(words: words).output
    #expect(text.contains("Malignant AUROC (MEL, BCC, AK, SCC)"), "\(text)")
    #expect(text.contains("\nSCC "), "\(text)")
    let wrong = folder.write("image_id,lesion_id,dx,age,sex,localization\nA,1,scx,,,\n", to: "wrong.csv")
    #expect(
      run("evaluate", "--labels", wrong, "--images", "\(folder.path)/images", "--model", model).errors
        == """
        Error: \(wrong): line 2: column 'dx': the value 'scx' is invalid. Please provide one of 'MEL', 'NV', 'BCC', 'AK', \
        'BKL', 'DF', 'VASC' or 'SCC'.

        """)
  }

  @Test func twoClassesOfWhichNothingMoreIsSaid() throws {
    let model = try model(["benign", "malignant"])
    let image = folder.write(pnm(), to: "images/A.ppm")
    folder.write(pnm(seed: 7), to: "images/B.ppm")
    let json = try object(run("classify", image, "--model", model, "--format", "json"))
    #expect((json["prediction"] as? [String: Any])?["class"] as? String == "malignant")
    #expect(json["risk"] is NSNull)
    let text = run("classify", image, "--model", model).output
    #expect(text.contains("  Risk        not judged, since the model does not say which"), "\(text)")
    let table = try CSVTable(
      Array(run("classify", image, "--model", model, "--format", "csv").output.utf8), path: "t")
    #expect(try table.rows[0][table.column("class")] == "malignant")
    #expect(try table.rows[0][table.column("risk")] == "")
    #expect(table.header.contains("benign") && table.header.contains("malignant"))

    let labels = folder.write(
      "image_id,lesion_id,dx,age,sex,localization\nA,1,malignant,,,\nB,2,benign,,,\n", to: "labels.csv")
    let evaluated = try object(
      run(
        "evaluate", "--labels", labels, "--images", "\(folder.path)/images", "--model", model, "--format",
        "json"))
    for key in ["melanomaSensitivityAt90Specificity", "malignantAUROC", "risk"] {
      #expect(evaluated[key] is NSNull, "\(key)")
    }
    #expect(evaluated["balancedAccuracy"] as? Double == 0.5)
    let report = run("evaluate", "--labels", labels, "--images", "\(folder.path)/images", "--model", model)
      .output
    for word in ["Melanoma", "melanoma", "Malignant AUROC", "share at risk"] {
      #expect(!report.contains(word), "\(word) in \(report)")
    }
    let batch = run("classify", "\(folder.path)/images", "--model", model).output
    #expect(
      batch.contains("\n\n2 images: 2 malignant. Risk is not judged, since the model does not"), "\(batch)")

    let picture = ["--model", model, "--output", "\(folder.path)/map.png"]
    let explained = try object(run(words: ["gradcam", image, "--format", "json"] + picture))
    #expect(explained["prediction"] as? String == "malignant")
    let words = run(words: ["gradcam", image] + picture).output
    #expect(words.contains("\n  malignant, probability "), "\(words)")
  }

  @Test func aClassNamedAsAGroupOfTheRiskIsNoSecondMember() throws {
    let model = try model([
      ["class": "benign", "malignancy": "benign"], ["class": "malignant", "malignancy": "malignant"],
    ])
    folder.write(pnm(), to: "images/A.ppm")
    folder.write(pnm(seed: 7), to: "images/B.ppm")
    let labels = folder.write("image_id,dx\nA,malignant\nB,benign\n", to: "labels.csv")
    let evaluated = run(
      "evaluate", "--labels", labels, "--images", "\(folder.path)/images", "--model", model, "--format",
      "json")
    let risk = try #require(try object(evaluated)["risk"] as? [String: [String: Any]])
    for level in ["moderate", "high"] {
      #expect(
        risk[level]?.keys.sorted() == ["benign", "benignCI", "malignant", "malignantCI"], "\(risk)")
      #expect(risk[level]?["malignant"] as? Double == 1)
    }
    // Once a level: a parser would keep one of two without a word.
    for name in ["benignCI", "malignantCI"] {
      let count = evaluated.output.components(separatedBy: "\"\(name)\":").count - 1
      #expect(count == 2, "\(name) in \(evaluated.output)")
    }
  }

  /// Each column of a table has a name of its own, and a batch with such a table can be gone on with.
  @Test func classesCalledLikeColumnsHaveColumnsOfTheirOwn() throws {
    let ids = ["risk", "nv", "label", "probability_risk", "views", "abstain", "image"]
    let model = try model(ids)
    let images = ["A", "B"].enumerated().map { folder.write(pnm(seed: $0 * 9), to: "images/\($1).ppm") }
    let path = folder.path + "/results.csv"
    let words = ["classify"] + images + ["--model", model, "--format", "csv", "--output", path]
    #expect(run(words: words).status == .success)
    let whole = try #require(folder.contents(of: "results.csv"))
    let table = try CSVTable(whole, path: path)
    #expect(Set(table.header).count == table.header.count, "\(table.header)")
    let names = [
      "probability_probability_risk", "nv", "label", "probability_risk", "views",
      "probability_abstain", "probability_image",
    ]
    #expect(Array(table.header[5..<12]) == names)
    let sum = table.rows[0].fields[5..<12].reduce(0) { $0 + (Double($1) ?? .nan) }
    #expect(abs(sum - 1) < 1e-5, "\(table.rows[0].fields)")
    folder.write(Array(whole.dropLast(20)), to: "results.csv")
    #expect(run(words: words + ["--resume"]).status == .success)
    #expect(folder.contents(of: "results.csv") == whole)

    let labels = folder.write("image_id,dx\nA,risk\nB,nv\n", to: "labels.csv")
    let evaluated = run(
      "evaluate", "--labels", labels, "--images", "\(folder.path)/images", "--model", model,
      "--predictions", path)
    #expect(evaluated.status == .success, "\(evaluated.errors)")
    let predictions = try CSVTable(try #require(folder.contents(of: "results.csv")), path: path)
    #expect(
      predictions.header == [
        "image_id", "label", "risk", "nv", "probability_label", "probability_risk", "views",
        "probability_abstain", "image", "abstain",
      ])
  }

  @Test func ofAThousandClassesTextShowsTheLikeliest() throws {
    let ids = (0..<1000).map { "\"c\($0)\"" }.joined(separator: ",")
    let classifier = Classifier(
      try StandIn.model(StandIn.configuration(classes: "[\(ids)]", size: 48)) { _ in
        (0..<1000).map { $0 == 417 ? 12 : Float($0 % 10) / 10 }
      })
    let image = folder.write(pnm(), to: "images/A.ppm")
    let text = run("classify", image, loading: classifier)
    #expect(text.status == .success, "\(text.errors)")
    let bars = text.output.split(separator: "\n").filter { $0.contains("%") && $0.hasPrefix("  c") }
    #expect(bars.count == 10 && bars[0].hasPrefix("  c417 "), "\(text.output)")
    #expect(text.output.contains("\n  990 more classes  "), "\(text.output)")
    let table = try CSVTable(
      Array(run("classify", image, "--format", "csv", loading: classifier).output.utf8), path: "t")
    #expect(table.header.filter { $0.hasPrefix("c") && Int($0.dropFirst()) != nil }.count == 1000)
    let labels = folder.write(
      "image_id,lesion_id,dx,age,sex,localization\nA,1,c417,,,\n", to: "labels.csv")
    let report = run("evaluate", "--labels", labels, "--images", "\(folder.path)/images", loading: classifier)
    #expect(report.status == .success, "\(report.errors)")
    #expect(report.output.contains("970 classes with fewer images are left out; --format json has them."))
    #expect(report.output.contains("\nc417 "))
    let longest = report.output.split(separator: "\n").map(\.count).max() ?? 0
    #expect(longest < 200)
  }
}
