/// How the names of image files end.
enum ImageFileName {
  /// Files in a folder are images when their name ends so, in any letter case.
  static let endings = [".png", ".jpg", ".jpeg", ".jpe", ".jfif", ".ppm", ".pgm", ".pbm", ".pnm"]

  /// What a folder without any lacks.
  static let kind = "image (\(endings.joined(separator: ", ")))"

  /// For whoever looks for an image by its whole file name.
  static let endingHint = "; an image_id is the file name without its ending"
}
