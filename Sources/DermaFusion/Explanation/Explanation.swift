import Files
import ImagePipeline
import NetworkModule
import SystemModule

/// A classification, and maps of the regions that support one or more classes.
public struct Explanation: Sendable {
  /// The result that is explained.
  public let classification: Classification
  /// One for each requested class, in that order; at least one.
  public let maps: [ActivationMap]
  /// The centre square of the image, which is all that the model sees: `[S, S, 3]`. The maps lie over it. Of an image from a
  /// file at most ``pictureSide`` pixels wide, so that explaining an image takes little more memory than classifying it.
  public let cropped: PixelImage
  /// The greatest width of ``cropped`` where the image comes from a file.
  public static let pictureSide = 2048

  /// The class whose logit a map explains.
  ///
  /// - Precondition: the map is one of the model that made this explanation.
  public func label(of map: ActivationMap) -> LesionLabel {
    classification.probabilities.labels[map.classIndex]
  }
}

extension Classifier {
  /// The map of one class.
  ///
  /// - Parameters:
  ///   - image: at least 32x32.
  ///   - metadata: goes into the logits and into their gradients; it is held fixed.
  ///   - label: the class to explain; `nil`: the one with the greatest probability.
  ///   - method: see ``ActivationMapMethod``.
  ///   - layer: the feature map: one of ``layers``; `nil`: the last.
  /// - Returns: a map that is finite; look at ``ActivationMap/status`` before showing it.
  /// - Throws: ``DermaFusionError``: ``DermaFusionError/Code/invalidImage``, ``DermaFusionError/Code/unknownClass``,
  ///   ``DermaFusionError/Code/unknownLayer``, ``DermaFusionError/Code/ensembleNotExplained`` or
  ///   ``DermaFusionError/Code/nonFiniteOutput``.
  public func activationMap(
    of image: PixelImage, metadata: PatientMetadata = .unknown, label: LesionLabel? = nil,
    method: ActivationMapMethod = .gradcam, layer: String? = nil
  ) throws(DermaFusionError) -> ActivationMap {
    // An explanation would hold a copy of the image.
    try run(
      explaining(label.map { [$0] } ?? [], method: method, layer: layer, metadata: metadata), on: image
    ).maps[0]
  }

  /// Classifies an image and explains one or more of its logits.
  ///
  /// - Parameters:
  ///   - image: at least 32x32.
  ///   - metadata: goes into the logits and into their gradients; it is held fixed.
  ///   - labels: the classes to explain; none: the one with the greatest probability.
  ///   - method: see ``ActivationMapMethod``.
  ///   - layer: the feature map: one of ``layers``; `nil`: the last.
  /// - Throws: see ``activationMap(of:metadata:label:method:layer:)``.
  public func explain(
    _ image: PixelImage, metadata: PatientMetadata = .unknown, labels: [LesionLabel] = [],
    method: ActivationMapMethod = .gradcam, layer: String? = nil
  ) throws(DermaFusionError) -> Explanation {
    try run(
      explaining(labels, method: method, layer: layer, metadata: metadata), on: image
    ).explanation
  }

  /// The request of the calls that explain the chosen classes, or the likeliest if none is chosen.
  package func explaining(
    _ chosen: [LesionLabel], method: ActivationMapMethod, layer: String?, metadata: PatientMetadata
  ) throws(DermaFusionError) -> ImageRequest {
    for label in chosen where !(labels.indices.contains(label.index) && labels[label.index] == label) {
      throw .unknownClass("the model has no class '\(label.id)' at place \(label.index)", among: labels)
    }
    var request = ImageRequest(metadata: metadata)
    request.explains = true
    request.classes = chosen.isEmpty ? .top : .named(chosen.map { $0.id })
    request.method = method
    request.layer = layer
    return request
  }

  /// The layers that can be explained, from the first to the last, by timm's names: the stem, the end of each block
  /// (`blocks.0.0` or `layer1.0`, ...) and, where there is one, `conv_head`. `stage0`, `stage1`, ... also stand for the ends
  /// of the stages. Empty for an ensemble.
  public var layers: [String] { ensemble == nil ? models[0].network.featureMapNames : [] }
}

extension Network {
  /// The feature map that a person names: one of ``featureMapNames``, or `stage0` ... for the end of a stage; nil: the
  /// network's own choice.
  package func layerName(_ name: String?) throws(DermaFusionError) -> String {
    guard let name else { return explainedFeatureMap }
    if featureMapNames.contains(name) { return name }
    let stages = stageNames
    if let stage = stages.firstIndex(of: name) { return featureMapName(ofStage: stage) }
    // A stage by timm's name for it, such as layer3 or blocks.5.
    if let last = featureMapNames.last(where: { $0.utf8.starts(with: "\(name).".utf8) }) { return last }
    let layers = (stages + featureMapNames).joined(separator: ", ")
    throw DermaFusionError(
      .unknownLayer, message: "there is no layer '\(name)'; the layers are \(layers)",
      remedy: "The layers are \(layers).")
  }
}
