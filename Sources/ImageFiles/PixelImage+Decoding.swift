import ImagePipeline

extension PixelImage {
  /// Decodes the bytes of a PNG, JPEG (EXIF orientation applied) or PNM file.
  ///
  /// - Throws: ``ImageError`` naming the broken rule.
  public init(decoding bytes: [UInt8]) throws(ImageError) { self = try ImageDecoder.decode(bytes) }
}
