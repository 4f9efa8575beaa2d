import ImagePipeline
import SystemModule

/// A library of the system that decodes a format. It is opened at run time: builds and installations do not need it.
struct SystemLibrary: Sendable {
  let format: ImageFormat
  let name: String
  let debian: String
  let homebrew: String
  /// The interfaces that the declarations here are of, in the order in which they are tried.
  let versions: [Int]

  func open() -> DynamicLibrary? {
    #if canImport(Darwin)
      let folders = ["", "/opt/homebrew/lib/", "/usr/local/lib/"]
      return DynamicLibrary(names: folders.flatMap { folder in files.map { folder + $0 } })
    #else
      return DynamicLibrary(names: files)
    #endif
  }

  var missing: ImageError { .missingLibrary(format, library: name, debian: debian, homebrew: homebrew) }
}

extension SystemLibrary {
  /// Nil for the formats that need no library beside those that the program is linked to.
  init?(decoding format: ImageFormat) {
    switch format {
    case .webp: self = .webp
    case .tiff: self = .tiff
    case .heif: self = .heif
    case .png, .jpeg, .pnm, .bmp, .dicom: return nil
    }
  }

  static let webp = SystemLibrary(
    format: .webp, name: "libwebp", debian: "libwebp7", homebrew: "webp", versions: [7])
  static let tiff = SystemLibrary(
    format: .tiff, name: "libtiff", debian: "libtiff6", homebrew: "libtiff", versions: [6, 5])
  static let heif = SystemLibrary(
    format: .heif, name: "libheif", debian: "libheif1", homebrew: "libheif", versions: [1])

  /// What the loader is asked for.
  var files: [String] {
    #if canImport(Darwin)
      versions.map { "\(name).\($0).dylib" }
    #else
      versions.map { "\(name).so.\($0)" }
    #endif
  }
}

extension String {
  /// With blanks for the line breaks that some libraries have in their messages.
  var onOneLine: String {
    String(String.UnicodeScalarView(unicodeScalars.map { $0.value < 0x20 ? " " : $0 }))
  }
}
