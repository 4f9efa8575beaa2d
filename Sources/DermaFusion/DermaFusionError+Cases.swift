import Files
import ImagePipeline
import SystemModule

extension DermaFusionError {
  /// The model has no such layer; what it has is listed.
  static func unknownLayer(_ name: String, available: [String]) -> DermaFusionError {
    let layers = available.joined(separator: ", ")
    return DermaFusionError(
      .unknownLayer, message: "there is no layer '\(name)'; the layers are \(layers)",
      remedy: "The layers are \(layers).")
  }

  /// The activation map holds NaN or an infinity.
  static func notFinite(classIndex: Int, layer: String) -> DermaFusionError {
    DermaFusionError(
      .nonFiniteOutput,
      message: "the activation map of class \(classIndex), counted from 0, at \(layer) is not finite",
      remedy: "Choose another layer or method; if all fail, the model's weights are damaged.")
  }

  static func nonFiniteLogits(_ logits: [Float]) -> DermaFusionError {
    let shown =
      logits.prefix(8).map { $0.description }.joined(separator: ", ") + (logits.count > 8 ? ", ..." : "")
    return DermaFusionError(
      .nonFiniteOutput, message: "the network's outputs are not finite (\(shown))",
      remedy: "Check the model with another image; if it fails too, its weights are damaged.")
  }

  /// - Parameter members: the names of the folders.
  static func ensembleNotExplained(file: String, members: [String]) -> DermaFusionError {
    DermaFusionError(
      .ensembleNotExplained,
      message: """
        \(file): an activation map is of one network, and this is an ensemble; name the folder of one of its \
        members as the model (\(members.joined(separator: ", ")))
        """,
      remedy: "Load the folder of one of the members.")
  }

  static func unknownClass(named name: String, among labels: Labels) -> DermaFusionError {
    DermaFusionError(
      .unknownClass, message: "the model has no class \(quoted(name))", remedy: remedy(among: labels))
  }

  private static func remedy(among labels: Labels) -> String {
    "Take a label of this model: \(labels.ids.prefix(8).joined(separator: ", "))\(labels.count > 8 ? ", ..." : "")."
  }

  static func unknownClass(_ label: LesionLabel, among labels: Labels) -> DermaFusionError {
    DermaFusionError(
      .unknownClass, message: "the model has no class '\(label.id)' at place \(label.index)",
      remedy: remedy(among: labels))
  }

  static func ageOutOfRange(_ age: Double) -> DermaFusionError {
    DermaFusionError(
      .invalidMetadata, message: "age \(age) is not within 0...130 years",
      remedy: "Give an age in years, or none when it is not known.")
  }
}
