import ImageFiles

/// How the names of image files end.
enum ImageFileName {
  /// Files in a folder are images when their name ends so, in any letter case.
  static let endings = ImageDecoder.endings

  /// Those of the formats that can be read on this machine.
  static var readableEndings: [String] { ImageDecoder.readableEndings }

  /// What a folder without any lacks.
  static var kind: String { "image (\(readableEndings.joined(separator: ", ")))" }

  /// For whoever looks for an image by its whole file name.
  static let endingHint = "; an image_id is the file name without its ending"
}
