import ImagePipeline
import SystemModule

/// Decodes the bytes of an image file to upright 8-bit RGB pixels, equal to those of Pillow's
/// `ImageOps.exif_transpose(Image.open(file)).convert("RGB")`.
///
/// Alpha is dropped, gamma and colour profiles are not applied, and 16-bit values are taken by their high byte (for
/// 16-bit grey Pillow itself would turn everything above 255 white). Of an animation the first picture counts, of several pages
/// the first that is not marked as a reduced image; ``DecodedImage/details`` then says how many there are. A DICOM of several
/// frames is refused unless the caller chooses one.
package enum ImageDecoder {
  /// Decodes the whole of an image file.
  package static func decode(
    _ bytes: [UInt8], limits: DecodingLimits = .standard
  ) throws(DermaFusionError) -> PixelImage {
    try decode(bytes, part: .whole, limits: limits).pixels
  }

  /// - Parameter frame: the frame of a DICOM, from 1; nil: its only one.
  package static func decode(
    _ bytes: [UInt8], frame: Int? = nil, part: ImagePart, limits: DecodingLimits = .standard
  ) throws(DermaFusionError) -> DecodedImage {
    try bytes.withUnsafeBufferPointer { (bytes) throws(DermaFusionError) in
      let bytes = UnsafeRawBufferPointer(bytes)
      let format = try ImageFormat.of(bytes)
      switch format.decoding {
      case .frames(let decode): return try decode(bytes, frame, part, limits)
      case _ where frame != nil:
        throw .invalidImage("only DICOM files have frames that can be asked for, and this is \(format.name)")
      case .own(let decode): return try decode(bytes, part, limits)
      case .library(let library): return try library.decode(bytes, format, part: part, limits: limits)
      case .refused, .embedded: throw .unsupportedFormat(name: format.name)
      }
    }
  }

  /// The claims in the header of a WebP, TIFF or HEIF file, read as before its library sees the file; nil for other formats.
  package static func statedSize(_ bytes: [UInt8]) throws(DermaFusionError) -> (width: Int, height: Int)? {
    try bytes.withUnsafeBufferPointer { (bytes) throws(DermaFusionError) in
      let bytes = UnsafeRawBufferPointer(bytes)
      guard case .library(let library) = try ImageFormat.of(bytes).decoding else { return nil }
      let header = try library.header(bytes)
      return (header.width, header.height)
    }
  }

  /// The words of an image file about the patient; nil where it says nothing.
  package static func patient(_ bytes: [UInt8]) -> FilePatient? {
    bytes.withUnsafeBytes { bytes in
      DICOMFile.isRecognized(bytes)
        ? (try? DICOMFile(bytes, deadline: DecodingLimits.standard.deadline()))?.patient : nil
    }
  }

  /// No file of a dermoscopy image comes near it.
  package static let fileByteLimit = 512 * 1024 * 1024

  /// The libraries that decode, such as `libjpeg-turbo 2.1.5` and `libpng 1.6.39`: those that the program is linked to, and
  /// those that this machine has.
  package static var libraries: [String] {
    [jpegLibrary, PNGDecoder.library]
      + ImageFormat.all.compactMap { format in
        guard let library = format.library else { return nil }
        return library.version().map { "\(library.package.name) \($0)" }
      }
  }

  /// The library that decodes JPEG, such as `libjpeg-turbo 2.1.5`.
  package static var jpegLibrary: String { JPEGDecoder.library }
}
