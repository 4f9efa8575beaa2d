import ImagePipeline
import SystemModule

extension ImageFormat {
  static let png = ImageFormat("PNG")
  static let jpeg = ImageFormat("JPEG")
  static let pnm = ImageFormat("PNM")
  static let bmp = ImageFormat("BMP")
  static let dicom = ImageFormat("DICOM")
  static let webp = ImageFormat("WebP")
  static let tiff = ImageFormat("TIFF")
  static let heif = ImageFormat("HEIF")
}

/// What there is to know of an image format. A new format is a row of ``all`` and a folder with its decoder.
struct FormatRow: Sendable {
  enum Decoding: Sendable {
    case own(
      @Sendable (UnsafeRawBufferPointer, ImagePart, DecodingLimits) throws(DermaFusionError) -> DecodedImage)
    /// A library of the system, which is looked for at run time.
    case library(SystemLibrary)
    /// Files of this format are known and refused.
    case refused
  }

  let format: ImageFormat
  /// The names that lists show, where they are others than the format's.
  var kinds: [String]?
  /// Endings of file names, with a dot and in lower case.
  let endings: [String]
  let decoding: Decoding
  /// Whether a file is of this format, by its first 256 bytes or the whole file. One that is cut off inside its
  /// signature may count too. The first row that says yes has the file.
  var isRecognized: @Sendable (UnsafeRawBufferPointer) -> Bool = { _ in false }

  var names: [String] { kinds ?? [format.name] }

  static func of(_ bytes: UnsafeRawBufferPointer) -> FormatRow? { all.first { $0.isRecognized(bytes) } }

  static let all: [FormatRow] = [
    FormatRow(
      format: .png, endings: [".png", ".apng"],
      decoding: .own { (bytes, part, limits) throws(DermaFusionError) in
        try PNGDecoder.decode(bytes, part: part, limits: limits)
      }
    ) {
      agrees($0, with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], atLeast: 4)
    },
    FormatRow(
      format: .jpeg, endings: [".jpg", ".jpeg", ".jpe", ".jfif"],
      decoding: .own { (bytes, part, limits) throws(DermaFusionError) in
        try JPEGDecoder.decode(bytes, part: part, limits: limits)
      }
    ) { agrees($0, with: [0xFF, 0xD8, 0xFF], atLeast: 2) },
    FormatRow(
      format: .pnm, endings: [".ppm", ".pgm", ".pbm", ".pnm"],
      decoding: .own { (bytes, part, limits) throws(DermaFusionError) in
        try PNMDecoder.decode(bytes, part: part, limits: limits)
      },
      isRecognized: PNMDecoder.isRecognized),
    FormatRow(
      format: .bmp, endings: [".bmp", ".dib"],
      decoding: .own { (bytes, part, limits) throws(DermaFusionError) in
        try BMPDecoder.decode(bytes, part: part, limits: limits)
      }
    ) {
      // DICOM's first 128 bytes may be anything.
      !DICOMFile.isRecognized($0) && BMPHeader.isRecognized($0)
    },
    FormatRow(
      format: .dicom, endings: [".dcm", ".dicom"],
      decoding: .own { (bytes, part, limits) throws(DermaFusionError) in
        try DICOMDecoder.decode(bytes, part: part, limits: limits)
      },
      isRecognized: DICOMFile.isRecognized),
    FormatRow(format: .webp, endings: [".webp"], decoding: .library(.webp)) {
      ByteReader($0).holds("RIFF", at: 0) && ByteReader($0).holds("WEBP", at: 8)
    },
    FormatRow(
      format: .tiff, endings: [".tif", ".tiff"], decoding: .library(.tiff),
      isRecognized: TIFFDirectory.isRecognized),
    FormatRow(
      format: .heif, kinds: ["HEIC", "AVIF"], endings: [".heic", ".heif", ".hif", ".avif"],
      decoding: .library(.heif), isRecognized: HEIFFile.isRecognized),
    refused("GIF", [".gif"]) { starts($0, "GIF8") },
    refused("MP4 or QuickTime", []) { starts($0, "ftyp", at: 4) },
    refused("JPEG 2000", [".jp2", ".j2k", ".j2c", ".jpc", ".jpf", ".jpx"]) {
      $0.starts(with: [0, 0, 0, 0x0C, 0x6A, 0x50, 0x20, 0x20]) || $0.starts(with: [0xFF, 0x4F, 0xFF, 0x51])
    },
    refused("JPEG XL", [".jxl"]) {
      $0.starts(with: [0, 0, 0, 0x0C, 0x4A, 0x58, 0x4C, 0x20]) || $0.starts(with: [0xFF, 0x0A])
    },
    refused("JPEG XR", [".jxr"]),
    refused("Photoshop", [".psd", ".psb"]) { starts($0, "8BPS") },
    refused("PDF", []) { starts($0, "%PDF") },
    refused("ICO", [".ico"]) { $0.starts(with: [0, 0, 1, 0]) },
    refused("PAM", [".pam"]) { starts($0, "P7\n") },
    refused("PFM", [".pfm"]) { starts($0, "PF\n") || starts($0, "Pf\n") },
    refused("PCX", [".pcx"]), refused("OpenEXR", [".exr"]), refused("SVG", [".svg"]),
    refused("TGA", [".tga"]),
    refused("XCF", [".xcf"]),
    refused(
      "raw camera",
      [
        ".arw", ".cr2", ".cr3", ".crw", ".dng", ".nef", ".nrw", ".orf", ".pef", ".raf", ".raw", ".rw2",
        ".srw",
      ]),
  ]

  private static func refused(
    _ name: String, _ endings: [String],
    _ isRecognized: @escaping @Sendable (UnsafeRawBufferPointer) -> Bool = { _ in false }
  ) -> FormatRow {
    FormatRow(
      format: ImageFormat(name), endings: endings, decoding: .refused, isRecognized: isRecognized)
  }

  private static func agrees(
    _ bytes: UnsafeRawBufferPointer, with magic: [UInt8], atLeast count: Int
  ) -> Bool {
    bytes.count >= count && zip(bytes, magic).allSatisfy { $0 == $1 }
  }

  private static func starts(_ bytes: UnsafeRawBufferPointer, _ text: StaticString, at offset: Int = 0)
    -> Bool
  {
    ByteReader(bytes).holds(text, at: offset)
  }
}

