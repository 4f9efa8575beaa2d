import SystemModule

/// A family of image files. ImageFiles has the table of all.
package struct ImageFormat: Hashable, Sendable {
  /// As messages call it: `PNG`.
  package let name: String

  package init(_ name: String) { self.name = name }
}

/// Why an image cannot be decoded, preprocessed or written. Each is one line that names the rule and the value; the
/// caller puts the file's name before it.
extension DermaFusionError {
  /// There are no bytes at all.
  package static var empty: Self { invalidImage("the image is empty (0 bytes)") }
  /// A known kind of file, but not one that is decoded here.
  package static func unsupportedFormat(name: String) -> Self {
    invalidImage("\(name) images are not supported: convert it to PNG or JPEG")
  }
  /// A format that a library of the system decodes, which is not there; the packages have it.
  package static func missingLibrary(_ format: ImageFormat, library: String, debian: String, homebrew: String)
    -> Self
  {
    invalidImage(
      """
      \(format.name) images are decoded by \(library), which this machine lacks: install Debian's \(debian) or \
      Homebrew's \(homebrew), or convert the image to PNG or JPEG
      """)
  }
  /// The library that decodes the format crashed; it ran in a process of its own.
  package static func crashedLibrary(_ format: ImageFormat, library: String, signal: Int) -> Self {
    invalidImage("the \(format.name) cannot be decoded: \(library) crashed on it (signal \(signal))")
  }
  /// The process in which the format is decoded cannot be started; the reason is the system's own words.
  package static func noDecodingProcess(_ format: ImageFormat, reason: String) -> Self {
    invalidImage("the \(format.name) cannot be decoded: a process for it cannot be started: \(reason)")
  }
  /// A variant of a decoded kind of file that is not decoded here.
  package static func unsupportedVariant(_ format: ImageFormat, reason: String) -> Self {
    invalidImage("this kind of \(format.name) is not supported: \(reason)")
  }
  /// The data end before the image does.
  package static func truncated(_ format: ImageFormat, reason: String) -> Self {
    invalidImage("the \(format.name) is truncated: \(reason)")
  }
  /// The data break a rule of their format; the reason is the decoding library's own message where there is one.
  package static func corrupt(_ format: ImageFormat, reason: String) -> Self {
    invalidImage("the \(format.name) is corrupt: \(reason)")
  }
  /// Nothing of the image can be seen: every pixel's alpha is 0. What colours there are below it is chance.
  package static func fullyTransparent(_ format: ImageFormat) -> Self {
    invalidImage("the \(format.name) is fully transparent: every pixel's alpha is 0")
  }
  /// More pixels than anyone photographs: probably a decompression bomb.
  package static func tooManyPixels(width: Int, height: Int, limit: Int) -> Self {
    invalidImage("the image is too large: \(width)x\(height) is more than \(limit) pixels")
  }
  /// More pixels than a file of so few bytes holds in any photograph: probably a decompression bomb.
  package static func implausibleSize(_ format: ImageFormat, byteCount: Int, width: Int, height: Int) -> Self
  {
    invalidImage("the \(format.name) is too large: \(byteCount) bytes claim \(width)x\(height) pixels")
  }
  /// A file that passes over its pixels so often that decoding would take minutes: probably a decompression bomb.
  package static func tooManyScans(width: Int, height: Int, scans: Int, limit: Int) -> Self {
    invalidImage(
      "the image is too large: \(width)x\(height) in \(scans) scans is more than \(limit) pixels to pass over"
    )
  }
  /// Decoding needs more memory than it may have.
  package static func tooMuchMemory(_ format: ImageFormat, byteCount: Int, limit: Int) -> Self {
    invalidImage(
      """
      the \(format.name) is too large: decoding it takes \((byteCount + 0xF_FFFF) >> 20) MB, more than the limit of \
      \(limit >> 20) MB
      """)
  }
  /// Decoding took longer than it may.
  package static func tooSlow(_ format: ImageFormat, seconds: Double) -> Self {
    invalidImage("decoding the \(format.name) took longer than the limit of \(seconds) seconds")
  }
  /// The decoder could not get the memory it needs.
  package static func outOfMemory(_ format: ImageFormat) -> Self {
    invalidImage("not enough memory to decode the \(format.name)")
  }
  /// No image of this size lies in so many bytes.
  package static func wrongMemory(byteCount: Int, width: Int, height: Int, bytesPerRow: Int) -> Self {
    invalidImage("\(byteCount) bytes do not hold \(width)x\(height) pixels in rows of \(bytesPerRow) bytes")
  }
  /// A side is too short to be classified.
  package static func tooSmall(width: Int, height: Int, minimumSide: Int) -> Self {
    invalidImage("the image is too small: \(width)x\(height) is under \(minimumSide)x\(minimumSide)")
  }
  /// The image cannot be written as a file.
  package static func encodingFailed(reason: String) -> Self {
    Self(
      .encodingFailed, message: "the image cannot be encoded: \(reason)",
      remedy: "Free memory, or ask for a smaller picture.")
  }

  package static func invalidImage(_ message: String) -> Self {
    Self(.invalidImage, message: message, remedy: "Use a whole image file of at least 32x32 pixels.")
  }
}
