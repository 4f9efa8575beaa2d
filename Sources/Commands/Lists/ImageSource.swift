import DermaFusion
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
  var identifier: String? { name.imageIdentifier }

  /// Without its folders.
  var fileName: String? { name.fileName }

  /// The file name's ending in lower case, `.png`; nil where it has none.
  var ending: String? {
    fileName.flatMap { name in
      guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), dot != name.startIndex else { return nil }
      return String(name[dot...]).lowercased()
    }
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

/// How the names of image files end.
enum ImageFileName {
  /// Files in a folder are images when their name ends so, in any letter case.
  static let endings = ImageDecoder.endings

  /// Of the pictures that `gradcam` makes: they are no photographs.
  static let heatmapEnding = "-gradcam.png"

  /// What a folder without any lacks.
  static var kind: String { "image (\(ImageDecoder.readableEndings.joined(separator: ", ")))" }
}
