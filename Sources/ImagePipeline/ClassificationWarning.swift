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

  /// The warning in words, one sentence.
  public var sentence: String { sentence(nil) }

  /// The warning in words, one sentence.
  ///
  /// - Parameter detail: what it says of this image; nil where it says of many, or has no detail.
  public func sentence(_ detail: String?) -> String {
    switch self {
    case .damagedFile: "The image file is damaged; what it shows may differ from what was stored."
    case .pixelsResampled:
      "The file says that its pixels are not square (DICOM); the image was resampled so that shapes are right."
    case .severalPictures:
      "The image file holds \(detail ?? "several") pictures; only the first was looked at."
    case .colorProfile:
      "The image file's colours are \(detail.map { "of the profile \($0)" } ?? "of another profile"), not sRGB; its values were "
        + "used as they are stored, and the model may see other colours than a person does."
    case .solidColor:
      "The image has hardly any colour variation and may not show a lesion; colour constancy was skipped."
    case .nearBlack: "A colour channel of the image is almost black; colour constancy was skipped."
    case .smallImage: "The image is smaller than 100x100 pixels; fine structures are lost."
    case .metadataUnused: "The age, sex or site was not used: this model works from the image alone."
    case .metadataFromFile: "The age, sex or site that was not given was taken from the image's file (DICOM)."
    case .unoptimizedBuild:
      "DermaFusion was built without optimisation, and an image takes about a minute; build in release, or with -Xswiftc -O."
    }
  }
}

#if !hasFeature(Embedded)
  extension ClassificationWarning: Codable {}
#endif
