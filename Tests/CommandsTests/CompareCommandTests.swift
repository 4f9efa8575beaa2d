import DermaFusion
import Foundation
import ImagePipeline
import SystemModule
import TestFiles
import TestImages
import TestModels
import Testing

@testable import Commands

@Suite struct CompareCommandTests {
  let folder = TemporaryFolder()

  /// Adds so much to the logit of melanoma.
  static func model(bias: Float, classes: String = StandIn.ham10000, hasFusion: Bool = false) throws
    -> Classifier
  {
    Classifier(
      try StandIn.model(
        StandIn.configuration(name: "bias \(bias)", classes: classes, size: 48, hasFusion: hasFusion),
        metadata: [3: [1, 0, 0, 0]]
      ) { image in
        let pixels = image.pixels
        let mean = pixels.reduce(0) { $0 + Float($1) } / Float(pixels.count) / 64
        return [0, 0, 0, 0, bias, mean, 0]
      })
  }

  static func load(_ path: String) throws -> Classifier {
    switch path {
    case "plain": return try model(bias: 0)
    case "biased": return try model(bias: 5)
    case "slightly": return try model(bias: 0.25)
    case "metadata": return try model(bias: 0, hasFusion: true)
    case "turned":
      let ids = #"["vasc", "nv", "mel", "df", "bkl", "bcc", "akiec"]"#
      return Classifier(
        try StandIn.model(StandIn.configuration(classes: ids, size: 48)) { image in
          let pixels = image.pixels
          return [0, pixels.reduce(0) { $0 + Float($1) } / Float(pixels.count) / 64, 0, 0, 0, 0, 0]
        })
    case "others":
      return Classifier(
        try StandIn.model(StandIn.configuration(classes: #"["nv", "mel", "scc"]"#, size: 48)) { _ in
          [0, 1, 2]
        })
    default: return try model(bias: 0)
    }
  }

  func compare(_ words: String...) -> ToolResult { compare(words: words) }

  func compare(words: [String]) -> ToolResult {
    runTool(words: ["compare"] + words, environment: [:]) { path, _, _ in try Self.load(path) }
  }

  /// Three images and a table of their labels.
  func threeImages() -> (images: String, labels: String) {
    for (seed, name) in ["a", "b", "c"].enumerated() {
      folder.write(pnm(seed: seed * 17), to: "images/\(name).ppm")
    }
    let labels = folder.write(
      "image_id,lesion_id,dx,age,sex,site\na,L1,nv,60,,\nb,L2,mel,,,\nc,L3,nv,,,\nelsewhere,L4,df,,,\n",
      to: "labels.csv")
    return ("\(folder.path)/images", labels)
  }

  /// The unit of chance is that of evaluate: two lesions of one patient are drawn together.
  @Test func patientsAreDrawnWhereTheTableNamesThem() throws {
    let (images, labels) = threeImages()
    let words = ["--model", "plain", "--against", "biased", images, "--labels", labels]
    #expect(compare(words: words).output.contains("\nIntervals        by resampling lesions\n"))
    let table = "image_id,lesion_id,dx,patient_id\na,L1,nv,P1\nb,L2,mel,P2\nc,L3,nv,P1\n"
    folder.write(table, to: "labels.csv")
    #expect(compare(words: words).output.contains("\nIntervals        by resampling patients\n"))
    let json = try compare(words: words + ["--format", "json"]).object()
    let labelled = try #require(json["labelled"] as? [String: Any])
    let bootstrap = try #require(labelled["bootstrap"] as? [String: Any])
    #expect(bootstrap["drawn"] as? String == "patients" && bootstrap["units"] as? Int == 2)
    #expect(labelled["lesions"] as? Int == 3)
    // Nothing can be drawn of one patient alone.
    folder.write(table.replacing("P2", with: "P1"), to: "labels.csv")
    #expect(compare(words: words + ["--format", "json"]).output.contains(#""differenceCI":null"#))
  }

  @Test func aFileThatIsNamedTwiceCountsOnce() throws {
    let (images, labels) = threeImages()
    let words = ["--model", "plain", "--against", "biased", "--labels", labels, "--format", "json", images]
    let again = compare(words: words + ["\(images)/a.ppm", "\(images)/./b.ppm"])
    #expect(again.status == .success && again.output == compare(words: words).output)
  }

  @Test func aKnownBiasIsFound() throws {
    let (images, labels) = threeImages()
    let result = compare(
      "--model", "plain", "--against", "biased", images, "--labels", labels, "--format", "json")
    #expect(result.status == .success && result.errors == "", "\(result.errors)")
    let json = try result.object()
    #expect((json["model"] as? [String: Any])?["name"] as? String == "bias 0.0")
    #expect((json["against"] as? [String: Any])?["name"] as? String == "bias 5.0")
    #expect(json["listed"] as? Int == 3 && json["n"] as? Int == 3)
    // nv by the one, mel by the other.
    let agreement = try #require(json["agreement"] as? [String: Any])
    #expect(agreement["n"] as? Int == 0 && agreement["share"] as? Double == 0)
    #expect(agreement["answered"] as? Int == 3)

    let names = ["a", "b", "c"].map { "\(images)/\($0).ppm" }
    let answers = try names.map { path in
      let bytes = try #require(FileManager.default.contents(atPath: path)).map { $0 }
      return try [Self.load("plain"), Self.load("biased")].map {
        try $0.classify(encodedImage: bytes).probabilities.values
      }
    }
    let changes = try #require(json["greatestChanges"] as? [String: [String: Any]])
    for (index, id) in Labels.ham10000.ids.enumerated() {
      let sizes = answers.map { abs($0[1][index] - $0[0][index]) }
      let greatest = try #require(sizes.max())
      let change = try #require(changes[id])
      #expect(abs((change["change"] as? Double ?? -1) - Double(greatest)) < 1e-6, "\(id)")
      #expect(
        greatest > 0.001 && change["image"] as? String == names[sizes.firstIndex(of: greatest)!], "\(id)")
    }

    let labelled = try #require(json["labelled"] as? [String: Any])
    #expect(labelled["n"] as? Int == 3 && labelled["lesions"] as? Int == 3)
    let accuracy = try #require(labelled["accuracy"] as? [String: Any])
    #expect(accuracy["model"] as? Double == 2.0 / 3)
    #expect(accuracy["against"] as? Double == 1.0 / 3)
    #expect(accuracy["difference"] as? Double == 1.0 / 3 - 2.0 / 3)
    let interval = try #require(accuracy["differenceCI"] as? [Double])
    #expect(interval == [-1, 1])
    #expect(json["trainingLists"] as? [String: NSNull] == ["model": NSNull(), "against": NSNull()])
    #expect(json["disclaimer"] as? String == Wording.disclaimer)
  }

