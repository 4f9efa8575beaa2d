import Foundation
import ImageFiles
import ImagePipeline
import SystemModule
import TestFiles
import TestImages
import TestModels
import Testing

@testable import Commands
@testable import DermaFusion
@testable import Evaluation
@testable import Files

@Suite struct CalibrateCommandTests {
  let folder = TemporaryFolder()
  private let modelFolder = TemporaryFolder()
  private var model: String { "\(modelFolder.path)/small" }

  /// The shipped model at a tenth of the pixels: a fit takes its answers as they are.
  init() throws {
    let shipped = Fixtures.root.appendingPathComponent("Weights")
    let configuration = try String(contentsOf: shipped.appendingPathComponent("config.json"), encoding: .utf8)
    try #require(configuration.contains("\"size\": 380"))
    modelFolder.write(
      configuration.replacing("\"size\": 380", with: "\"size\": 128")
        // The tests' pictures are noise, which no dermatoscope took.
        .replacing(/("dermoscopy": \{[^}]*"threshold": )[-0-9.]+/) { "\($0.1)1e9" },
      to: "small/config.json")
    for name in ["model.safetensors", "training"] {
      try FileManager.default.createSymbolicLink(
        atPath: "\(model)/\(name)", withDestinationPath: shipped.appendingPathComponent(name).path)
    }
  }

  /// Runs the command with the model of a folder.
  private func run(_ words: [String], command: String = "calibrate", showsProgress: Bool = false)
    -> ToolResult
  {
    runTool(
      words: [command] + words, environment: [:], showsProgress: showsProgress, loading: loadingFolders)
  }

  /// The arguments for so many images, each of a lesion of its own unless `lesions` are fewer.
  private func words(_ count: Int, lesions: Int? = nil) -> [String] {
    var rows = "image_id,lesion_id,dx\n"
    let ids = Labels.ham10000.ids
    for index in 0..<count {
      folder.write(pnm(seed: 3 * index), to: "images/i\(index).ppm")
      rows += "i\(index),L\(index % (lesions ?? count)),\(ids[index % ids.count])\n"
    }
    return [
      "--labels", folder.write(rows, to: "labels.csv"), "--images", "\(folder.path)/images", "--output",
      "\(folder.path)/new", "--model", model,
    ]
  }

