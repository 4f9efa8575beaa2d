import Foundation

/// The formula network in 8 bits of `Scripts/dermafusion_training/fixtures/quantized.py`, and what Python makes of a map.
package struct QuantizedFormula: Decodable {
  package let shapes: [String: [Int]]
  /// The tensors of 8-bit integers.
  package let integers: [String]
  /// The name that the first map's values follow from.
  package let input: String
  /// The map before the first quantised block, and that after each block from there on.
  package let maps: [Map]
  /// What 1x1 convolutions in bfloat16 make of formula values, named `bfloat16 PIXELS DEPTH OUTPUTS`.
  package let bfloat16: [Map]

  package struct Map: Decodable {
    package let name: String
    /// `[height, width, channels]` or `[pixels, outputs]`
    package let shape: [Int]
    /// Of the values, little-endian Float32.
    package let sha256: String
    /// The first of the values.
    package let values: [Float]
  }

  /// The network and its config.json.
  package static func load() throws -> (formula: QuantizedFormula, configuration: [UInt8]) {
    let data = try Data(
      contentsOf: FormulaNetwork.fixtures.deletingLastPathComponent().appending(path: "quantized.json"))
    let object = try JSONSerialization.jsonObject(with: data) as? [String: Any]
    return (
      try JSONDecoder().decode(QuantizedFormula.self, from: data),
      [UInt8](try JSONSerialization.data(withJSONObject: object?["config"] ?? [:]))
    )
  }

  /// The values before the first quantised block.
  package func inputValues() -> [Float] {
    FormulaNetwork.uniform(input, count: maps[0].shape.reduce(1, *)).map { $0 * 4 }
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
    guard integers.contains("\(layer).weight"), let key = parts.last, key != "bias" else {
      return FormulaNetwork.tensor(name, shape: shape)
    }
    let followsReLU6 = !layer.hasSuffix("conv_pw") && !layer.hasSuffix("conv_head")
    let count = shape.reduce(1, *)
    switch key {
    case "weight": return FormulaNetwork.uniform(name, count: count).map { ($0 * 64).rounded(.towardZero) }
    case "weight_scale":
      let inputs = shapes["\(layer).weight", default: []].dropFirst().reduce(1, *)
      let step = Float((6 / Double(inputs)).squareRoot() / 64)
      return FormulaNetwork.uniform(name, count: count).map { (1 + $0 * 0.2) * step }
    case "input_scale": return [Float](repeating: Float((followsReLU6 ? 6.0 : 8.0) / 255), count: count)
    default: return [Float](repeating: followsReLU6 ? 0 : 119, count: count)
    }
  }

  /// The same network in floats: each quantised layer with a batch norm that adds the bias.
  package func floatTensors(batchNormEpsilon: Double) -> [StoredValues] {
    let norms = ["conv_pw": "bn1", "conv_dw": "bn2", "conv_pwl": "bn3", "conv_head": "bn2"]
    return shapes.sorted { $0.key < $1.key }.flatMap { name, shape -> [StoredValues] in
      let parts = name.split(separator: ".").map(String.init)
      let layer = parts.dropLast().joined(separator: ".")
      let values = tensor(name, shape: shape)
      guard integers.contains("\(layer).weight"), let key = parts.last else {
        return [StoredValues(name: name, shape: shape, values: .floats(values))]
      }
      guard key == "weight" else { return [] }
      let outputs = shape[0]
      let depth = values.count / outputs
      let scale = tensor("\(layer).weight_scale", shape: [outputs])
      let norm = (parts.dropLast(2) + [norms[parts[parts.count - 2], default: "?"]]).joined(separator: ".")
      func vector(_ key: String, _ values: [Float]) -> StoredValues {
        StoredValues(name: "\(norm).\(key)", shape: [outputs], values: .floats(values))
      }
      return [
        StoredValues(
          name: name, shape: shape,
          values: .floats(values.indices.map { values[$0] * scale[$0 / depth] })),
        vector("weight", [Float](repeating: 1, count: outputs)),
        vector("bias", tensor("\(layer).bias", shape: [outputs])),
        vector("running_mean", [Float](repeating: 0, count: outputs)),
        vector("running_var", [Float](repeating: Float(1 - batchNormEpsilon), count: outputs)),
      ]
    }
  }
}
