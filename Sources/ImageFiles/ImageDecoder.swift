import ImagePipeline

/// Decodes the bytes of an image file to upright 8-bit RGB pixels, equal to those of Pillow's
/// `ImageOps.exif_transpose(Image.open(file)).convert("RGB")`.
///
/// Alpha is dropped, gamma and colour profiles are not applied, and 16-bit values are taken by their high byte (for
/// 16-bit grey Pillow itself would turn everything above 255 white).
package enum ImageDecoder {
  /// Decodes a PNG, JPEG or PNM file.
  ///
  /// - Parameter bytes: The whole file.
  /// - Throws: ``ImageError`` naming the broken rule.
  package static func decode(_ bytes: UnsafeRawBufferPointer) throws(ImageError) -> PixelImage {
    guard !bytes.isEmpty else { throw .empty }
    switch RecognizedFormat(bytes) {
    case .supported(.png): return try PNGDecoder.decode(bytes)
    case .supported(.jpeg): return try JPEGDecoder.decode(bytes)
    case .supported(.pnm): return try PNMDecoder.decode(bytes)
    case .unsupported(let name): throw .unsupportedFormat(name: name)
    case .unknown: throw .unrecognizedFormat(leadingBytes: Array(bytes.prefix(8)))
    }
  }

  /// Decodes a PNG, JPEG or PNM file.
  ///
  /// - Parameter bytes: The whole file.
  /// - Throws: ``ImageError`` naming the broken rule.
  package static func decode(_ bytes: [UInt8]) throws(ImageError) -> PixelImage {
    try bytes.withUnsafeBufferPointer { (bytes) throws(ImageError) in
      try decode(UnsafeRawBufferPointer(bytes))
    }
  }
}