  @Test func theWrittenModelGivesTheFittedProbabilities() throws {
    let result = run(words(56) + ["--format", "json", "--force"])
    #expect(result.status == .success, "\(result.errors)")
    let json = try result.object()
    let fitted = try #require(json["fitted"] as? [String: Any])
    let bias = try #require(fitted["bias"] as? [String: Double])
    let temperature = try #require(fitted["temperature"] as? Double)
    #expect(bias.values.contains { $0 != 0 })

    let (old, new) = (
      try Classifier(modelDirectory: model), try Classifier(modelDirectory: "\(folder.path)/new")
    )
    #expect(new.model.version == old.model.version + "+calibrated")
    #expect((json["model"] as? [String: String])?["sha256"] == new.model.sha256)
    #expect(new.hasChecksums && new.configuration.temperature == temperature)
    for seed in [0, 30, 165] {
      let before = try old.classify(encodedImage: pnm(seed: seed))
      let after = try new.classify(encodedImage: pnm(seed: seed))
      let fit = CalibrationFit(
        bias: Labels.ham10000.ids.map { bias[$0]! }, temperature: temperature)
      let expected = fit.probabilities(before.logits.values.map { Double($0) })
      for (found, expected) in zip(after.probabilities.values, expected) {
        #expect(abs(Double(found) - expected) < 1e-5, "\(found), expected \(expected)")
      }
    }

    // All but the bias is as it was.
    let files = try [model, "\(folder.path)/new"].map {
      [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\($0)/model.safetensors")))
    }
    let range = try #require(SafetensorsFile(bytes: files[0])["fusion.classifier.bias"]).byteRange
    expectEqual(files, but: [range])
    let card = try #require(folder.text(of: "new/README.md"))
    #expect(card.contains(Wording.disclaimer) && card.contains("56 photographs of 56 lesions"))
    let list = try #require(folder.text(of: "new/training/split.csv"))
    #expect(list.hasSuffix("i55,L55,vasc,,validation\n"))
    let fingerprints = try #require(folder.contents(of: "new/training/fingerprints.bin"))
    #expect(fingerprints.count == 32 * list.split(separator: "\n").count)

    // Pictures that the shipped model seldom met are what the fitted one knows.
    let notes = [model, "\(folder.path)/new"].map {
      run(["\(folder.path)/images", "--model", $0], command: "classify", showsProgress: true).errors
    }
    let note = "images look less like those that the model was trained on than nine in ten"
    #expect(notes.map { $0.contains(note) } == [true, false], "\(notes)")

    let again = run(words(56))
    again.expect(.failure, part: "\(folder.path)/new: the folder is there and not empty")
  }

  @Test func tooFewAreRefused() throws {
    let few = run(words(98, lesions: 49))
    #expect(few.status == .failure)
    #expect(
      few.errors.hasSuffix("labels.csv: 49 lesions are too few to fit a model to; at least 50 are needed\n"))
    let forLastLayer = run(words(149) + ["--last-layer"])
    #expect(forLastLayer.status == .failure)
    #expect(
      forLastLayer.errors.contains("149 lesions are too few to fit a model to; at least 150 are needed"))
    #expect(!FileManager.default.fileExists(atPath: "\(folder.path)/new"))
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["images", "labels.csv"])
  }

  /// One of 50 lesions is left out, and the rest is too few.
  @Test func photographsThatWereTrainedOnAreLeftOut() throws {
    try FileManager.default.removeItem(atPath: "\(model)/training")
    let words = words(50)
    folder.write(PixelImage.spots(width: 160, height: 120, seed: 4).pnm, to: "images/i7.ppm")
    let list = modelFolder.write(
      "image_id,lesion_id,split\ni7,other,training\n", to: "small/training/split.csv")
    let written = run(["\(folder.path)/images/i7.ppm", "--fingerprints", list], command: "duplicates")
    #expect(written.status == .success, "\(written.errors)")
    modelFolder.write("image_id,lesion_id,split\nx,other,training\n", to: "small/training/split.csv")
    let result = run(words)
    #expect(result.status == .failure && result.output == "")
    #expect(
      result.errors.contains("1 of 50 photographs was trained on (by pixels); their lesions are left out.\n")
        && result.errors.hasSuffix("49 lesions are too few to fit a model to; at least 50 are needed\n"),
      "\(result.errors)")
    let quiet = run(words + ["--quiet"])
    #expect(quiet.errors.hasPrefix("Error: ") && quiet.errors.hasSuffix("at least 50 are needed\n"))
  }

  /// The words on a table whose files are there and are no images.
  private func refusal(_ rows: [String], header: String = "image_id,lesion_id,dx,patient_id") -> String {
    var words = words(1)
    for index in rows.indices { folder.write("\(index)", to: "images/M\(index).ppm") }
    words[1] = folder.write("\(header)\n" + rows.map { $0 + "\n" }.joined(), to: "table.csv")
    let result = run(words + ["--force"])
    #expect(result.status == .failure && result.output == "")
    #expect(!FileManager.default.fileExists(atPath: "\(folder.path)/new"))
    return result.errors
  }

  @Test func lesionsOfFewPatientsAreRefused() {
    let ids = Labels.ham10000.ids
    let one = refusal((0..<70).map { "M\($0),L\($0),\(ids[$0 % 7]),P" })
    #expect(
      one.contains(
        "table.csv: its 70 lesions are of 1 patient, which is too few to fit a model to; at least 20 patients are needed"
      ), "\(one)")
    let some = refusal((0..<76).map { "M\($0),L\($0),\(ids[$0 % 7]),P\($0 % 19)" })
    #expect(some.contains("its 76 lesions are of 19 patients, which is too few"), "\(some)")
    let joined = refusal((0..<140).map { "M\($0),L\($0 / 2),\(ids[$0 % 7]),P\(($0 + 1) / 2)" })
    #expect(
      joined.contains(
        "70 lesions are of 1 patient (patients that share a lesion count as one), which is too few"),
      "\(joined)")
    let many = refusal((0..<80).map { "M\($0),L\($0),\(ids[$0 % 7]),P\($0 % 20)" })
    #expect(!many.contains("too few to fit a model to; at least 20") && many.contains("M0"), "\(many)")
  }

  @Test func oneClassAloneIsRefused() {
    let errors = refusal((0..<200).map { "M\($0),L\($0),nv,P\($0)" })
    #expect(
      errors.contains("table.csv: every photograph shows 'nv'; at least two classes are needed"), "\(errors)")
  }

  @Test func labelsThatHaveNothingToDoWithTheClassesAreRefused() throws {
    let old = try Classifier(modelDirectory: model)
    var words = words(56)
    var rows = "image_id,dx\n"
    for index in 0..<56 {
      let probabilities = try old.classify(encodedImage: pnm(seed: 3 * index)).probabilities
      let least = probabilities.labels.min { probabilities[$0] < probabilities[$1] }!
      rows += "i\(index),\(index == 0 ? "nv" : index == 1 ? "mel" : least.id)\n"
    }
    words[1] = folder.write(rows, to: "least.csv")
    for flags in [[], ["--force"], ["--melanoma-weight", "2"]] {
      let result = run(words + flags)
      #expect(result.status == .failure && result.output == "", "\(flags): \(result.errors)")
      #expect(
        result.errors.contains(
          "/least.csv: the labels do not go together with the model's classes: the label is the likeliest class of "
        ),
        "\(result.errors)")
      #expect(!result.errors.contains("config.json"))
    }
    #expect(!FileManager.default.fileExists(atPath: "\(folder.path)/new"))
  }

  /// Labels that are drawn from the model's own probabilities: no fit to them is better.
  @Test func aModelThatIsNoBetterIsNotWritten() throws {
    // Without limits of its own, of which pictures of noise would always find better ones.
    let toy = try toy()
    let old = try Classifier(modelDirectory: toy)
    var words = words(60)
    words[7] = toy
    var rows = "image_id,dx\n"
    for index in 0..<60 {
      let probabilities = try old.classify(encodedImage: pnm(seed: 3 * index)).probabilities
      var rest = Float(index * 37 % 60) / 60 + 0.005
      let label = probabilities.labels.first { label in
        rest -= probabilities[label]
        return rest < 0
      }
      rows += "i\(index),\(label?.id ?? "nv")\n"
    }
    words[1] = folder.write(rows, to: "drawn.csv")
    let kept = run(words + ["--format", "json"])
    #expect(kept.status == .notBetter && kept.status.rawValue == 2, "\(kept.errors)")
    #expect(!FileManager.default.fileExists(atPath: "\(folder.path)/new"))
    #expect(kept.errors.contains("/new: not written, the old model was kept. No better than before: "))
    #expect(kept.errors.contains(" --force writes it anyway."))
    let json = try kept.object()
    #expect(json["model"] is NSNull && json["folder"] is NSNull)
    #expect((json["verdict"] as? String)?.hasPrefix("No better than before: ") == true)
    #expect((json["kept"] as? [String]) == [])

    let forced = run(words + ["--force", "--melanoma-weight", "2"])
    #expect(forced.status == .success, "\(forced.errors)")
    let new = try Classifier(modelDirectory: "\(folder.path)/new")
    let (before, after) = (
      try old.classify(encodedImage: pnm(seed: 5)).logits, try new.classify(encodedImage: pnm(seed: 5)).logits
    )
    #expect(before != after)
  }

  /// `evaluate` compares the names of the list as they stand.
  @Test func theListOfWhatWasSeenHasTheNamesAsTheyAre() throws {
    var words = words(56)
    let labels = folder.write(
      try #require(folder.text(of: "labels.csv"))
        .replacing("L7,", with: "-T7,").replacing("L8,", with: "\"a \","), to: "odd.csv")
    words[1] = labels
    #expect(run(words + ["--force"]).status == .success)
    let list = try TrainingList(
      [UInt8](try #require(folder.contents(of: "new/training/split.csv"))), path: "split.csv")
    let index = try ImageIndex(folders: [words[3]])
    let test = try TestList(
      [UInt8](Data(contentsOf: URL(fileURLWithPath: labels))), path: labels, labels: .ham10000,
      images: index.sources)
    #expect(list.validationLesions(in: test).count == 56)
    #expect(
      list.validationLesions(in: test).contains("-T7") && list.validationLesions(in: test).contains("a "))
  }

  /// The folder of a small network that takes metadata.
  private func toy() throws -> String {
    let (network, configuration) = try #require(
      FormulaNetwork.all().first { $0.network.shapes["fusion.classifier.weight"]?[0] == 7 })
    folder.write(configuration, to: "toy/config.json")
    folder.write(network.weights(), to: "toy/model.safetensors")
    return "\(folder.path)/toy"
  }

  @Test func theLastLayerCanChange() throws {
    let toy = try toy()
    var words = words(154)
    words[7] = toy
    let result = run(words + ["--force", "--last-layer", "--format", "json"])
    #expect(result.status == .success, "\(result.errors)")
    let files = try [toy, "\(folder.path)/new"].map {
      [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\($0)/model.safetensors")))
    }
    let file = try SafetensorsFile(bytes: files[0])
    let ranges = try ["bias", "weight"].map { try #require(file["fusion.classifier.\($0)"]).byteRange }
    expectEqual(files, but: ranges)
  }

  /// Two files that differ in each of these ranges and nowhere else.
  private func expectEqual(_ files: [[UInt8]], but ranges: [Range<Int>]) {
    var second = files[1]
    for range in ranges {
      #expect(files[0][range] != files[1][range])
      second.replaceSubrange(range, with: files[0][range])
    }
    #expect(second == files[0])
  }

  @Test func aLastLayerOfWholeNumbersIsRefused() throws {
    let configuration = Array(StandIn.configuration().utf8)
    let weights = safetensors([
      StoredValues(name: "classifier.bias", shape: [7], values: .integers([1, 2, 3, 4, 5, 6, 7])),
      StoredValues(name: "classifier.weight", shape: [7, 1], values: .floats([1, 2, 3, 4, 5, 6, 7])),
    ])
    let error = #expect(throws: DermaFusionError.self) {
      try CalibratedModel(configuration: configuration, weights: weights, folder: "m")
    }
    #expect(
      error?.message == """
        m/model.safetensors: the tensor 'classifier.bias' has whole numbers, to which the bias of each class cannot be \
        added
        """)
  }
}
