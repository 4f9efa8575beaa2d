import ImageFiles
import SystemModule

/// Where the bytes of one image come from.
enum ImageSource: Equatable, Sendable {
  case standardInput
  case file(String)

  /// `-` is standard input, everything else a path.
  init(argument: String) {
    self = argument == "-" ? .standardInput : .file(argument)
  }

  /// What the image is called in results and messages: the path as it was given, or `-`.
  var name: String {
    switch self {
    case .standardInput: "-"
    case .file(let path): path
    }
  }

  /// The file name without its folders and its ending, by which tables know the image.
  var identifier: String? {
    fileName.map { name in
      guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), dot != name.startIndex else { return name }
      return String(name[..<dot])
    }
  }

  /// The file name's ending in lower case, `.png`; nil where it has none.
  var ending: String? {
    fileName.flatMap { name in
      guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), dot != name.startIndex else { return nil }
      return String(name[dot...]).lowercased()
    }
  }

  /// Without its folders.
  var fileName: String? {
    // By bytes: as a character, a slash or a dot that an accent follows is another one.
    guard case .file(let path) = self else { return nil }
    return path.utf8.split(separator: UInt8(ascii: "/")).last.flatMap { String($0) }
  }

  /// The image's bytes.
  func read(terminal: Terminal) throws(DermaFusionError) -> [UInt8] {
    switch self {
    case .standardInput: try terminal.readInput(ImageDecoder.fileByteLimit)
    case .file(let path):
      try FileBytes.read(
        path: path, limit: ImageDecoder.fileByteLimit, refusal: ImageDecoder.refusal(ofStart:))
    }
  }
}

extension String {
  /// What makes two names of images the same: their Unicode scalars. Strings are equal too where they only look the
  /// same (`é` as one scalar and as two), and files of such names are different files.
  var imageKey: [UInt8] { Array(utf8) }
}
