import DermaFusion
import Foundation

/// A network whose weights follow a formula that `python -m dermafusion_training fixtures maps` computes too.
package struct FormulaNetwork: Decodable {
  package let name: String
  package let shapes: [String: [Int]]
  package let size: Int
  /// The name that the input's values follow from.
  package let input: String
  package let cases: [String: Fields]

  /// Age, sex and site of a case, as they stand in the list.
  package struct Fields: Decodable {
    package let age: Double?
    package let sex: String?
    package let site: String?

    package init(from decoder: any Decoder) throws {
      var list = try decoder.unkeyedContainer()
      age = try list.decodeIfPresent(Double.self)
      sex = try list.decodeIfPresent(String.self)
      site = try list.decodeIfPresent(String.self)
    }

    package func metadata() throws -> PatientMetadata {
      try PatientMetadata(
        ageInYears: age, sex: sex.flatMap { Sex(name: $0) } ?? .unknown,
        site: site.flatMap { BodySite(name: $0) } ?? .unknown)
    }
  }

  /// The networks of a folder of fixtures, each with its config.json.
  package static func all(in folder: URL = fixtures) throws -> [(
    network: FormulaNetwork, configuration: [UInt8]
  )] {
    try known[folder]?.get() ?? read(folder)
  }

  private static let known = [
    fixtures: Result { try read(fixtures) }, architectures: Result { try read(architectures) },
  ]

  private static func read(_ folder: URL) throws -> [(network: FormulaNetwork, configuration: [UInt8])] {
    let data = try Data(contentsOf: folder.appending(path: "networks.json"))
    let networks = try JSONDecoder().decode([FormulaNetwork].self, from: data)
    let objects = try JSONSerialization.jsonObject(with: data) as? [[String: Any]] ?? []
    return try zip(networks, objects).map { network, object in
      (network, [UInt8](try JSONSerialization.data(withJSONObject: object["config"] ?? [:])))
    }
  }

  package static let fixtures = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "ParityFixtures/gradcam")
  /// Those of MobileNetV3 and ResNet.
  package static let architectures = fixtures.deletingLastPathComponent().appending(path: "architectures")

  /// The bytes of model.safetensors.
  package func weights() -> [UInt8] {
    safetensors(shapes.map { name, shape in (name, shape, Self.tensor(name, shape: shape)) })
  }

  /// `[size, size, 3]`, what the network sees.
  package func inputValues() -> [Float] { Self.uniform(input, count: size * size * 3).map { $0 * 2 } }

  /// SplitMix64 seeded with the FNV-1a hash of the name, -1...1.
  package static func uniform(_ name: String, count: Int) -> [Float] {
    var state: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in name.utf8 { state = (state ^ UInt64(byte)) &* 0x100_0000_01B3 }
    return [Float](unsafeUninitializedCapacity: count) { values, initialized in
      for i in 0..<count {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        values[i] = Float((z ^ (z >> 31)) >> 40) * 0x1p-23 - 1
      }
      initialized = count
    }
  }

  package static func tensor(_ name: String, shape: [Int]) -> [Float] {
    let (factor, offset): (Float, Float) =
      switch name {
      case _ where name.hasSuffix(".running_var"): (0.5, 1)
      case _ where name.hasSuffix(".running_mean"): (0.1, 0)
      case _ where name.hasSuffix(".bias"): (0.2, 0)
      case _ where shape.count == 1: (0.2, 1)
      case _ where name.contains("embedding"): (1, 0)
      default: (Float((6 / Double(shape.dropFirst().reduce(1, *))).squareRoot()), 0)
      }
    return uniform(name, count: shape.reduce(1, *)).map { $0 * factor + offset }
  }
}
