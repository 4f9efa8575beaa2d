import Files
import Foundation
import ImageCodecs
import ImagePipeline
import TensorModule
import TestModels
import Testing

@testable import DermaFusion
@testable import NetworkModule

/// The shipped weights' maps of a picture against PyTorch's autograd in float64.
@Suite struct ModelActivationMapTests {
  struct Fixture: Decodable {
    /// SHA-256 of the model that the maps are of.
    let model: String
    let picture: String
    let cases: [String: FormulaNetwork.Fields]
    /// Maps that float32 cannot tell: PyTorch's own differ by more than 2 % of the largest magnitude.
    let leftOut: [String]
    /// By layer and method, of the largest magnitude, where it is above ``leastTolerance``: three times what float32
    /// changes in PyTorch's own maps.
    let tolerances: [String: Double]
    /// The side of the smaller input at which no argument rounds past a kink.
    let smallSide: Int

    static func load() throws -> Fixture {
      try JSONDecoder().decode(
        Fixture.self, from: Data(contentsOf: FormulaNetwork.fixtures.appending(path: "model.json")))
    }
  }

  static let leastTolerance = 1e-4
  static let weights = Fixtures.root.appending(path: "Weights")

  @Test func mapsAreThoseOfAutograd() throws {
    let fixture = try Fixture.load()
    let expected = try expectedMaps()
    let classifier = try Classifier(modelDirectory: Self.weights.path, threadCount: 2)
    try #require(
      classifier.model.sha256 == fixture.model,
      "of another model: python -m dermafusion_training fixtures maps --model Weights")
    let network = try classifier.singleModel().network
    let image = try classifier.preprocessor(
      ImageDecoder.decode(Fixtures.read("images/\(fixture.picture)")))

    var compared = 0
    for (name, fields) in fixture.cases.sorted(by: { $0.key < $1.key }) {
      let metadata = try fields.metadata()
      for layer in ActivationMapParityTests.layers {
        // The metadata reaches earlier layers through the same head, so that two layers tell for the second case.
        if name != "missing", !["stage2", "conv_head"].contains(layer) { continue }
        compared += try compareMaps(
          name, layer, network, image, metadata, expected, isLeftOut: fixture.leftOut.contains
        ) { fixture.tolerances["\(layer)/\($0.rawValue)"] ?? Self.leastTolerance }
      }
    }
    #expect(compared == expected.tensors.count { !$0.name.hasPrefix("small/") })
    #expect(compared + fixture.leftOut.count == (8 + (fixture.cases.count - 1) * 2) * 29)
  }

  /// The same weights and picture at a size at which rounding cannot move an argument past a kink: there every stage is
  /// PyTorch's to 1e-4, so what is looser above is the kinks' doing and not the way back's.
  @Test func everyStageIsThatOfAutogradWhereNothingLiesOnAKink() throws {
    let fixture = try Fixture.load()
    let expected = try expectedMaps()
    var object = try #require(
      JSONSerialization.jsonObject(with: Data(contentsOf: Self.weights.appending(path: "config.json")))
        as? [String: Any])
    var preprocessing = try #require(object["preprocessing"] as? [String: Any])
    preprocessing["size"] = fixture.smallSide
    object["preprocessing"] = preprocessing
    let classifier = try Classifier(
      configuration: [UInt8](JSONSerialization.data(withJSONObject: object)),
      weights: [UInt8](Data(contentsOf: Self.weights.appending(path: "model.safetensors"))), threadCount: 2)
    let network = try classifier.singleModel().network
    let image = try classifier.preprocessor(
      ImageDecoder.decode(Fixtures.read("images/\(fixture.picture)")))
    let metadata = try #require(fixture.cases["given"]).metadata()

    var compared = 0
    for layer in ActivationMapParityTests.layers {
      // Left out where PyTorch's own float32 is off by a third of the tolerance: at poles of GradCAM++, and where a class's
      // gradient all but cancels. The fixtures' README tells.
      compared += try compareMaps(
        "small", layer, network, image, metadata, expected, isLeftOut: { expected[$0] == nil },
        tolerance: { _ in Self.leastTolerance })
    }
    #expect(compared == expected.tensors.count { $0.name.hasPrefix("small/") })
    // 22 maps of each of 8 layers, one or two of which may be left out, and some of GradCAM++.
    #expect(compared >= 8 * 22 + 14)
  }

  /// Every method's maps at a layer, of every class; how many were compared.
  private func compareMaps(
    _ name: String, _ layer: String, _ network: Network, _ image: PreprocessedImage,
    _ metadata: PatientMetadata,
    _ expected: SafetensorsFile, isLeftOut: (String) -> Bool, tolerance: (ActivationMapMethod) -> Double
  ) throws -> Int {
    let run = network.runWithGradients(
      layer: try network.layerName(layer), metadata: metadata.encoded(), needsGradients: true,
      logits: { _ in Labels.ham10000.map { (network.head, $0.index) } },
      writeInput: { image.writeNormalizedNHWC(to: $0) })
    var compared = 0
    for method in ActivationMapMethod.allCases {
      for lesionClass in method.usesGradient ? Array(Labels.ham10000) : [.mel] {
        let key = "\(name)/\(layer)/\(method.rawValue)/\(method.usesGradient ? lesionClass.id : "any")"
        if isLeftOut(key) { continue }
        let map = method.signedMap(
          activations: run.activations,
          gradient: method.usesGradient ? run.gradients[lesionClass.index] : nil)
        try compare(map, key, expected, tolerance: tolerance(method))
        compared += 1
      }
    }
    return compared
  }

  private func expectedMaps() throws -> SafetensorsFile {
    try SafetensorsFile(path: FormulaNetwork.fixtures.appending(path: "model.safetensors").path)
  }

  @Test func whereNoActivationLiesBelowNothingIsLooserThanTheContract() throws {
    let fixture = try Fixture.load()
    // At the last map the gradient is that of the head alone, which has no kink that an image can sit on.
    let loose = (fixture.leftOut + fixture.tolerances.keys).filter { $0.contains("conv_head/") }
    #expect(loose == [])
    #expect(fixture.leftOut.count <= 100, "\(fixture.leftOut)")
  }

  /// Against the largest magnitude and every `step`th value.
  private func compare(_ map: [Float], _ key: String, _ file: SafetensorsFile, tolerance: Double) throws {
    let step = max(map.count / 100, 1) | 1
    let places = Array(stride(from: 0, to: map.count, by: step))
    let expected = try file.tensor(key, shape: [1 + places.count]).floats()
    let scale = Double(expected[0])
    let found = [map.map(abs).max() ?? 0] + places.map { map[$0] }
    let errors = zip(found, expected).map { abs(Double($0) - Double($1)) }
    // Not "greater than", which no NaN is.
    let departing = errors.firstIndex { !($0 <= tolerance * scale) }
    if let departing {
      Issue.record(
        """
        \(key): \(departing == 0 ? "the largest magnitude" : "index \(places[departing - 1])") is \
        \(found[departing]) for \(expected[departing]); \(errors[departing] / scale) of the largest, tolerance \
        \(tolerance)
        """)
    }
    #expect(map.allSatisfy { $0.isFinite }, "\(key)")
  }
}
