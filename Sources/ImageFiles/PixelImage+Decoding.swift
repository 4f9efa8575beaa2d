import DermaFusion
import ImagePipeline

extension PixelImage {
  /// Decodes the bytes of a PNG, JPEG (EXIF orientation applied) or PNM file.
  ///
  /// - Throws: ``DermaFusionError/Code/invalidImage``, naming the broken rule.
  public init(decoding bytes: [UInt8]) throws(DermaFusionError) { self = try Classifier.decoded(bytes) }
}
