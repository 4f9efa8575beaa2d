import ImagePipeline

/// Whether files of a format can be read on this machine.
package enum FormatSupport: Equatable, Sendable {
  case readable
  /// The system lacks the library that decodes it; the packages have it.
  case missingLibrary(String, debian: String, homebrew: String)
  /// An image format that is not decoded here.
  case unsupported(name: String)

  /// Of a format that is decoded where its library is there.
  init(_ format: ImageFormat) {
    if let library = SystemLibrary(decoding: format), !LibraryDecoder.isThere(format) {
      self = .missingLibrary(library.name, debian: library.debian, homebrew: library.homebrew)
    } else {
      self = .readable
    }
  }
}

extension ImageDecoder {
  /// The names of the formats that can be read on this machine, as `info` lists them.
  package static var formats: [String] {
    var names = ["png", "jpeg", "pnm", "bmp", "dicom"]
    if WebPLibrary.shared != nil { names.append("webp") }
    if TIFFLibrary.shared != nil { names.append("tiff") }
    // libheif may lack the decoder of either.
    if HEIFLibrary.shared?.decodesHEVC == true { names.append("heic") }
    if HEIFLibrary.shared?.decodesAV1 == true { names.append("avif") }
    return names
  }

  /// The endings of the formats that are decoded here or where their library is there, with a dot and in lower case.
  package static let endings = endingsOfFormats.flatMap(\.endings)

  /// Those of the formats that can be read on this machine. Opens the libraries.
  package static var readableEndings: [String] { endings.filter { support(ofEnding: $0) == .readable } }

  /// Those and the endings of image formats that are not decoded here.
  package static let knownEndings = endings + unsupportedEndings.flatMap { $0.endings }

  /// What a file's ending says; nil for an ending of no image format.
  ///
  /// - Parameter ending: with its dot, in any letter case.
  package static func support(ofEnding ending: String) -> FormatSupport? {
    let ending = ending.lowercased()
    if let format = endingsOfFormats.first(where: { $0.endings.contains(ending) })?.format {
      let isAVIF: Bool? = ending == ".avif" ? true : ending == ".heic" ? false : nil
      if format == .heif,
        case .missingLibrary(_, let library, let debian, let homebrew)? =
          HEIFLibrary.shared?.missingDecoder(isAVIF)
      {
        return .missingLibrary(library, debian: debian, homebrew: homebrew)
      }
      return FormatSupport(format)
    }
    return unsupportedEndings.first { $0.endings.contains(ending) }.map { .unsupported(name: $0.name) }
  }

  /// What a file's first bytes say; nil for those of no image format.
  ///
  /// - Parameter start: at least 256 bytes, or the whole file.
  package static func support(ofStart start: UnsafeRawBufferPointer) -> FormatSupport? {
    switch RecognizedFormat(start) {
    case .supported(let format): FormatSupport(format)
    case .unsupported(let name): .unsupported(name: name)
    case .unknown: nil
    }
  }

  private static let endingsOfFormats: [(format: ImageFormat, endings: [String])] = [
    (.png, [".png", ".apng"]), (.jpeg, [".jpg", ".jpeg", ".jpe", ".jfif"]),
    (.pnm, [".ppm", ".pgm", ".pbm", ".pnm"]),
    (.bmp, [".bmp", ".dib"]), (.dicom, [".dcm", ".dicom"]), (.webp, [".webp"]), (.tiff, [".tif", ".tiff"]),
    (.heif, [".heic", ".heif", ".hif", ".avif"]),
  ]

  private static let unsupportedEndings: [(name: String, endings: [String])] = [
    ("GIF", [".gif"]), ("JPEG 2000", [".jp2", ".j2k", ".j2c", ".jpc", ".jpf", ".jpx"]), ("JPEG XL", [".jxl"]),
    ("JPEG XR", [".jxr"]), ("ICO", [".ico"]), ("PCX", [".pcx"]), ("OpenEXR", [".exr"]), ("SVG", [".svg"]),
    ("Photoshop", [".psd", ".psb"]), ("PAM", [".pam"]),
    ("PFM", [".pfm"]),
    ("TGA", [".tga"]), ("XCF", [".xcf"]),
    (
      "raw camera",
      [
        ".arw", ".cr2", ".cr3", ".crw", ".dng", ".nef", ".nrw", ".orf", ".pef", ".raf", ".raw", ".rw2",
        ".srw",
      ]
    ),
  ]
}
