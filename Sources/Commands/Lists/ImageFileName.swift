import ImageFiles

/// How the names of image files end.
enum ImageFileName {
  /// Files in a folder are images when their name ends so, in any letter case.
  static let endings = ImageDecoder.endings

  /// Those of the formats that can be read on this machine.
  static var readableEndings: [String] { ImageDecoder.readableEndings }

  /// Of images that cannot be read on this machine: files in a folder that are left out and counted.
  static var unreadableEndings: [String] { ImageDecoder.unreadableEndings }

  /// Of the pictures that `gradcam` makes: they are no photographs.
  static let heatmapEnding = "-gradcam.png"

  /// What a folder without any lacks.
  static var kind: String { "image (\(readableEndings.joined(separator: ", ")))" }

  /// Shown where an image is looked for by its whole file name.
  static let endingHint = "; an image_id is the file name without its ending"
}