/// Whether files of a format can be read on this machine.
package enum FormatSupport: Equatable, Sendable {
  case readable
  /// The system lacks the library that decodes it; the packages have it.
  case missingLibrary(String, debian: String, homebrew: String)
  /// An image format that is not decoded here.
  case unsupported(name: String)
}

extension FormatRow {
  /// - Parameter kind: which of the format's kinds, in lower case; `nil` where it is not known.
  func support(kind: String? = nil) -> FormatSupport {
    switch decoding {
    case .own: return .readable
    case .refused: return .unsupported(name: format.name)
    case .library(let library):
      guard let missing = library.missing(kind: kind) else { return .readable }
      return .missingLibrary(missing.name, debian: missing.debian, homebrew: missing.homebrew)
    }
  }
}

extension ImageDecoder {
  private static var decoded: [FormatRow] {
    FormatRow.all.filter { if case .refused = $0.decoding { false } else { true } }
  }

  /// The formats that are decoded here or where their library is there: `PNG`, ..., `HEIC`, `AVIF`.
  static var names: [String] { decoded.flatMap(\.names) }

  /// The names of the formats that can be read on this machine, as `info` lists them.
  package static var formats: [String] {
    decoded.flatMap { row in
      row.names.map { $0.lowercased() }.filter { row.support(kind: $0) == .readable }
    }
  }

  /// The endings of the formats that are decoded here or where their library is there, with a dot and in lower case.
  package static let endings = decoded.flatMap(\.endings)

  /// Those of the formats that can be read on this machine. Opens the libraries.
  package static var readableEndings: [String] { endings.filter { support(ofEnding: $0) == .readable } }

  /// Those and the endings of image formats that are not decoded here.
  package static let knownEndings = FormatRow.all.flatMap(\.endings)

  /// What a file's ending says; `nil` for an ending of no image format.
  ///
  /// - Parameter ending: with its dot, in any letter case.
  package static func support(ofEnding ending: String) -> FormatSupport? {
    let ending = ending.lowercased()
    return FormatRow.all.first { $0.endings.contains(ending) }?.support(kind: String(ending.dropFirst()))
  }

  /// What a file's first bytes say; `nil` for those of no image format.
  ///
  /// - Parameter start: at least 256 bytes, or the whole file.
  package static func support(ofStart start: UnsafeRawBufferPointer) -> FormatSupport? {
    FormatRow.of(start)?.support()
  }
}
