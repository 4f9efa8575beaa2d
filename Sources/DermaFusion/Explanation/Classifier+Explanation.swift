import ExplanationModule
import ImagePipeline
import ModelFiles
import NetworkModule

/// A classification, and maps of where the model found what spoke for one or more classes.
public struct Explanation: Sendable {
  /// The result that is explained.
  public let classification: Classification
  /// One for each class asked for, in that order; at least one.
  public let maps: [ActivationMap]
  /// The centre square of the image, which is all that the model sees: `[S, S, 3]`. The maps lie over it.
  public let cropped: PixelImage
}

extension Classifier {
  /// The map of one class.
  ///
  /// - Parameters:
  ///   - image: at least 32x32.
  ///   - metadata: goes into the logits and into their gradients; it is held fixed.
  ///   - lesionClass: the class to explain; `nil`: the one with the greatest probability.
  ///   - method: see ``ActivationMapMethod``.
  ///   - layer: the feature map: one of ``layers``; `nil`: the last.
  /// - Returns: a map that is finite; look at ``ActivationMap/status`` before showing it.
  /// - Throws: ``ImageError``; ``ClassifierError/nonFiniteLogits(_:)``;
  ///   ``ClassifierError/ensembleNotExplained(file:members:)``; ``ActivationMapError``.
  public func activationMap(
    of image: PixelImage, metadata: PatientMetadata = .unknown, lesionClass: LesionClass? = nil,
    method: ActivationMapMethod = .gradcam, layer: String? = nil
  ) throws -> ActivationMap {
    try explain(
      image, metadata: metadata, classes: lesionClass.map { [$0] } ?? [], method: method, layer: layer
    ).maps[0]
  }

  /// Classifies an image and explains one or more of its logits.
  ///
  /// - Parameters:
  ///   - image: at least 32x32.
  ///   - metadata: goes into the logits and into their gradients; it is held fixed.
  ///   - classes: the classes to explain; none: the one with the greatest probability.
  ///   - method: see ``ActivationMapMethod``.
  ///   - layer: the feature map: one of ``layers``; `nil`: the last.
  /// - Throws: see ``activationMap(of:metadata:lesionClass:method:layer:)``.
  public func explain(
    _ image: PixelImage, metadata: PatientMetadata = .unknown, classes: [LesionClass] = [],
    method: ActivationMapMethod = .gradcam, layer: String? = nil
  ) throws -> Explanation {
    try explain(
      image, metadata: metadata, classes: classes, method: method, layer: layer,
      imageSHA256: nil)
  }

  /// The layers that can be explained: `conv_stem`, then the end of each block by timm's name (`blocks.0.0`, ...), then
  /// `conv_head`, the last. The end of a stage can also be asked for as `stage0`, `stage1`, ... Empty for an ensemble.
  public var layers: [String] { network?.featureMapNames ?? [] }

  /// - Parameter imageSHA256: of the file that the image comes from; nil where there is none.
  package func explain(
    _ image: PixelImage, metadata: PatientMetadata, classes: [LesionClass], method: ActivationMapMethod,
    layer: String?, imageSHA256: String?
  ) throws -> Explanation {
    let network = try explainedNetwork()
    let layer = try network.layerName(layer)
    let input = try preprocessor(image)
    let encoded = metadata.encoded()
    func explained(_ output: NetworkOutput) -> [LesionClass] {
      if !classes.isEmpty { return classes }
      // As the classification chooses: of logits that differ the probabilities may round to the same.
      return [ClassScores(output.logits).softmax(temperature: configuration.temperature).highest]
    }
    let run = network.runWithGradients(
      layer: layer, metadata: encoded, needsGradients: method.usesGradient,
      logits: { output in explained(output).map { (network.head, $0.index) } },
      writeInput: { input.writeNormalizedNHWC(to: $0) })
    let result = try classification(
      run.output, of: input, metadata: metadata, imageSHA256: imageSHA256)
    let maps = try explained(run.output).enumerated().map { index, lesionClass in
      try ActivationMap(
        classIndex: lesionClass.index, method: method, layer: layer, activations: run.activations,
        gradient: method.usesGradient ? run.gradients[index] : nil, size: network.inputSize)
    }
    return Explanation(classification: result, maps: maps, cropped: input.cropped)
  }
}

extension ActivationMap {
  /// The class whose logit was explained.
  public var lesionClass: LesionClass { LesionClass.allCases[classIndex] }
}
