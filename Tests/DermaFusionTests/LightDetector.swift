import Foundation
@testable import NetworkModule
import Testing

@testable import DermaFusion

/// A network made by hand that responds to light: every layer hands on one channel of the pixel in the middle of its
/// window. Its logit of `nv` grows with light, that of `mel` falls, the others stay.
enum LightDetector {
  static let size = 128

  static func classifier(colorConstancy: String = "none") throws -> Classifier {
    let (formula, configuration) = try #require(
      FormulaNetwork.all().first { $0.network.name == "efficientnet_lite0" })
    var object = try #require(
      JSONSerialization.jsonObject(with: Data(configuration)) as? [String: Any])
    object["fusion"] = NSNull()
    object["preprocessing"] = [
      "size": size, "color_constancy": ["method": colorConstancy, "p": 6, "rounding": "round"],
      "mean": [0, 0, 0],
      "std": [1, 1, 1],
    ]
    var tensors = formula.shapes.filter { !$0.key.hasPrefix("fusion.") }
      .map { name, shape in (name: name, shape: shape, values: values(name, shape)) }
    let width = formula.shapes["conv_head.weight"]?[0] ?? 0
    var classifier = [Float](repeating: 0, count: 7 * width)
    classifier[LesionClass.nv.index * width] = 1
    classifier[LesionClass.mel.index * width] = -1
    tensors.append(("classifier.weight", [7, width], classifier))
    tensors.append(("classifier.bias", [7], [Float](repeating: 0, count: 7)))
    return try Classifier(
      configuration: [UInt8](JSONSerialization.data(withJSONObject: object)), weights: safetensors(tensors),
      threadCount: 2)
  }

  private static func values(_ name: String, _ shape: [Int]) -> [Float] {
    let count = shape.reduce(1, *)
    guard shape.count == 4 else {
      let isOne = name.hasSuffix("running_var") || name.hasSuffix(".weight")
      return [Float](repeating: isOne ? 1 : 0, count: count)
    }
    // Channel 0 of channel 0, whatever the layer.
    let taps = shape[2] * shape[3]
    var values = [Float](repeating: 0, count: count)
    // Below 1, so that blocks with a skip, which add to what they get, stay clear of ReLU6's upper end.
    values[taps / 2] = 0.7
    return values
  }
}
