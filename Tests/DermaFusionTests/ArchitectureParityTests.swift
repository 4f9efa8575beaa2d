import Files
import Foundation
import TensorModule
import TestModels
import Testing

@testable import DermaFusion
@testable import NetworkModule

/// Feature maps, logits and activation maps of MobileNetV3 and ResNet against PyTorch's in float64.
@Suite struct ArchitectureParityTests {
  /// A share of the largest magnitude of what is compared.
  static let tolerance = 1e-4
  /// The tolerance of the maps of a network whose values grow to hundreds, where squeeze-excite's gates amplify rounding: the
  /// fixtures' README says which of its maps float32 cannot hold at all.
  static let illConditioned = (name: "mobilenetv3_large_100", tolerance: 2e-4)

  /// Values of a feature map at some places, `[1, channels, height, width]`.
  private struct Samples: Decodable {
    let name: String
    let shape: [Int]
    let maximumMagnitude: Double
    let indices: [Int]
    let values: [Double]
  }

  private struct Entry: Decodable {
    let activations: [Samples]
  }

  private static func formula(_ index: Int) throws -> (FormulaNetwork, Network, [Samples]) {
    let (formula, configuration) = try FormulaNetwork.all(in: FormulaNetwork.architectures)[index]
    let data = try Data(contentsOf: FormulaNetwork.architectures.appending(path: "networks.json"))
    let network = try Network(
      ModelFolder(configuration: configuration, weights: formula.weights()), threadCount: 2)
    return (formula, network, try JSONDecoder().decode([Entry].self, from: data)[index].activations)
  }

  @Test(arguments: 0..<4)
  func featureMapsAreThoseOfPyTorch(index: Int) throws {
    let (formula, network, samples) = try Self.formula(index)
    let input = formula.inputValues()
    var maps: [String: (shape: FeatureShape, values: [Float])] = [:]
    let output = network.run(
      metadata: PatientMetadata.unknown.encoded(), writeInput: { $0.update(from: input, count: input.count) },
      observe: { name, map in maps[name] = (map.shape, map.dense()) })
    // The input of the head's classifier.
    let pooled = network.head.features(pooled: output.pooled)
    maps["pooled"] = (FeatureShape(height: 1, width: 1, channels: pooled.count), pooled)
    #expect(samples.map(\.name).filter { maps[$0] == nil } == [], "\(formula.name)")
    for sample in samples {
      guard let (shape, values) = maps[sample.name] else { continue }
      #expect(
        sample.shape[1...]
          == ([shape.channels] + (sample.shape.count > 2 ? [shape.height, shape.width] : []))[...])
      for (place, expected) in zip(sample.indices, sample.values) {
        let (channel, pixel) = place.quotientAndRemainder(dividingBy: shape.pixelCount)
        let found = Double(values[pixel * shape.channels + channel])
        #expect(
          abs(found - expected) <= Self.tolerance * sample.maximumMagnitude,
          "\(formula.name), \(sample.name), index \(place)")
      }
    }
  }

  @Test(arguments: 0..<4)
  func mapsOfEveryStageAreThoseOfAutograd(index: Int) throws {
    let (formula, network, _) = try Self.formula(index)
    let path = FormulaNetwork.architectures.appending(path: "\(formula.name).safetensors").path
    let expected = try SafetensorsFile(path: path)
    let input = formula.inputValues()
    let tolerance = formula.name == Self.illConditioned.name ? Self.illConditioned.tolerance : Self.tolerance
    var compared = 0
    for (name, fields) in formula.cases {
      let metadata = try fields.metadata().encoded()
      for stage in network.stageNames {
        let run = network.runWithGradients(
          layer: try network.layerName(stage), metadata: metadata, needsGradients: true,
          classes: Array(0..<7), writeInput: { $0.update(from: input, count: input.count) })
        try compare(run.output.logits, "\(name)/logits", [7], expected, tolerance: Self.tolerance)
        for method in ActivationMapMethod.allCases {
          for lesionClass in method.usesGradient ? Array(Labels.ham10000) : [.mel] {
            let key =
              "\(name)/\(stage)/\(method.rawValue)/\(method.usesGradient ? lesionClass.id : "any")"
            // Few are stored of large maps, none that float32 cannot hold to the tolerance.
            if expected[key] == nil { continue }
            let map = method.signedMap(
              activations: run.activations,
              gradient: method.usesGradient ? run.gradients[lesionClass.index] : nil)
            try compare(map, key, Array(run.activations.shape[..<2]), expected, tolerance: tolerance)
            compared += 1
          }
        }
      }
    }
    #expect(compared == expected.tensors.count - formula.cases.count, "\(formula.name)")
  }

  private func compare(
    _ values: [Float], _ key: String, _ shape: [Int], _ file: SafetensorsFile, tolerance: Double
  ) throws {
    let expected = try file.tensor(key, shape: shape).floats()
    let bound = tolerance * expected.reduce(0) { max($0, Double(abs($1))) }
    try #require(values.count == expected.count, "\(key): \(values.count) values for \(expected.count)")
    let departing = values.indices.first { !(abs(Double(values[$0]) - Double(expected[$0])) <= bound) }
    if let departing {
      Issue.record(
        "\(key): at index \(departing) \(values[departing]) for \(expected[departing]), tolerance \(bound)")
    }
  }
}
