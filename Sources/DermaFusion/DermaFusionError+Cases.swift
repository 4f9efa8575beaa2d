import Files
import ImagePipeline
import SystemModule

extension DermaFusionError {
  /// What `body` returns, its error as this library's.
  package static func converting<Value>(
    _ body: () throws(ModelFileError) -> Value
  ) throws(DermaFusionError) -> Value {
    do throws(ModelFileError) {
      return try body()
    } catch {
      throw DermaFusionError(error)
    }
  }

  package init(_ error: ModelFileError) {
    switch error {
    case .folderMissing, .notAFolder, .fileMissing, .file(.notFound), .file(.brokenLink), .file(.unreadable),
      .file(.isFolder), .file(.notFile):
      self.init(
        .modelNotFound, message: error.description,
        remedy: "Name a folder that holds config.json and model.safetensors.")
    case .unusablePrecision:
      self.init(
        .invalidModel, message: error.description, remedy: "Leave the precision to the model's config.json.")
    default:
      self.init(
        .invalidModel, message: error.description,
        remedy: "Export the model again, or copy its folder again in full.")
    }
  }

  package init(_ error: ImageError) {
    self.init(
      .invalidImage, message: error.description,
      remedy: "Use a whole image file of at least 32x32 pixels.")
  }

  package init(encoding error: ImageError) {
    self.init(
      .encodingFailed, message: error.description, remedy: "Free memory, or ask for a smaller picture.")
  }

  package init(_ error: ActivationMapError) {
    switch error {
    case .unknownLayer(_, let available):
      self.init(
        .unknownLayer, message: error.description,
        remedy: "The layers are \(available.joined(separator: ", ")).")
    case .notFinite:
      self.init(
        .nonFiniteOutput, message: error.description,
        remedy: "Choose another layer or method; if all fail, the model's weights are damaged.")
    }
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
