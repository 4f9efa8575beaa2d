import Files
import Foundation
import TensorModule
import TestModels
import Testing

@testable import DermaFusion
@testable import NetworkModule

/// Every method, class and stage against PyTorch's autograd and the Python package `grad-cam`, on networks with and
/// without squeeze-excite, with SiLU and ReLU6, symmetric and SAME padding, a dense and a fusion head.
@Suite struct ActivationMapParityTests {
  /// A share of the largest magnitude of a raw map.
  static let rawTolerance = 1e-4
  /// A difference of the package's maps, 0...1, which are stored in half precision.
  static let normalizedTolerance = 1e-3

  static let layers = (0..<7).map { "stage\($0)" } + ["conv_head"]

  struct Case: Sendable, CustomTestStringConvertible {
    let network: Int
    let metadata: String
    var testDescription: String { "network \(network), metadata \(metadata)" }
  }

  @Test(arguments: [
    Case(network: 0, metadata: "missing"), Case(network: 1, metadata: "missing"),
    Case(network: 1, metadata: "given"),
  ])
  func mapsAreThoseOfAutogradAndOfThePackage(_ testCase: Case) throws {
    let (formula, configuration) = try #require(FormulaNetwork.all().dropFirst(testCase.network).first)
    let network = try Network(
      ModelFolder(configuration: configuration, weights: formula.weights()), threadCount: 2)
    let path = FormulaNetwork.fixtures.appending(path: "\(formula.name).safetensors").path
    let expected = try SafetensorsFile(path: path)
    let fields = try #require(formula.cases[testCase.metadata])
    let metadata = try fields.metadata()
    let input = formula.inputValues()

    var illConditioned = 0
    var comparedWithThePackage = 0
    for layer in Self.layers {
      let name = try network.layerName(layer)
      let run = network.runWithGradients(
        layer: name, metadata: metadata.encoded(), needsGradients: true,
        logits: { _ in Labels.ham10000.map { (network.head, $0.index) } },
        writeInput: { $0.update(from: input, count: input.count) })
      try compare(
        run.output.logits, "\(testCase.metadata)/logits", [7], expected, tolerance: Self.rawTolerance)
      for method in ActivationMapMethod.allCases {
        for lesionClass in method.usesGradient ? Array(Labels.ham10000) : [.mel] {
          let map = try ActivationMap(
            classIndex: lesionClass.index, method: method, layer: name, activations: run.activations,
            gradient: method.usesGradient ? run.gradients[lesionClass.index] : nil, size: formula.size)
          let key = "\(testCase.metadata)/\(layer)/\(method.rawValue)/"
          let raw = key + (method.usesGradient ? lesionClass.id : "any")
          if method == .gradcamPlusPlus, expected[raw] == nil {
            illConditioned += 1
            continue
          }
          try compare(
            map.signedValues, raw, [map.height, map.width], expected, tolerance: Self.rawTolerance)
          // The package is asked for a class even where the map depends on none.
          for packagedClass in method.usesGradient ? [lesionClass] : Array(Labels.ham10000) {
            let packaged = key + "\(packagedClass.id)/normalized"
            guard expected[packaged] != nil else { continue }
            let values = try expected.tensor(packaged, shape: [map.size, map.size]).floats()
            try expect(map.values, near: values, tolerance: Self.normalizedTolerance, packaged)
            comparedWithThePackage += 1
          }
        }
      }
    }
    let packaged = expected.tensors.map(\.name).count {
      $0.hasPrefix("\(testCase.metadata)/") && $0.hasSuffix("/normalized")
        && (!$0.contains("gradcam++") || expected[String($0.dropLast("/normalized".count))] != nil)
    }
    #expect(comparedWithThePackage == packaged)
    #expect(packaged > 0 || testCase.metadata == "given", "the package's maps are dumped without metadata")
    // Maps of 8 layers and 7 classes. The last layer's activations are above 0, where GradCAM++ is always well-conditioned.
    #expect(illConditioned <= 42, "\(illConditioned) GradCAM++ maps could not be compared")
  }

  private func compare(
    _ values: [Float], _ key: String, _ shape: [Int], _ file: SafetensorsFile, tolerance: Double
  ) throws {
    let expected = try file.tensor(key, shape: shape).floats()
    let scale = expected.reduce(0) { max($0, Double(abs($1))) }
    try expect(values, near: expected, tolerance: tolerance * scale, key)
  }

  private func expect(_ values: [Float], near expected: [Float], tolerance: Double, _ key: String) throws {
    try #require(values.count == expected.count, "\(key): \(values.count) values for \(expected.count)")
    // Not "greater than", which no NaN is.
    let departing = values.indices.first { !(abs(Double(values[$0]) - Double(expected[$0])) <= tolerance) }
    if let departing {
      Issue.record(
        "\(key): at index \(departing) \(values[departing]) for \(expected[departing]), tolerance \(tolerance)"
      )
    }
  }
}
