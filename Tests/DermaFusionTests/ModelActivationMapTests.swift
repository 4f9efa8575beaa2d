import Foundation
import ImagePipeline
import ModelFiles
import TensorModule
import Testing

@testable import DermaFusion

/// The shipped weights' maps of a picture against PyTorch's autograd in float64.
@Suite struct ModelActivationMapTests {
  struct Fixture: Decodable {
    /// SHA-256 of the model that the maps are of.
    let model: String
    let picture: String
    let cases: [String: FormulaNetwork.Fields]
    /// Maps that float32 cannot tell: PyTorch's own differ by more than 5 % of the largest magnitude.
    let leftOut: [String]
    /// By layer and method, of the largest magnitude, where it is above ``leastTolerance``: three times what float32
    /// changes in PyTorch's own maps.
    let tolerances: [String: Double]
  }

  static let leastTolerance = 1e-4

  @Test func mapsAreThoseOfAutograd() throws {
    let folder = FormulaNetwork.fixtures
    let fixture = try JSONDecoder().decode(
      Fixture.self, from: Data(contentsOf: folder.appending(path: "model.json")))
    let expected = try SafetensorsFile(path: folder.appending(path: "model.safetensors").path)
    let classifier = try Classifier(
      modelDirectory: Fixtures.root.appending(path: "Weights").path, threadCount: 2)
    try #require(
      classifier.model.sha256 == fixture.model,
      "of another model: python Scripts/dump_gradcam_fixtures.py --model Weights")
    let network = try #require(classifier.network)
    let image = try classifier.preprocessor(
      ImageDecoder.decode(Fixtures.read("images/\(fixture.picture)")))

    var compared = 0
    for (name, fields) in fixture.cases.sorted(by: { $0.key < $1.key }) {
      let metadata = try fields.metadata()
      for layer in ActivationMapParityTests.layers {
        // The metadata reaches earlier layers through the same head, so that two layers tell for the second case.
        if name != "missing", !["stage2", "conv_head"].contains(layer) { continue }
        let run = network.runWithGradients(
          layer: try network.layerName(layer), metadata: metadata.encoded(), needsGradients: true,
          logits: { _ in LesionClass.allCases.map { (network.head, $0.index) } },
          writeInput: { image.writeNormalizedNHWC(to: $0) })
        for method in ActivationMapMethod.allCases {
          for lesionClass in method.usesGradient ? LesionClass.allCases : [.mel] {
            let key =
              "\(name)/\(layer)/\(method.rawValue)/\(method.usesGradient ? lesionClass.rawValue : "any")"
            if fixture.leftOut.contains(key) { continue }
            let map = method.rule.signedMap(
              activations: run.activations,
              gradient: method.usesGradient ? run.gradients[lesionClass.index] : nil)
            try compare(
              map, key, expected,
              tolerance: fixture.tolerances["\(layer)/\(method.rawValue)"] ?? Self.leastTolerance)
            compared += 1
          }
        }
      }
    }
    #expect(compared + fixture.leftOut.count == (8 + (fixture.cases.count - 1) * 2) * 29)
  }

  @Test func whereNoActivationLiesBelowNothingIsLooserThanTheContract() throws {
    let data = try Data(contentsOf: FormulaNetwork.fixtures.appending(path: "model.json"))
    let fixture = try JSONDecoder().decode(Fixture.self, from: data)
    // At the last map the gradient is that of the head alone, which has no kink that an image can sit on.
    let loose = (fixture.leftOut + fixture.tolerances.keys).filter { $0.contains("conv_head/") }
    #expect(loose == [])
    #expect(fixture.leftOut.count <= 100, "\(fixture.leftOut)")
  }

  /// Against the largest magnitude and every `step`th value.
  private func compare(_ map: [Float], _ key: String, _ file: SafetensorsFile, tolerance: Double) throws {
    let step = max(map.count / 100, 1) | 1
    let places = Array(stride(from: 0, to: map.count, by: step))
    let expected = try file.read(key, shape: [1 + places.count])
    let scale = Double(expected[0])
    let found = [map.map(abs).max() ?? 0] + places.map { map[$0] }
    let errors = zip(found, expected).map { abs(Double($0) - Double($1)) }
    let worst = errors.indices.max { errors[$0] < errors[$1] } ?? 0
    #expect(
      errors[worst] <= tolerance * scale,
      """
      \(key): \(worst == 0 ? "the largest magnitude" : "index \(places[worst - 1])") is \(found[worst]) for \
      \(expected[worst]); \(errors[worst] / scale) of the largest, tolerance \(tolerance)
      """)
  }
}
