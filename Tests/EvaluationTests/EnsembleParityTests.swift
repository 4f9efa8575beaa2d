import Foundation
import ImageCodecs
import TestModels
import Testing

@testable import DermaFusion
@testable import Evaluation
@testable import ImagePipeline

/// The two formula networks as an ensemble, whose predictions `python -m dermafusion_training fixtures ensemble` dumps.
@Suite struct EnsembleParityTests {
  private struct Files {
    let ensemble: [UInt8]
    let members: [String: (configuration: [UInt8], weights: [UInt8])]
    let predictions: Data

    init() throws {
      let object = try #require(
        try JSONSerialization.jsonObject(with: Data(Fixtures.read("ensemble.json"))) as? [String: Any])
      let data = { (key: String) in try JSONSerialization.data(withJSONObject: #require(object[key])) }
      let configurations = try #require(object["members"] as? [String: Any])
      ensemble = [UInt8](try data("config"))
      predictions = try data("predictions")
      var members: [String: (configuration: [UInt8], weights: [UInt8])] = [:]
      for (network, _) in try FormulaNetwork.all() {
        let configuration = try JSONSerialization.data(
          withJSONObject: #require(configurations[network.name]))
        members[network.name] = ([UInt8](configuration), network.weights())
      }
      self.members = members
    }

    func classifier(threadCount: Int) throws -> Classifier {
      try Classifier(ensemble: ensemble, members: members, threadCount: threadCount)
    }
  }

  @Test func theVoteIsPythonsWhateverTheThreads() throws {
    let files = try Files()
    let classifiers = try [1, 3].map(files.classifier)
    let predictions = files.predictions
    let fixtures = try Fixtures.load(
      file: "none",
      changing: {
        $0["model"] = NSNull()
        $0["predictions"] = try? JSONSerialization.jsonObject(with: predictions)
      })
    var report = ParityReport()
    try fixtures.compareNetwork(classifiers[0], in: &report)
    #expect(report.agrees, "\(String(describing: report.firstDepartingStage))")
    let stage = try #require(report.stages.first { $0.name == "probabilities" })
    #expect(stage.comparisons == 3)

    let image = try ImageDecoder.decode(try Fixtures.read("images/odd_457x383.jpg"))
    let metadata = try PatientMetadata(ageInYears: 70, sex: .female, site: .face)
    let results = try classifiers.map { try $0.classify(image, metadata: metadata) }
    #expect(results[0] == results[1])
    #expect(results[0].model.name == "formulas")
    // Several at once, each on a thread of its own.
    var together: [ClassScores] = []
    let last = classifiers[1]
    last.forEach(
      [image, image, image, image], { try! last.classify($0, metadata: metadata).logits },
      consume: { together.append($0) })
    #expect(together == [ClassScores](repeating: results[0].logits, count: 4))

    let shares = try classifiers[1].metadataShares(of: image, metadata: metadata)
    #expect(shares.everything == results[0].logits)
    let alone = try last.classify(image)
    #expect(shares.imageAlone == alone.logits)
    #expect(shares.withoutAge != shares.everything && shares.withoutSite != shares.everything)
  }
}
