import Files
import ImagePipeline
import SystemModule

/// An image format: a row of ``all``, which recognition, lists, endings and messages come from. A new format is a row and a
/// folder with its decoder.
struct ImageFormat: Sendable {
  typealias Decode =
    @Sendable (UnsafeRawBufferPointer, ImagePart, DecodingLimits) throws(DermaFusionError) -> DecodedImage

  enum Decoding: Sendable {
    /// By this package, or a library that it is linked to.
    case own(Decode)
    /// By this package; a file may hold several frames.
    case frames(
      @Sendable (UnsafeRawBufferPointer, _ frame: Int?, ImagePart, DecodingLimits)
        throws(DermaFusionError) -> DecodedImage)
    /// By a library of the system, found at run time.
    case library(SystemLibrary)
    /// By a library of the system, but only inside of other files.
    case embedded(SystemLibrary)
    /// Files of this format are known and refused.
    case refused
  }

  /// As messages call it: `PNG`.
  let name: String
  /// The names that lists show, where they are others.
  private let kinds: [String]?
  /// Endings of file names, with a dot and in lower case.
  var endings: [String] { ImageEndings.of(name) }
  let decoding: Decoding
  /// True if a file is of this format, by its first 256 bytes or the whole file. One that is cut off inside its
  /// signature may count too. The first row that says yes has the file.
  let isRecognized: @Sendable (UnsafeRawBufferPointer) -> Bool

  private init(
    _ name: String, kinds: [String]? = nil, _ decoding: Decoding = .refused,
    _ isRecognized: @escaping @Sendable (UnsafeRawBufferPointer) -> Bool = { _ in false }
  ) {
    (self.name, self.kinds, self.decoding, self.isRecognized) = (name, kinds, decoding, isRecognized)
  }

  static let png = ImageFormat("PNG", .own(PNGDecoder.decode)) {
    agrees($0, with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], atLeast: 4)
  }
  static let jpeg = ImageFormat("JPEG", .own(JPEGDecoder.decode)) {
    agrees($0, with: [0xFF, 0xD8, 0xFF], atLeast: 2)
  }
  static let pnm = ImageFormat(
    "PNM", .own(PNMDecoder.decode), PNMDecoder.isRecognized)
  static let bmp = ImageFormat("BMP", .own(BMPDecoder.decode)) {
    // DICOM's first 128 bytes may be anything.
    !DICOMFile.isRecognized($0) && BMPHeader.isRecognized($0)
  }
  static let dicom = ImageFormat(
    "DICOM", .frames(DICOMDecoder.decode), DICOMFile.isRecognized)
  static let webp: ImageFormat = ImageFormat("WebP", .library(.webp)) {
    starts($0, "RIFF") && starts($0, "WEBP", at: 8)
  }
  static let tiff: ImageFormat = ImageFormat(
    "TIFF", .library(.tiff), TIFFDirectory.isRecognized)
  static let heif: ImageFormat = ImageFormat(
    "HEIF", kinds: ["HEIC", "AVIF"], .library(.heif),
    HEIFFile.isRecognized)

  /// Frames of DICOM files are compressed by it; a file of its own is refused.
  static let jpeg2000: ImageFormat = ImageFormat("JPEG 2000", .embedded(.jpeg2000)) {
    $0.starts(with: JPEG2000Stream.boxSignature) || $0.starts(with: JPEG2000Stream.signature)
  }

  /// Before TIFF and HEIF, whose structure most of them have.
  static let raw = ImageFormat(
    "raw camera"
  ) { bytes in
    let signatures: [(StaticString, Int)] = [
      ("FUJIFILMCCD-RAW", 0), ("FOVb", 0), ("\0MRM", 0), ("HEAPCCDR", 6), ("IIU\0", 0), ("IIRO", 0),
      ("IIRS", 0), ("MMOR", 0), ("ftypcrx ", 4),
    ]
    if signatures.contains(where: { starts(bytes, $0.0, at: $0.1) }) { return true }
    guard TIFFDirectory.isRecognized(bytes) else { return false }
    return starts(bytes, "CR", at: 8) || starts(bytes, "IIII", at: 8) || TIFFPages(bytes).isRaw
  }

  static let all: [ImageFormat] = [
    png, jpeg, pnm, bmp, dicom, webp, raw, tiff, heif,
    ImageFormat("GIF") { starts($0, "GIF8") },
    ImageFormat("MP4 or QuickTime") { starts($0, "ftyp", at: 4) },
    jpeg2000,
    ImageFormat("JPEG XL") {
      $0.starts(with: [0, 0, 0, 0x0C, 0x4A, 0x58, 0x4C, 0x20]) || $0.starts(with: [0xFF, 0x0A])
    },
    ImageFormat("JPEG XR") { $0.starts(with: [0x49, 0x49, 0xBC, 1]) },
    ImageFormat("Photoshop") { starts($0, "8BPS") },
    ImageFormat("PDF") { starts($0, "%PDF") },
    ImageFormat("ICO") { $0.starts(with: [0, 0, 1, 0]) },
    ImageFormat("PAM") { starts($0, "P7\n") },
    ImageFormat("PFM") { starts($0, "PF\n") || starts($0, "Pf\n") },
    ImageFormat("OpenEXR") { $0.starts(with: [0x76, 0x2F, 0x31, 1]) },
    ImageFormat("XCF") { starts($0, "gimp xcf") },
    ImageFormat("PCX"), ImageFormat("SVG"), ImageFormat("TGA"),
  ]

  private static func agrees(
    _ bytes: UnsafeRawBufferPointer, with magic: [UInt8], atLeast count: Int
  ) -> Bool {
    bytes.count >= count && zip(bytes, magic).allSatisfy { $0 == $1 }
  }

  private static func starts(
    _ bytes: UnsafeRawBufferPointer, _ text: StaticString, at offset: Int = 0
  ) -> Bool {
    ByteReader(bytes).holds(text, at: offset)
  }
}

