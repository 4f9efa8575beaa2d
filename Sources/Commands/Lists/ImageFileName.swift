import ImageFiles

/// How the names of image files end.
enum ImageFileName {
  /// Files in a folder are images when their name ends so, in any letter case.
  static let endings = ImageDecoder.endings

  /// Of the pictures that `gradcam` makes: they are no photographs.
  static let heatmapEnding = "-gradcam.png"

  /// What a folder without any lacks.
  static var kind: String { "image (\(ImageDecoder.readableEndings.joined(separator: ", ")))" }

  /// Shown where an image is looked for by its whole file name.
  static let endingHint = "; an image_id is the file name without its ending"
}
