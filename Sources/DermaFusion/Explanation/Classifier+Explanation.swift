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
    try explain(
      image, metadata: metadata, labels: label.map { [$0] } ?? [], method: method, layer: layer
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
    try explain(
      preprocessed(image), metadata: metadata, method: method, layer: layer, imageSHA256: nil,
      selecting: selection(labels))
  }

  /// The layers that can be explained, from the first to the last, by timm's names: the stem, the end of each block
  /// (`blocks.0.0` or `layer1.0`, ...) and, where there is one, `conv_head`. `stage0`, `stage1`, ... also stand for the ends
  /// of the stages. Empty for an ensemble.
  public var layers: [String] {
    if case .model(let model) = source { model.network.featureMapNames } else { [] }
  }

  /// How ``explain(_:metadata:labels:method:layer:)`` chooses: the requested classes, else the likeliest.
  ///
  /// - Throws: ``DermaFusionError/Code/unknownClass`` for a label of another model.
  package func selection(
    _ chosen: [LesionLabel]
  ) throws(DermaFusionError) -> (ClassScores) -> [LesionLabel] {
    for label in chosen where !(labels.indices.contains(label.index) && labels[label.index] == label) {
      throw .unknownClass(label, among: labels)
    }
    return { scores in chosen.isEmpty ? [scores.highest] : chosen }
  }

  /// - Parameters:
  ///   - input: of the whole image.
  ///   - imageSHA256: of the file that the image comes from; nil where there is none.
  ///   - pictureSide: the greatest width of ``Explanation/cropped``; nil: as wide as it is.
  ///   - select: the classes to explain, by the image's probabilities; at least one.
  package func explain(
    _ input: PreprocessedImage, metadata: PatientMetadata, method: ActivationMapMethod, layer: String?,
    imageSHA256: String?, pictureSide: Int? = nil, selecting select: (ClassScores) -> [LesionLabel]
  ) throws(DermaFusionError) -> Explanation {
    let network = try singleModel().network
    let layer = try network.layerName(layer)
    let known = metadata.filled(from: input.patient)
    var explained: [LesionLabel] = []
    let run = try unsafe network.runWithGradients(
      layer: layer, metadata: known.encoded(), needsGradients: method.usesGradient,
      logits: { (output) throws(DermaFusionError) in
        explained = select(try calibration.probabilities(output.logits))
        return explained.map { (network.head, $0.index) }
      },
      writeInput: { (target) throws(DermaFusionError) in unsafe input.writeNormalizedNHWC(to: target) })
    let result = try classification(
      run.output, of: input, metadata: known, isFromFile: known != metadata, imageSHA256: imageSHA256)
    var maps: [ActivationMap] = []
    for (index, label) in explained.enumerated() {
      maps.append(
        try ActivationMap(
          classIndex: label.index, method: method, layer: layer, activations: run.activations,
          gradient: method.usesGradient ? run.gradients[index] : nil, size: network.inputSize,
          geometry: network.geometry(ofFeatureMap: layer)))
    }
    return Explanation(
      classification: result, maps: maps,
      cropped: pictureSide.map { input.picture(side: $0) } ?? input.cropped)
  }
}