extension ImageFormat {
  /// The format of a file by at least its first 256 bytes, or the whole of it.
  static func of(_ bytes: UnsafeRawBufferPointer) throws(DermaFusionError) -> ImageFormat {
    guard !bytes.isEmpty else { throw .empty }
    guard let format = all.first(where: { $0.isRecognized(bytes) }) else {
      throw .unrecognizedFormat(leadingBytes: Array(bytes.prefix(8)))
    }
    return format
  }

  /// The formats that are decoded here or where their library is there.
  fileprivate static let decoded = all.filter {
    switch $0.decoding {
    case .refused, .embedded: false
    case .own, .frames, .library: true
    }
  }

  var library: SystemLibrary? {
    switch decoding {
    case .library(let library), .embedded(let library): library
    case .own, .frames, .refused: nil
    }
  }

  /// `HEIC` and `AVIF`, or the format's own name.
  fileprivate var names: [String] { kinds ?? [name] }

  /// Why files of the format cannot be decoded on this machine; nil where they can be.
  ///
  /// - Parameter kind: which of the format's kinds, in lower case; nil where it is not known.
  func refusal(kind: String? = nil) -> DermaFusionError? {
    switch decoding {
    case .own, .frames: nil
    case .refused, .embedded: .unsupportedFormat(name: name)
    case .library(let library): library.missing(kind: kind)?.missing(name)
    }
  }
}

extension ImageDecoder {
  /// The names of the formats that can be read on this machine, as `info` lists them.
  package static var formats: [String] {
    ImageFormat.decoded.flatMap { format in
      format.names.map { $0.lowercased() }.filter { format.refusal(kind: $0) == nil }
    }
  }

  /// The libraries that this machine lacks, with the packages that have them.
  package static var missingLibraries: [String] {
    var words: [String] = []
    for format in ImageFormat.all {
      guard let library = format.library else { continue }
      for name in format.names {
        guard let package = library.missing(kind: name.lowercased()) else { continue }
        let text = "\(package.name) (Debian's \(package.debian), Homebrew's \(package.homebrew))"
        if !words.contains(text) { words.append(text) }
      }
    }
    return words
  }

  /// The endings of the formats that are decoded here or where their library is there, with a dot and in lower case.
  package static let endings = ImageFormat.decoded.flatMap { $0.endings }

  /// Those of the formats that can be read on this machine. Opens the libraries.
  package static var readableEndings: [String] { endings.filter { refusal(ofEnding: $0) == nil } }

  /// Why a file with such a name cannot be decoded on this machine, or nil.
  ///
  /// - Parameter ending: with its dot, in any letter case.
  package static func refusal(ofEnding ending: String) -> String? {
    let ending = ending.lowercased()
    guard let format = ImageFormat.all.first(where: { $0.endings.contains(ending) }) else {
      return "\(ending) is no ending of an image format"
    }
    return format.refusal(kind: String(ending.dropFirst()))?.message
  }

  /// Why a file that begins so cannot be decoded on this machine, or nil. Lets callers stop reading early.
  ///
  /// - Parameter start: at least 256 bytes, or the whole file.
  package static func refusal(ofStart start: UnsafeRawBufferPointer) -> Sentence? {
    do throws(DermaFusionError) {
      return try ImageFormat.of(start).refusal(ofStart: start)?.fault
    } catch {
      return error.fault
    }
  }
}

/// The kind of a file by its content.
package enum FileContent: Equatable, Sendable {
  /// An image that can be read on this machine.
  case image
  /// An image that cannot be; of which kind it is, as messages call it.
  case unreadableImage(kind: String)
  case other
}

