import ImagePipeline
import SystemModule

/// A library of the system that decodes a format. It is opened at run time: builds and installations do not need it.
///
/// Such a library may crash on a hostile file. The program therefore decodes in a process of its own (``DecodingProcess``).
/// Other programs that use the package decode in their own process.
struct SystemLibrary: Sendable {
  /// Packages that have a library, or a part of it.
  struct Package: Sendable {
    let name: String
    let debian: String
    let homebrew: String

    /// - Parameter format: its name.
    func missing(_ format: String) -> DermaFusionError {
      .invalidImage(
        """
        \(format) images are decoded by \(name), which this machine lacks: install Debian's \(debian) or \
        Homebrew's \(homebrew), or convert the image to PNG or JPEG
        """)
    }
  }

  /// A file's size and the way that its pixels lie, read without the library.
  struct Header {
    let width: Int
    let height: Int
    let orientation: Orientation
    /// Bytes that decoding may take for each pixel, beside the pixels.
    let bytesPerPixel: Int
    let facts: FileFacts
  }

  let package: Package
  /// `nil` where the library is not there.
  let version: @Sendable () -> String?
  let header: @Sendable (UnsafeRawBufferPointer) throws(DermaFusionError) -> Header
  /// The stored pixels, decoded in this process. The library is there.
  let pixels: @Sendable (UnsafeRawBufferPointer, DecodingLimits) throws(DermaFusionError) -> PixelImage
  /// The part of the library that a kind of the format needs and the machine lacks.
  var missingPart: @Sendable (_ kind: String?) -> Package? = { _ in nil }
  /// The kind that a file is of, in lower case; `nil` where it does not tell.
  var kind: @Sendable (UnsafeRawBufferPointer) -> String? = { _ in nil }

  /// The library that this machine lacks to decode files of this kind.
  func missing(kind: String? = nil) -> Package? { version() == nil ? package : missingPart(kind) }

  /// Opens a library by one of the interfaces that the declarations here are of, in the order in which they are tried.
  static func open(_ name: String, versions: [Int]) -> DynamicLibrary? {
    #if canImport(Darwin)
      let files = ["", "/opt/homebrew/lib/", "/usr/local/lib/"].flatMap { folder in
        versions.map { "\(folder)\(name).\($0).dylib" }
      }
    #else
      let files = versions.map { "\(name).so.\($0)" }
    #endif
    return DynamicLibrary(names: files)
  }

  func decode(
    _ bytes: UnsafeRawBufferPointer, _ format: ImageFormat, part: ImagePart, limits: DecodingLimits
  ) throws(DermaFusionError) -> DecodedImage {
    if let refusal = format.refusal(kind: kind(bytes)) { throw refusal }
    return try decode(present: bytes, format, part: part, limits: limits)
  }

  /// - Parameter bytes: of a kind for which the library is there.
  func decode(
    present bytes: UnsafeRawBufferPointer, _ format: ImageFormat, part: ImagePart, limits: DecodingLimits
  ) throws(DermaFusionError) -> DecodedImage {
    let header = try header(bytes)
    try limits.check(width: header.width, height: header.height, part: part)
    let reservation = try limits.reserve(
      header.width * header.height * (header.bytesPerPixel + 3), for: format)
    let image =
      if let process = DecodingProcess.shared {
        try process.pixels(bytes, format, library: package.name, limits: limits)
      } else {
        try pixels(bytes, limits)
      }
    // A HEIF file's own header may claim another size than its images have.
    try limits.check(width: image.width, height: image.height, part: part)
    var decoded = DecodedImage(header.orientation.applied(to: image), reservation: reservation)
    decoded.details = header.facts.details
    return decoded
  }
}

extension String {
  /// With blanks for the line breaks that some libraries have in their messages.
  var onOneLine: String {
    String(String.UnicodeScalarView(unicodeScalars.map { $0.value < 0x20 ? " " : $0 }))
  }
}
