import ImagePipeline
import SystemModule

/// The formats that libraries of the system decode.
///
/// Such a library may crash on a hostile file. The program therefore decodes in a process of its own (``DecodingProcess``).
/// Other programs that use the package decode in their own process.
enum LibraryDecoder {
  /// A file's size and the way that its pixels lie, read without the library.
  struct Header {
    let width: Int
    let height: Int
    let orientation: Orientation
    /// Bytes that decoding may take for each pixel, beside the pixels.
    let bytesPerPixel: Int
  }

  static func decode(
    _ bytes: UnsafeRawBufferPointer, _ format: ImageFormat, part: ImagePart, limits: DecodingLimits
  ) throws(ImageError) -> DecodedImage {
    guard let library = SystemLibrary(decoding: format) else {
      preconditionFailure("\(format.rawValue) needs no library")
    }
    guard isThere(format) else { throw library.missing }
    if format == .heif, let missing = HEIFLibrary.shared?.missingDecoder(HEIFFile.isAVIF(bytes)) {
      throw missing
    }
    let header = try header(bytes, format)
    try limits.check(width: header.width, height: header.height, part: part)
    let reservation = try limits.reserve(
      header.width * header.height * (header.bytesPerPixel + 3), for: format)
    let image =
      if let process = DecodingProcess.shared {
        try process.pixels(bytes, library, limits: limits)
      } else {
        try pixels(bytes, format, limits: limits)
      }
    // A HEIF file's own header may claim another size than its images have.
    try limits.check(width: image.width, height: image.height, part: part)
    return DecodedImage(header.orientation.applied(to: image), reservation: reservation)
  }

  static func isThere(_ format: ImageFormat) -> Bool {
    switch format {
    case .webp: WebPLibrary.shared != nil
    case .tiff: TIFFLibrary.shared != nil
    case .heif: HEIFLibrary.shared != nil
    case .png, .jpeg, .pnm, .bmp, .dicom: true
    }
  }

  /// The libraries that are there, with their versions.
  static var libraries: [String] {
    [
      WebPLibrary.shared.map { "libwebp \($0.version)" }, TIFFLibrary.shared.map { "libtiff \($0.version)" },
      HEIFLibrary.shared.map { "libheif \($0.version)" },
    ].compactMap { $0 }
  }

  static func header(_ bytes: UnsafeRawBufferPointer, _ format: ImageFormat) throws(ImageError) -> Header {
    switch format {
    case .webp:
      let file = try WebPFile(bytes)
      return Header(width: file.width, height: file.height, orientation: file.orientation, bytesPerPixel: 5)
    case .tiff:
      let layout = try TIFFLayout(try TIFFDirectory(bytes))
      return Header(
        width: layout.width, height: layout.height, orientation: layout.orientation,
        bytesPerPixel: layout.usedSamples + layout.samples * (layout.bits + 7) / 8)
    default:
      let file = try HEIFFile(bytes)
      return Header(width: file.width, height: file.height, orientation: .upright, bytesPerPixel: 9)
    }
  }

  /// The stored pixels, decoded in this process.
  static func pixels(
    _ bytes: UnsafeRawBufferPointer, _ format: ImageFormat, limits: DecodingLimits
  ) throws(ImageError) -> PixelImage {
    switch format {
    case .webp:
      if let library = WebPLibrary.shared { return try library.pixels(bytes, try WebPFile(bytes)) }
    case .tiff:
      if let library = TIFFLibrary.shared {
        let layout = try TIFFLayout(try TIFFDirectory(bytes))
        return try TIFFReader(library, bytes, layout, limits: limits).pixels()
      }
    case .heif:
      if let library = HEIFLibrary.shared { return try library.pixels(bytes, limits: limits) }
    case .png, .jpeg, .pnm, .bmp, .dicom: break
    }
    guard let library = SystemLibrary(decoding: format) else {
      preconditionFailure("\(format.rawValue) needs no library")
    }
    throw library.missing
  }
}
