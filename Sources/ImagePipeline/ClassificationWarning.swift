/// Something about the input that the reader of a result must know.
public enum ClassificationWarning: String, Sendable, CaseIterable {
  /// The file is damaged, but the decoder could still make pixels of it.
  case damagedFile = "damaged_file"
  /// The file's pixels are not square, and the image was resampled so that shapes are right.
  case pixelsResampled = "pixels_resampled"
  /// Every channel spans less than two levels; colour constancy was skipped.
  case solidColor = "solid_color"
  /// A channel is all but black; colour constancy was skipped.
  case nearBlack = "near_black"
  /// The file holds several pictures, of which the first was taken. The detail is how many, as `3` or `256+`.
  case severalPictures = "several_pictures"
  /// The file says that its colours are of another space than sRGB; its values were taken as they are stored. The detail is the
  /// profile's name.
  case colorProfile = "color_profile"
  /// The image is under 100x100 pixels.
  case smallImage = "small_image"
  /// Metadata was given, but this model uses the image alone.
  case metadataUnused = "metadata_unused"
  /// Age, sex or site that nobody gave was taken from the image's file.
  case metadataFromFile = "metadata_from_file"
  /// The package was built without optimisation, which SwiftPM does not do: an image takes about a minute.
  case unoptimizedBuild = "unoptimized_build"
}

#if !hasFeature(Embedded)
  extension ClassificationWarning: Codable {}
#endif
