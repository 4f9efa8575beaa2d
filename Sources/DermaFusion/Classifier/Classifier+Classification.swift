import Files
import ImagePipeline
import NetworkModule
import SystemModule
import TensorModule

extension Classifier {
  /// Classifies an image that is already in memory as pixels.
  ///
  /// - Parameters:
  ///   - image: at least 32x32; a photograph through a dermatoscope, the lesion in its centre.
  ///   - metadata: ``PatientMetadata/unknown`` where nothing is known.
  ///   - views: how the network looks at the image; ``ImageViews/symmetries`` takes eight runs.
  /// - Throws: ``DermaFusionError/Code/invalidImage`` or ``DermaFusionError/Code/nonFiniteOutput``.
  public func classify(
    _ image: PixelImage, metadata: PatientMetadata = .unknown, views: ImageViews = .upright
  ) throws(DermaFusionError) -> Classification {
    try classify(preprocessed(image), metadata: metadata, views: views, imageSHA256: nil).0
  }

  /// The same of an image that is preprocessed already, with what the network gave.
  ///
  /// - Parameter imageSHA256: of the file that the image comes from; nil where there is none.
  package func classify(
    _ input: PreprocessedImage, metadata: PatientMetadata, views: ImageViews = .upright, imageSHA256: String?
  ) throws(DermaFusionError) -> (Classification, NetworkOutput) {
    let known = metadata.filled(from: input.patient)
    let output = try output(of: input, metadata: known.encoded(), views: views)
    let result = try classification(
      output, of: input, metadata: known, isFromFile: known != metadata, views: views,
      imageSHA256: imageSHA256)
    return (result, output)
  }

  /// What every result will warn of, known before the first: that the package was built without optimisation.
  public var warnings: [ClassificationWarning] { KernelChoice.isOptimized ? [] : [.unoptimizedBuild] }

  /// The image as the network sees it.
  ///
  /// - Throws: ``DermaFusionError/Code/invalidImage``
  package func preprocessed(_ image: PixelImage) throws(DermaFusionError) -> PreprocessedImage {
    try preprocessed(DecodedImage(image))
  }

  /// What a decoder made of a file as the network sees it.
  ///
  /// - Throws: ``DermaFusionError/Code/invalidImage``
  package func preprocessed(_ image: DecodedImage) throws(DermaFusionError) -> PreprocessedImage {
    try preprocessor(image)
  }

  /// What the model makes of an image, or an ensemble by its vote.
  ///
  /// - Throws: ``DermaFusionError/Code/nonFiniteOutput`` for a member of an ensemble.
  package func output(
    of image: PreprocessedImage, metadata: MetadataVector, views: ImageViews
  ) throws(DermaFusionError) -> NetworkOutput {
    switch source {
    case .model(let model): model.output(of: image, metadata: metadata, views: views)
    case .ensemble(let ensemble): try ensemble.output(of: image, metadata: metadata, views: views)
    }
  }

  /// The result that the network's output for an image makes.
  ///
  /// - Parameter isFromFile: whether some of the metadata is the image file's own.
  /// - Throws: ``DermaFusionError/Code/nonFiniteOutput``
  package func classification(
    _ output: NetworkOutput, of input: PreprocessedImage, metadata: PatientMetadata, isFromFile: Bool = false,
    views: ImageViews = .upright, imageSHA256: String?
  ) throws(DermaFusionError) -> Classification {
    let logits = try calibration.scores(output.logits)
    let probabilities = calibration.probabilities(of: logits)
    var warnings = input.warnings
    if configuration.fusion == nil, !metadata.isEmpty { warnings.append(.metadataUnused) }
    if isFromFile { warnings.append(.metadataFromFile) }
    warnings += self.warnings
    let abstention = Abstention(
      of: input, judges: judges(output),
      // The thresholds of the sets were fitted on single views.
      conformal: views == .upright ? configuration.abstention?.conformal : nil,
      probabilities: probabilities)
    return Classification(
      logits: logits, probabilities: probabilities, metadata: metadata, warnings: warnings,
      imageSHA256: imageSHA256, model: model, views: views, abstention: abstention)
  }

  /// Who decides whether a result is given: this model or an ensemble's members, those that were fitted for it.
  private func judges(_ output: NetworkOutput) -> [Abstention.Judge] {
    switch source {
    case .model(let model): [model.judge(output)].compactMap { $0 }
    case .ensemble(let ensemble):
      zip(ensemble.members, output.members).compactMap { $0.model.judge($1) }
    }
  }
}
