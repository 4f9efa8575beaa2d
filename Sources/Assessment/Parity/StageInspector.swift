import DermaFusion
import ImageFiles
import ImagePipeline
import ModelFiles

/// Shows what an image looks like at each stage of one model's preprocessing. Needs the model's configuration
/// only, or those of an ensemble and its members, not the weights.
package struct StageInspector: Sendable {
  package typealias Stage = PreprocessingStage

  /// The array of one stage, with its shape.
  package enum Values: Sendable, Equatable {
    /// `[height, width, 3]`
    case bytes([UInt8], shape: [Int])
    /// `[3, size, size]`
    case floats([Float], shape: [Int])
  }

  private let preprocessor: Preprocessor

  /// - Throws: `ModelFileError` naming the file and the rule that it broke.
  package init(modelDirectory: String) throws(ModelFileError) {
    preprocessor = Preprocessor(try ModelConfiguration(directory: modelDirectory).preprocessing)
  }

  /// The image at one stage, and the warnings that a result would carry (none for the decoded image, which
  /// has not been looked at).
  ///
  /// - Throws: an error that names the rule which the file broke. An image that is too small to classify can
  ///   still be looked at as `decoded`.
  package func values(
    of stage: Stage, encodedImage bytes: [UInt8], limits: DecodingLimits = .standard
  ) throws -> (Values, [ClassificationWarning]) {
    if stage == .decoded { return (Values(try ImageDecoder.decode(bytes, limits: limits)), []) }
    let part: ImagePart = stage == .cropped ? .whole : .square(size: preprocessor.configuration.size)
    let image = try preprocessor(ImageDecoder.decode(bytes, part: part, limits: limits))
    return (Values(image, stage: stage), image.warnings.map(ClassificationWarning.init))
  }
}

extension StageInspector.Values {
  /// `[height, width, 3]`
  init(_ image: PixelImage) {
    self = .bytes(image.pixels, shape: [image.height, image.width, 3])
  }

  init(_ image: PreprocessedImage, stage: PreprocessingStage) {
    switch stage {
    case .decoded: self.init(image.decoded)
    case .cropped: self.init(image.cropped)
    case .resized: self.init(image.resized)
    case .constancy: self.init(image.constancy)
    case .normalized:
      self = .floats(image.normalizedCHW(), shape: [3, image.resized.height, image.resized.width])
    }
  }
}
