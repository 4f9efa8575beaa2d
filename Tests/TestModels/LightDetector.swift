import DermaFusion
import Foundation

/// A network made by hand that responds to light: every layer hands on one channel of the pixel in the middle of its
/// window. The logit of one class grows with light, that of another falls, the others stay.
package enum LightDetector {
  package static let size = 128

  package static func classifier(colorConstancy: String = "none") throws -> Classifier {
    let files = try files(
      classes: Labels.ham10000.ids, rising: 5, falling: 4, colorConstancy: colorConstancy)
    return try Classifier(configuration: files.configuration, weights: files.weights, threadCount: 2)
  }

  /// The bytes of a model's two files.
  ///
  /// - Parameters:
  ///   - classes: as `config.json` has them: strings, or dictionaries of strings.
  ///   - rising: the class whose logit grows with light.
  ///   - falling: the class whose logit falls with light.
  ///   - outputs: of the last layer; as many as classes when left out.
  package static func files(
    classes: [Any], rising: Int, falling: Int, outputs: Int? = nil, colorConstancy: String = "none"
  ) throws -> (configuration: [UInt8], weights: [UInt8]) {
    let count = outputs ?? classes.count
    guard
      let (formula, configuration) = try FormulaNetwork.all().first(where: {
        $0.network.name == "efficientnet_lite0"
      }),
      var object = try JSONSerialization.jsonObject(with: Data(configuration)) as? [String: Any]
    else { preconditionFailure("the fixtures have no efficientnet_lite0") }
    object["fusion"] = NSNull()
    object["classes"] = classes
    object["preprocessing"] = [
      "size": size, "color_constancy": ["method": colorConstancy, "p": 6, "rounding": "round"],
      "mean": [0, 0, 0],
      "std": [1, 1, 1],
    ]
    var tensors = formula.shapes.filter { !$0.key.hasPrefix("fusion.") && !$0.key.hasPrefix("classifier.") }
      .map { name, shape in (name: name, shape: shape, values: values(name, shape)) }
    let width = formula.shapes["conv_head.weight"]?[0] ?? 0
    var classifier = [Float](repeating: 0, count: count * width)
    classifier[rising * width] = 1
    classifier[falling * width] = -1
    tensors.append(("classifier.weight", [count, width], classifier))
    tensors.append(("classifier.bias", [count], [Float](repeating: 0, count: count)))
    return (
      [UInt8](try JSONSerialization.data(withJSONObject: object, options: .sortedKeys)), safetensors(tensors)
    )
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