  @Test func theSameModelAgreesWithItself() throws {
    let (images, labels) = threeImages()
    let json = try compare(
      "--model", "plain", "--against", "plain", images, "--labels", labels, "--format", "json"
    ).object()
    #expect((json["agreement"] as? [String: Any])?["share"] as? Double == 1)
    let labelled = try #require(json["labelled"] as? [String: Any])
    for key in ["accuracy", "balancedAccuracy", "ece", "negativeLogLikelihood"] {
      let figure = try #require(labelled[key] as? [String: Any], "\(key)")
      #expect(figure["difference"] as? Double == 0, "\(key)")
      #expect(figure["differenceCI"] as? [Double] == [0, 0], "\(key)")
    }
    let text = compare("--model", "plain", "--against", "plain", images)
    #expect(
      text.output.contains(
        "\nSame class       3 of 3 (100.0 %); of those that both answer 3 of 3 (100.0 %)\n"))
  }

  @Test func textShowsBothModelsTheChangesAndTheFigures() {
    let (images, labels) = threeImages()
    let result = compare("--model", "plain", "--against", "slightly", images, "--labels", labels)
    for part in [
      "A                bias 0.0 1, SHA-256 abc, in plain\n",
      "B                bias 0.25 1, SHA-256 abc, in slightly\n",
      "Images           3 of 3 compared\n", "Abstained from   0 by A, 0 by B, 0 by both\n",
      "Labels           3 images of 3 lesions\n", "\nclass     greatest change        A        B  image\n",
      "no image of akiec, bcc, bkl, df, vasc: means over classes leave them out\n",
      "Training list    none with A: ", "B - A       95 % interval\n",
      "\nMelanoma sensitivity at 90 % specificity ",
    ] {
      #expect(result.output.contains(part), "'\(part)' is not in\n\(result.output)")
    }
    #expect(result.output.hasSuffix("\n\n\(Wording.disclaimer)\n"))
    let without = compare("--model", "plain", "--against", "slightly", images)
    #expect(!without.output.contains("95 % interval") && !without.output.contains("Training list"))
  }

  @Test func otherClassesAreRefusedInALine() {
    let (images, _) = threeImages()
    let result = compare("--model", "plain", "--against", "others", images)
    result.expect(
      .failure,
      whole: """
        Error: the models have different classes: only 'plain' has 'akiec', 'bcc', 'bkl', 'df', 'vasc', only 'others' has \
        'scc'

        """)
  }

  @Test func classesInAnotherOrderAreCompared() throws {
    let (images, labels) = threeImages()
    let json = try compare(
      "--model", "plain", "--against", "turned", images, "--labels", labels, "--format", "json"
    ).object()
    #expect((json["agreement"] as? [String: Any])?["share"] as? Double == 1)
    let changes = try #require(json["greatestChanges"] as? [String: [String: Any]])
    #expect(changes.values.allSatisfy { $0["change"] as? Double ?? 1 < 1e-6 }, "\(changes)")
  }

  @Test func imagesThatFailOrHaveNoRowAreNamed() throws {
    let (images, labels) = threeImages()
    let broken = folder.write("hello", to: "images/broken.png")
    folder.write("image_id,lesion_id,dx,age,sex,site\na,L1,nv,60,,\nb,L2,mel,old,,\n", to: "labels.csv")
    let result = compare(
      "--model", "plain", "--against", "biased", images, "--labels", labels, "--format", "json")
    #expect(result.status == .failure)
    let lines = result.errors.split(separator: "\n")
    #expect(lines.count == 3, "\(result.errors)")
    #expect(
      lines[0].hasPrefix(
        "Error: \(images)/b.ppm: \(labels): line 3: column 'age': the value 'old' is invalid."))
    #expect(lines[1].hasPrefix("Error: \(broken): not a PNG"))
    #expect(
      lines[2] == """
        Note: \(labels) has no row with one of the models' classes for 2 of 4 images, the first of them \(broken).
        """)
    let json = try result.object()
    #expect(json["listed"] as? Int == 4 && json["n"] as? Int == 2)
    #expect((json["labelled"] as? [String: Any])?["n"] as? Int == 1)

    folder.write("image_id,dx\nelsewhere,nv\n", to: "labels.csv")
    let nothing = compare("--model", "plain", "--against", "biased", images, "--labels", labels)
    nothing.expect(.failure, "Error: \(labels): no row is that of one of the 4 images, the first of")
  }

  /// The age of the labels' table goes into the models, that of the table of metadata before it.
  @Test func metadataComesFromBothTables() throws {
    let (images, labels) = threeImages()
    let metadata = folder.write("image_id,age\na,20\nb,90\n", to: "metadata.csv")
    func change(_ words: String...) throws -> Double {
      let fixed = ["--model", "plain", "--against", "metadata", "\(images)/a.ppm", "--format", "json"]
      let json = try compare(words: fixed + words).object()
      let changes = try #require(json["greatestChanges"] as? [String: [String: Any]])
      return try #require(changes["df"]?["against"] as? Double)
    }
    let bytes = try #require(folder.contents(of: "images/a.ppm"))
    func expected(_ age: Double) throws -> Double {
      let result = try Self.load("metadata").classify(
        encodedImage: bytes, metadata: PatientMetadata(ageInYears: age))
      return Double(result.probabilities.values[3])
    }
    #expect(try abs(expected(20) - expected(60)) > 1e-4)
    #expect(try abs(change("--labels", labels) - expected(60)) < 1e-6)
    #expect(try abs(change("--labels", labels, "--metadata", metadata) - expected(20)) < 1e-6)
    #expect(try abs(change("--labels", labels, "--metadata", metadata, "--age", "80") - expected(80)) < 1e-6)
  }

  @Test func lesionsThatEitherModelWasTrainedOnAreRefused() throws {
    let (images, labels) = threeImages()
    let split = folder.write(
      "image_id,lesion_id,split\nx,L2,training\ny,L4,training\n", to: "model/training/split.csv")
    let model = "\(folder.path)/model"
    let refused = compare("--model", "plain", "--against", model, images, "--labels", labels)
    #expect(refused.status == .failure && refused.output == "")
    // L4 is of no image that was given.
    #expect(
      refused.errors.hasPrefix(
        "Error: \(labels): the model was trained on 1 of its lesions, the first of them 'L2' (\(split));"),
      "\(refused.errors)")
    let allowed = compare(
      "--model", "plain", "--against", model, images, "--labels", labels, "--allow-training-lesions")
    #expect(allowed.status == .success, "\(allowed.errors)")
    #expect(
      allowed.output.contains(
        "WARNING          B was trained on 1 of these lesions: it seems better than it is\n"))
    #expect(compare("--model", "plain", "--against", model, images).status == .success)
  }

  @Test func photographsThatEitherModelWasTrainedOnAreFoundByTheirPixels() throws {
    let (images, labels) = threeImages()
    folder.write(PixelImage.spots(width: 160, height: 120, seed: 3).pnm, to: "images/b.ppm")
    folder.write("{}", to: "model/config.json")
    let list = folder.write("image_id,lesion_id,split\nb,L9,training\n", to: "model/training/split.csv")
    #expect(runTool("duplicates", "\(images)/b.ppm", "--fingerprints", list).status == .success)
    folder.write("image_id,lesion_id,split\nz,L9,training\n", to: "model/training/split.csv")
    let words = ["--model", "plain", "--against", "\(folder.path)/model", images, "--labels", labels]
    let text = compare(words: words)
    #expect(text.status == .success, "\(text.errors)")
    #expect(text.output.contains("WARNING          B: 1 of 3 photographs was trained on (by pixels)\n"))
    #expect(text.output.contains("\n2 images of lesions that neither was trained on\n"), "\(text.output)")
    let json = compare(words: words + ["--format", "json"])
    #expect(json.output.contains(#""unseen":{"n":2,"lesions":2,"absentClasses":"#), "\(json.output)")
    #expect(
      !compare("--model", "plain", "--against", "plain", images, "--labels", labels, "--format", "json")
        .output.contains("unseen"))
  }

  @Test func aSecondModelAndImagesAreRequired() {
    let result = compare("--model", "plain", "a.png")
    result.expect(.usage, "Error: Missing expected option '--against <folder>'")
    #expect(compare("--against", "plain").status == .usage)
  }
}
