import Foundation

/// A formula network in 8 bits of `Scripts/dermafusion_training/fixtures/quantized.py`, and what Python makes of an image.
package struct QuantizedFormula: Decodable {
  package let config: Config
  package let shapes: [String: [Int]]
  /// The tensors of 8-bit integers.
  package let integers: [String]
  /// The name that the image's values follow from.
  package let input: String
  /// All feature maps.
  package let maps: [Map]

  package struct Config: Decodable {
    package let architecture: String
    package let preprocessing: Preprocessing

    package struct Preprocessing: Decodable {
      package let size: Int
    }
  }

  package struct Map: Decodable {
    package let name: String
    /// `[height, width, channels]` or `[pixels, outputs]`
    package let shape: [Int]
    /// The digest of the values, little-endian Float32.
    package let sha256: String
    /// The first of the values.
    package let values: [Float]
  }

  private struct File: Decodable {
    let networks: [QuantizedFormula]
    let bfloat16: [Map]
  }

  private static let file = FormulaNetwork.fixtures.deletingLastPathComponent()
    .appending(path: "quantized.json")

  /// The networks, each with its config.json.
  package static func all() throws -> [(formula: QuantizedFormula, configuration: [UInt8])] {
    try networks.get()
  }

  // Many tests ask for them, and reading them takes longer than running them.
  private static let networks = Result { try read() }

  private static func read() throws -> [(formula: QuantizedFormula, configuration: [UInt8])] {
    let data = try Data(contentsOf: file)
    let object = try JSONSerialization.jsonObject(with: data) as? [String: Any]
    let objects = object?["networks"] as? [[String: Any]] ?? []
    return try zip(JSONDecoder().decode(File.self, from: data).networks, objects).map { network, object in
      (network, [UInt8](try JSONSerialization.data(withJSONObject: object["config"] ?? [:])))
    }
  }

  /// The outputs of 1x1 convolutions in bfloat16 for formula values, named `bfloat16 PIXELS DEPTH OUTPUTS`.
  package static func bfloat16() throws -> [Map] {
    try JSONDecoder().decode(File.self, from: Data(contentsOf: file)).bfloat16
  }

  /// The image, `[size, size, 3]`.
  package func inputValues() -> [Float] {
    let size = config.preprocessing.size
    return FormulaNetwork.uniform(input, count: size * size * 3).map { $0 * 2 }
  }

  /// The tensors of model.safetensors.
  ///
  /// - Parameter change: May change a tensor, or leave it out.
  package func tensors(
    _ change: (_ tensor: inout StoredValues) -> Bool = { _ in true }
  ) -> [StoredValues] {
    shapes.sorted { $0.key < $1.key }.compactMap { name, shape in
      let values = tensor(name, shape: shape)
      var tensor = StoredValues(
        name: name, shape: shape,
        values: integers.contains(name) ? .integers(values.map { Int8($0) }) : .floats(values))
      return change(&tensor) ? tensor : nil
    }
  }

  /// A tensor's values; those of integers are whole numbers.
  package func tensor(_ name: String, shape: [Int]) -> [Float] {
    let parts = name.split(separator: ".")
    let layer = parts.dropLast().joined(separator: ".")
    let count = shape.reduce(1, *)
    let fineStep: Float = 8 / 2047
    if name.hasSuffix(".se.input_scale") { return [Float](repeating: fineStep, count: count) }
    guard integers.contains("\(layer).weight"), let key = parts.last, key != "bias" else {
      return FormulaNetwork.tensor(name, shape: shape)
    }
    let isDepthwise = layer.hasSuffix("conv_dw")
    let isBounded = config.architecture.contains("lite") && (isDepthwise || layer.hasSuffix("conv_pwl"))
    switch key {
    case "weight": return FormulaNetwork.uniform(name, count: count).map { ($0 * 64).rounded(.towardZero) }
    case "weight_scale":
      let inputs = shapes["\(layer).weight", default: []].dropFirst().reduce(1, *)
      let step = Float((6 / Double(inputs)).squareRoot() / 64)
      return FormulaNetwork.uniform(name, count: count).map { (1 + $0 * 0.2) * step }
    case "input_scale":
      let step: Float = isBounded ? 6 / 255 : isDepthwise ? fineStep : 8 / 255
      return [Float](repeating: step, count: count)
    default: return [Float](repeating: isBounded || isDepthwise ? 0 : 119, count: count)
    }
  }

  /// The same network in floats: each quantised layer of a map with a batch norm that adds the bias.
  package func floatTensors(batchNormEpsilon: Double) -> [StoredValues] {
    shapes.sorted { $0.key < $1.key }.flatMap { name, shape -> [StoredValues] in
      let parts = name.split(separator: ".").map(String.init)
      let layer = parts.dropLast().joined(separator: ".")
      let values = tensor(name, shape: shape)
      if name.hasSuffix(".se.input_scale") { return [] }
      guard integers.contains("\(layer).weight"), let key = parts.last else {
        return [StoredValues(name: name, shape: shape, values: .floats(values))]
      }
      if parts.contains("se"), key == "bias" {
        return [StoredValues(name: name, shape: shape, values: .floats(values))]
      }
      guard key == "weight" else { return [] }
      let outputs = shape[0]
      let depth = values.count / outputs
      let scale = tensor("\(layer).weight_scale", shape: [outputs])
      let weight = StoredValues(
        name: name, shape: shape, values: .floats(values.indices.map { values[$0] * scale[$0 / depth] }))
      if parts.contains("se") { return [weight] }
      let block = parts.dropLast(2).joined(separator: ".")
      let norm = (parts.dropLast(2) + [norm(of: parts[parts.count - 2], block: block)]).joined(separator: ".")
      func vector(_ key: String, _ values: [Float]) -> StoredValues {
        StoredValues(name: "\(norm).\(key)", shape: [outputs], values: .floats(values))
      }
      return [
        weight,
        vector("weight", [Float](repeating: 1, count: outputs)),
        vector("bias", tensor("\(layer).bias", shape: [outputs])),
        vector("running_mean", [Float](repeating: 0, count: outputs)),
        vector("running_var", [Float](repeating: Float(1 - batchNormEpsilon), count: outputs)),
      ]
    }
  }

  private func norm(of layer: String, block: String) -> String {
    switch layer {
    case "conv_head": "bn2"
    case "conv_pwl": "bn3"
    case "conv": "bn1"
    default: (layer == "conv_dw") == (shapes["\(block).conv_pwl.weight"] != nil) ? "bn2" : "bn1"
    }
  }
}
