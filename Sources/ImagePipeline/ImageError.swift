/// Why an image cannot be decoded or preprocessed. Each case is one rule.
package enum ImageError: Error, Equatable, Sendable {
  /// There are no bytes at all.
  case empty

  /// The first bytes are no magic number that is known here.
  case unrecognizedFormat(leadingBytes: [UInt8])

  /// A known kind of file, but not one that is decoded here.
  case unsupportedFormat(name: String)

  /// A format that a library of the system decodes, which is not there; the packages have it.
  case missingLibrary(ImageFormat, library: String, debian: String, homebrew: String)

  /// The library that decodes the format crashed; it ran in a process of its own.
  case crashedLibrary(ImageFormat, library: String, signal: Int)

  /// The process in which the format is decoded cannot be started; the reason is the system's own words.
  case noDecodingProcess(ImageFormat, reason: String)

  /// A variant of a decoded kind of file that is not decoded here.
  case unsupportedVariant(ImageFormat, reason: String)

  /// The data end before the image does.
  case truncated(ImageFormat, reason: String)

  /// The data break a rule of their format; the reason is the decoding library's own message where there is one.
  case corrupt(ImageFormat, reason: String)

  /// Nothing of the image can be seen: every pixel's alpha is 0. What colours there are below it is chance.
  case fullyTransparent(ImageFormat)

  /// More pixels than anyone photographs: probably a decompression bomb.
  case tooManyPixels(width: Int, height: Int, limit: Int)

  /// More pixels than a file of so few bytes holds in any photograph: probably a decompression bomb.
  case implausibleSize(ImageFormat, byteCount: Int, width: Int, height: Int)

  /// A file that passes over its pixels so often that decoding would take minutes: probably a decompression bomb.
  case tooManyScans(width: Int, height: Int, scans: Int, limit: Int)

  /// Decoding needs more memory than it may have.
  case tooMuchMemory(ImageFormat, byteCount: Int, limit: Int)

  /// Decoding took longer than it may.
  case tooSlow(ImageFormat, seconds: Double)

  /// The decoder could not get the memory it needs.
  case outOfMemory(ImageFormat)

  /// No image of this size lies in so many bytes.
  case wrongMemory(byteCount: Int, width: Int, height: Int, bytesPerRow: Int)

  /// A side is too short to be classified.
  case tooSmall(width: Int, height: Int, minimumSide: Int)

  /// The image cannot be written as a file.
  case encodingFailed(reason: String)
}

extension ImageError: CustomStringConvertible {
  /// One line that names the rule and the value; the caller puts the file's name before it.
  package var description: String {
    switch self {
    case .empty:
      "the image is empty (0 bytes)"
    case .unrecognizedFormat(let bytes):
      "not a PNG, JPEG, PNM, BMP, DICOM, WebP, TIFF, HEIC or AVIF image (it starts with \(Self.hexadecimal(bytes)))"
    case .unsupportedFormat(let name):
      "\(name) images are not supported: convert it to PNG or JPEG"
    case .missingLibrary(let format, let library, let debian, let homebrew):
      """
      \(format.rawValue) images are decoded by \(library), which this machine lacks: install Debian's \(debian) or \
      Homebrew's \(homebrew), or convert the image to PNG or JPEG
      """
    case .crashedLibrary(let format, let library, let signal):
      "the \(format.rawValue) cannot be decoded: \(library) crashed on it (signal \(signal))"
    case .noDecodingProcess(let format, let reason):
      "the \(format.rawValue) cannot be decoded: a process for it cannot be started: \(reason)"
    case .unsupportedVariant(let format, let reason):
      "this kind of \(format.rawValue) is not supported: \(reason)"
    case .truncated(let format, let reason):
      "the \(format.rawValue) is truncated: \(reason)"
    case .corrupt(let format, let reason):
      "the \(format.rawValue) is corrupt: \(reason)"
    case .fullyTransparent(let format):
      "the \(format.rawValue) is fully transparent: every pixel's alpha is 0"
    case .tooManyPixels(let width, let height, let limit):
      "the image is too large: \(width)x\(height) is more than \(limit) pixels"
    case .implausibleSize(let format, let byteCount, let width, let height):
      "the \(format.rawValue) is too large: \(byteCount) bytes claim \(width)x\(height) pixels"
    case .tooManyScans(let width, let height, let scans, let limit):
      "the image is too large: \(width)x\(height) in \(scans) scans is more than \(limit) pixels to pass over"
    case .tooMuchMemory(let format, let byteCount, let limit):
      """
      the \(format.rawValue) is too large: decoding it takes \((byteCount + 0xF_FFFF) >> 20) MB, more than the limit of \
      \(limit >> 20) MB
      """
    case .tooSlow(let format, let seconds):
      "decoding the \(format.rawValue) took longer than the limit of \(seconds) seconds"
    case .outOfMemory(let format):
      "not enough memory to decode the \(format.rawValue)"
    case .wrongMemory(let byteCount, let width, let height, let bytesPerRow):
      "\(byteCount) bytes do not hold \(width)x\(height) pixels in rows of \(bytesPerRow) bytes"
    case .tooSmall(let width, let height, let minimumSide):
      "the image is too small: \(width)x\(height) is under \(minimumSide)x\(minimumSide)"
    case .encodingFailed(let reason):
      "the image cannot be encoded: \(reason)"
    }
  }

  private static func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { byte in
      let digits = String(byte, radix: 16, uppercase: true)
      return digits.count == 1 ? "0" + digits : digits
    }.joined(separator: " ")
  }
}
