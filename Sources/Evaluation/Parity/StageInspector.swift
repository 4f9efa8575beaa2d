import DermaFusion
import Files
import ImageFiles
import ImagePipeline

/// Shows what an image looks like at each stage of one model's preprocessing. Needs the model's configuration
/// only, or those of an ensemble and its members, not the weights.
package struct StageInspector: Sendable {
  private let preprocessor: Preprocessor

  /// - Throws: `DermaFusionError` naming the file and the rule that it broke.
  package init(modelDirectory: String) throws(DermaFusionError) {
    preprocessor = Preprocessor(try ModelConfiguration(directory: modelDirectory).preprocessing)
  }

  /// The image at one stage, and the warnings that a result would carry (none for the decoded image, which
  /// has not been looked at).
  ///
  /// - Throws: an error that names the rule which the file broke. An image that is too small to classify can
  ///   still be looked at as `decoded`.
  package func values(
    of stage: PreprocessingStage, encodedImage bytes: [UInt8], limits: DecodingLimits = .standard
  ) throws -> (StageValues, [ClassificationWarning]) {
    if stage == .decoded { return (StageValues(try ImageDecoder.decode(bytes, limits: limits)), []) }
    let part: ImagePart = stage == .cropped ? .whole : .square(size: preprocessor.configuration.size)
    let image = try preprocessor(ImageDecoder.decode(bytes, part: part, limits: limits))
    return (StageValues(image, stage: stage), image.warnings)
  }
}
