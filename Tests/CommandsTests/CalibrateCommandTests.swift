import Foundation
import ImageFiles
import SystemModule
import TestFiles
import TestModels
import Testing

@testable import Commands
@testable import DermaFusion
@testable import Evaluation
@testable import Files

@Suite struct CalibrateCommandTests {
  let folder = TemporaryFolder()
  private let model = Fixtures.root.appendingPathComponent("Weights").path

  /// Runs the command with the model of a folder.
  private func run(_ words: [String]) -> (
    status: Commands.ExitStatus, output: String, errors: String
  ) {
    let (output, errors) = (MemoryOutput(), MemoryOutput())
    let terminal = Terminal(
      output: output, errors: errors,
      readInput: { (_) throws(DermaFusionError) in throw .empty("standard input") }, width: nil,
      usesColour: false,
      showsProgress: false, environment: { _ in nil }, executablePath: nil)
    let status = Tool.dermafusion.run(["calibrate"] + words, session: Session(terminal: terminal))
    return (status, output.text, errors.text)
  }

  /// The arguments for so many images, each of a lesion of its own unless `lesions` are fewer.
  private func words(_ count: Int, lesions: Int? = nil, without missing: String? = nil) -> [String] {
    var rows = "image_id,lesion_id,dx\n"
    let ids = Labels.ham10000.ids.filter { $0 != missing }
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
    let result = run(words(56) + ["--format", "json"])
    #expect(result.status == .success, "\(result.errors)")
    let json = try #require(
      JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
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
    #expect(files[0].count == files[1].count)
    #expect(files[0].indices.allSatisfy { range.contains($0) || files[0][$0] == files[1][$0] })
    #expect(files[0][range] != files[1][range])
    let card = String(decoding: try #require(folder.contents(of: "new/README.md")), as: UTF8.self)
    #expect(card.contains(Wording.disclaimer) && card.contains("56 photographs of 56 lesions"))
    let list = String(
      decoding: try #require(folder.contents(of: "new/training/split.csv")), as: UTF8.self)
    #expect(list.hasSuffix("i55,L55,vasc,,validation\n"))

    let again = run(words(56))
    #expect(again.status == .failure && again.output == "")
    #expect(again.errors.contains("\(folder.path)/new: the folder is there and not empty"))
  }

  @Test func tooFewAreRefused() throws {
    let few = run(words(98, lesions: 49))
    #expect(few.status == .failure)
    #expect(
      few.errors.hasSuffix("labels.csv: 49 lesions are too few to fit a model to; at least 50 are needed\n"))
    let missing = run(words(60, without: "df"))
    #expect(missing.status == .failure)
    #expect(missing.errors.contains("labels.csv: there is no photograph of 'df', which the model knows"))
    #expect(!FileManager.default.fileExists(atPath: "\(folder.path)/new"))
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["images", "labels.csv"])
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
