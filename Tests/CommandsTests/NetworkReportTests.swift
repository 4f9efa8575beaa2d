import Files
import Foundation
import TestModels
import Testing

@testable import Commands
@testable import DermaFusion

@Suite struct NetworkReportTests {
  private let classifier: Classifier

  init() throws {
    let (formula, configuration) = try #require(
      FormulaNetwork.all().first { $0.network.name == "efficientnet_lite0" })
    classifier = try Classifier(configuration: configuration, weights: formula.weights(), threadCount: 1)
  }

  @Test func jsonListsTheOperationsWithWhatBecameAPartOfThem() throws {
    let result = runTool(words: ["info", "--network", "--format", "json"], classifier: classifier)
    #expect(result.status == .success)
    let object = try result.object()
    let networks = try #require(object["networks"] as? [[String: Any]])
    #expect(networks.count == 1)
    let operations = try #require(networks[0]["operations"] as? [[String: Any]])
    let stem = operations[0]
    #expect(stem["name"] as? String == "conv_stem")
    #expect(stem["operation"] as? String == "convolution 3x3 / 2")
    #expect(stem["fused"] as? [String] == ["bn1 (batch norm)", "ReLU6"])
    // 32 filters of 3x3x3, and scale and offset of their norm.
    #expect(stem["parameters"] as? Int == 32 * 27 + 64)
    let expanded = try #require(operations.first { $0["name"] as? String == "blocks.1.0.conv_dw" })
    #expect(expanded["operation"] as? String == "expand, depthwise 3x3 / 2")
    #expect(
      expanded["fused"] as? [String] == [
        "blocks.1.0.conv_pw (convolution 1x1)", "blocks.1.0.bn1 (batch norm)", "ReLU6",
        "blocks.1.0.bn2 (batch norm)", "ReLU6",
      ])
    let skipped = try #require(operations.first { $0["name"] as? String == "blocks.1.1.conv_pwl" })
    #expect(skipped["fused"] as? [String] == ["blocks.1.1.bn3 (batch norm)", "add"])
    #expect(
      networks[0]["parameters"] as? Int
        == operations.reduce(0) { $0 + (($1["parameters"] as? Int) ?? 0) })
  }

  @Test func textHasALineForEachOperation() throws {
    let network = try #require(classifier.networks.first)
    let lines = runTool(words: ["info", "--network"], width: 80, classifier: classifier).output
      .split(separator: "\n")
    #expect(lines[0].hasPrefix("\(classifier.model): \(network.network.parameters) parameters, "))
    #expect(lines[1].hasPrefix("operation"))
    #expect(lines[2].hasPrefix("convolution 3x3 / 2"))
    #expect(
      lines.count { $0.hasPrefix("expand, depthwise") }
        == network.network.operations.count { $0.title.hasPrefix("expand") })
    #expect(lines.contains { $0.hasPrefix("average pooling") })
  }
}
