import ImagePipeline

/// Decodes the bytes of an image file to upright 8-bit RGB pixels, equal to those of Pillow's
/// `ImageOps.exif_transpose(Image.open(file)).convert("RGB")`.
///
/// Alpha is dropped, gamma and colour profiles are not applied, and 16-bit values are taken by their high byte (for
/// 16-bit grey Pillow itself would turn everything above 255 white). Of an animation or several pages the first counts.
package enum ImageDecoder {
  /// Decodes an image file of any ``ImageFormat``.
  ///
  /// - Parameter bytes: The whole file.
  /// - Throws: ``ImageError`` naming the broken rule.
  package static func decode(
    _ bytes: [UInt8], limits: DecodingLimits = .standard
  ) throws(ImageError) -> PixelImage {
    try decode(bytes, part: .whole, limits: limits).pixels
  }

  /// Decodes an image file of any ``ImageFormat``.
  ///
  /// - Parameter bytes: The whole file.
  /// - Throws: ``ImageError`` naming the broken rule.
  package static func decode(
    _ bytes: [UInt8], part: ImagePart, limits: DecodingLimits = .standard
  ) throws(ImageError) -> DecodedImage {
    try bytes.withUnsafeBufferPointer { (bytes) throws(ImageError) in
      try decode(UnsafeRawBufferPointer(bytes), part: part, limits: limits)
    }
  }

  /// Decodes an image file of any ``ImageFormat``.
  ///
  /// - Parameter bytes: The whole file.
  /// - Throws: ``ImageError`` naming the broken rule.
  package static func decode(
    _ bytes: UnsafeRawBufferPointer, part: ImagePart, limits: DecodingLimits = .standard
  ) throws(ImageError) -> DecodedImage {
    guard !bytes.isEmpty else { throw .empty }
    switch RecognizedFormat(bytes) {
    case .supported(.png): return try PNGDecoder.decode(bytes, part: part, limits: limits)
    case .supported(.jpeg): return try JPEGDecoder.decode(bytes, part: part, limits: limits)
    case .supported(.pnm): return try PNMDecoder.decode(bytes, part: part, limits: limits)
    case .supported(.bmp): return try BMPDecoder.decode(bytes, part: part, limits: limits)
    case .supported(.dicom): return try DICOMDecoder.decode(bytes, part: part, limits: limits)
    case .supported(let format):
      return try LibraryDecoder.decode(bytes, format, part: part, limits: limits)
    case .unsupported(let name): throw .unsupportedFormat(name: name)
    case .unknown: throw .unrecognizedFormat(leadingBytes: Array(bytes.prefix(8)))
    }
  }

  /// What the header of a WebP, TIFF or HEIF file claims, read as before its library sees the file; nil for other formats.
  package static func statedSize(_ bytes: [UInt8]) throws(ImageError) -> (width: Int, height: Int)? {
    try bytes.withUnsafeBufferPointer { (bytes) throws(ImageError) in
      let bytes = UnsafeRawBufferPointer(bytes)
      guard case .supported(let format) = RecognizedFormat(bytes), SystemLibrary(decoding: format) != nil
      else {
        return nil
      }
      let header = try LibraryDecoder.header(bytes, format)
      return (header.width, header.height)
    }
  }

  /// What an image file says about the patient; nil where it says nothing.
  package static func patient(_ bytes: [UInt8]) -> FilePatient? {
    bytes.withUnsafeBytes { bytes in
      DICOMFile.isRecognized(bytes) ? (try? DICOMFile(bytes))?.patient : nil
    }
  }

  /// No file of a dermoscopy image comes near it.
  package static let fileByteLimit = 512 * 1024 * 1024

  /// Why a file that begins so cannot be decoded on this machine, or nil. Lets callers stop reading early.
  ///
  /// - Parameter start: at least 256 bytes, or the whole file.
  package static func refusal(ofStart start: UnsafeRawBufferPointer) -> String? {
    switch RecognizedFormat(start) {
    case .supported(let format):
      LibraryDecoder.isThere(format) ? nil : SystemLibrary(decoding: format)?.missing.description
    case .unsupported(let name): ImageError.unsupportedFormat(name: name).description
    case .unknown: ImageError.unrecognizedFormat(leadingBytes: Array(start.prefix(8))).description
    }
  }

  /// The libraries that decode, such as `libjpeg-turbo 2.1.5` and `libpng 1.6.39`: those that the program is linked to, and
  /// those that this machine has.
  package static var libraries: [String] { [jpegLibrary, PNGDecoder.library] + LibraryDecoder.libraries }

  /// The library that decodes JPEG, such as `libjpeg-turbo 2.1.5`.
  package static var jpegLibrary: String { JPEGDecoder.library }
}
