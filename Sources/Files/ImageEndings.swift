/// The endings of image files' names, with a dot and in lower case. They stand here, below the decoders, because tables need them
/// where no image is decoded: what follows the last dot of `patient.Smith` belongs to the name.
package enum ImageEndings {
  /// By the names of `ImageFormat`s, also of those that are not decoded. Other formats have none.
  private static let byFormat: [(format: String, endings: [String])] = [
    ("PNG", [".png", ".apng"]), ("JPEG", [".jpg", ".jpeg", ".jpe", ".jfif"]),
    ("PNM", [".ppm", ".pgm", ".pbm", ".pnm"]), ("BMP", [".bmp", ".dib"]),
    ("DICOM", [".dcm", ".dicom", ".ima"]), ("WebP", [".webp"]), ("TIFF", [".tif", ".tiff"]),
    ("HEIF", [".heic", ".heif", ".hif", ".avif"]),
    (
      "raw camera",
      [
        ".3fr", ".arw", ".cr2", ".cr3", ".crw", ".dcr", ".dng", ".erf", ".iiq", ".kdc", ".mef", ".mrw",
        ".nef",
        ".nrw", ".orf", ".pef", ".raf", ".raw", ".rw2", ".rwl", ".sr2", ".srf", ".srw", ".x3f",
      ]
    ),
    ("GIF", [".gif"]), ("JPEG 2000", [".jp2", ".j2k", ".j2c", ".jpc", ".jpf", ".jpx"]), ("JPEG XL", [".jxl"]),
    ("JPEG XR", [".jxr"]), ("Photoshop", [".psd", ".psb"]), ("PAM", [".pam"]), ("PFM", [".pfm"]),
    ("OpenEXR", [".exr"]), ("XCF", [".xcf"]), ("PCX", [".pcx"]), ("SVG", [".svg"]), ("TGA", [".tga"]),
    ("ICO", [".ico"]),
  ]

  package static let all = byFormat.flatMap { $0.endings }
  private static let known = Set(all)

  package static func of(_ format: String) -> [String] {
    byFormat.first { $0.format == format }?.endings ?? []
  }

  /// The ending in lower case; nil where a name does not end as an image's does.
  package static func ending(of name: String) -> String? {
    guard let ending = name.fileEnding, known.contains(ending) else { return nil }
    return ending
  }
}

extension String {
  /// A path's last part. `-` is standard input, which has none.
  package var fileName: String? {
    if self == "-" { return nil }
    // By bytes: as a character, a slash or a dot that an accent follows is another one.
    return utf8.split(separator: UInt8(ascii: "/")).last.flatMap { String($0) }
  }

  /// The part of a file name from its last dot on, in lower case; nil where it has none.
  package var fileEnding: String? {
    fileName.flatMap { name in
      guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), dot != name.startIndex else { return nil }
      return String(name[dot...]).lowercased()
    }
  }

  /// The file and the number of a frame's name, `FILE#2`; nil for other names.
  package var frameParts: (file: String, frame: Int)? {
    guard let mark = utf8.lastIndex(of: UInt8(ascii: "#")), mark != startIndex,
      let digits = String(utf8[utf8.index(after: mark)...]), digits.utf8.first != UInt8(ascii: "0"),
      digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let frame = Int(digits),
      let file = String(utf8[..<mark]), file.utf8.last != UInt8(ascii: "/")
    else { return nil }
    return (file, frame)
  }

  /// The file name without the ending of an image, by which tables know an image; of a frame `x.dcm#2` it is `x#2`.
  package var imageIdentifier: String? {
    fileName.map { name in
      if let (file, frame) = name.frameParts, ImageEndings.ending(of: file) != nil {
        return "\(file.imageIdentifier ?? file)#\(frame)"
      }
      guard ImageEndings.ending(of: name) != nil, let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")) else {
        return name
      }
      return String(name[..<dot])
    }
  }
}