extension FileContent {
  /// Looks at the beginning of a file, and at the directories of a TIFF file.
  ///
  /// - Parameters:
  ///   - start: at least its first 256 bytes, or the whole file.
  ///   - read: bytes of the file from an offset; nil where there are fewer than asked for.
  package init(_ start: UnsafeRawBufferPointer, read: (_ offset: Int, _ count: Int) -> [UInt8]?) {
    self = .other
    guard var format = try? ImageFormat.of(start) else { return }
    // A document or a film is no image, and a text may begin as a PNM does.
    if format.endings.isEmpty || (format == .pnm && !PNMDecoder.statesSize(start)) { return }
    if format == .dicom, DICOMHeading(ofStart: start)?.isOfImage == false { return }
    if format == .tiff, TIFFPages(read).isRaw { format = .raw }
    self =
      format.refusal(ofStart: start) == nil ? .image : .unreadableImage(kind: format.name(ofStart: start))
  }
}

extension ImageFormat: Equatable {
  static func == (left: ImageFormat, right: ImageFormat) -> Bool { left.name == right.name }

  /// `HEIC`, `AVIF` or the format's own name.
  fileprivate func name(ofStart start: UnsafeRawBufferPointer) -> String {
    kind(ofStart: start)?.uppercased() ?? name
  }

  private func kind(ofStart start: UnsafeRawBufferPointer) -> String? {
    if case .library(let library) = decoding { library.kind(start) } else { nil }
  }

  /// Why a file of the format that begins so cannot be decoded on this machine; nil where it can be, as far as the beginning tells.
  fileprivate func refusal(ofStart start: UnsafeRawBufferPointer) -> DermaFusionError? {
    if let refusal = refusal(kind: kind(ofStart: start)) { return refusal }
    guard self == .dicom, let heading = DICOMHeading(ofStart: start) else { return nil }
    do throws(DermaFusionError) {
      _ = try heading.transferSyntax()
      return nil
    } catch {
      return error
    }
  }
}

/// Why an image cannot be decoded or written. The caller puts the file's name before it.
extension DermaFusionError {
  package static var empty: Self { invalidImage("the file is empty") }

  static func unrecognizedFormat(leadingBytes bytes: [UInt8]) -> Self {
    let names = ImageFormat.decoded.flatMap { $0.names }
    let start = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }
    return .invalidImage(
      "not a \(names.dropLast().joined(separator: ", ")) or \(names.last ?? "") image (it starts with "
        + "\(start.joined(separator: " ")))")
  }

  static func unsupportedFormat(name: String) -> Self {
    invalidImage("\(name) images are not supported: convert it to PNG or JPEG")
  }

  static func unsupportedVariant(_ format: ImageFormat, reason: String) -> Self {
    invalidImage("this kind of \(format.name) is not supported: \(reason)")
  }

  static func truncated(_ format: ImageFormat, reason: String) -> Self {
    invalidImage("the \(format.name) is truncated: \(reason)")
  }

  /// The data break a rule of their format; the reason is the decoding library's own message where there is one.
  static func corrupt(_ format: ImageFormat, reason: String) -> Self {
    invalidImage("the \(format.name) is corrupt: \(reason)")
  }

  /// A file whose first frame must not be taken for all of it.
  static func severalFrames(_ count: Int) -> Self {
    invalidImage(
      """
      the DICOM holds \(count) frames, and one is looked at at a time: ask for FILE#1 to FILE#\(count) on the command line, \
      or for a frame by its number in Python, Swift and C
      """)
  }

  /// Nothing of the image can be seen. What colours there are below alpha is chance.
  static func fullyTransparent(_ format: ImageFormat) -> Self {
    invalidImage("the \(format.name) is fully transparent: every pixel's alpha is 0")
  }

  /// More pixels than a file of so few bytes holds in any photograph: probably a decompression bomb.
  static func implausibleSize(_ format: ImageFormat, byteCount: Int, width: Int, height: Int) -> Self {
    invalidImage("the \(format.name) is too large: \(byteCount) bytes claim \(width)x\(height) pixels")
  }

  /// A file that passes over its pixels so often that decoding would take minutes: probably a decompression bomb.
  static func tooManyScans(width: Int, height: Int, scans: Int, limit: Int) -> Self {
    invalidImage(
      "the image is too large: \(width)x\(height) in \(scans) scans is more than \(limit) pixels to pass over"
    )
  }

  static func tooMuchMemory(_ format: ImageFormat, byteCount: Int, limit: Int) -> Self {
    invalidImage(
      """
      the \(format.name) is too large: decoding it takes \((byteCount + 0xF_FFFF) >> 20) MB, more than the limit of \
      \(limit >> 20) MB
      """)
  }

  static func tooSlow(_ format: ImageFormat, seconds: Double) -> Self {
    invalidImage("decoding the \(format.name) took longer than the limit of \(seconds) seconds")
  }

  static func outOfMemory(_ format: ImageFormat) -> Self {
    invalidImage("not enough memory to decode the \(format.name)")
  }

  static func encodingFailed(reason: String) -> Self {
    Self(
      .encodingFailed, message: "the image cannot be encoded: \(reason)",
      remedy: "Free memory, or ask for a smaller picture.")
  }
}
