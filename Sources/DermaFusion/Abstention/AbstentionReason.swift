/// Why the model should not judge an image. The probabilities are still given, but mean little.
public enum AbstentionReason: String, Sendable, CaseIterable {
  /// The file ended early, or much of it could not be read: the decoder made up part of the image.
  case damagedImage = "damaged_image"
  /// Every channel spans less than two levels.
  case solidColor = "solid_color"
  /// A channel is all but black, or the whole image is too dark.
  case underexposed
  /// The image is too bright.
  case overexposed
  /// Nothing stands out from its surroundings.
  case lowContrast = "low_contrast"
  /// There is detail, but no structure as large as a lesion: noise, text, a texture.
  case noLesion = "no_lesion"
  /// Much of the image has a colour that skin does not have: a photograph of something else.
  case unlikeSkin = "unlike_skin"
  /// The colours are lost (grey, one channel, sepia, washed out), or those of a picture whose red and blue are exchanged.
  case unusualColor = "unusual_color"
  /// All detail is blurred away.
  case blurred
  /// The features lie far from those of the images that the model was trained on.
  case outOfDistribution = "out_of_distribution"

  /// The reason in words, one sentence.
  public var sentence: String {
    switch self {
    case .damagedImage: "The image file is damaged, and part of what it shows may be made up."
    case .solidColor: "The image has hardly any colour variation."
    case .underexposed: "The image, or one of its colour channels, is too dark."
    case .overexposed: "The image is too bright."
    case .lowContrast: "Hardly anything in the image stands out from its surroundings."
    case .noLesion: "The image shows no structure like a lesion."
    case .unlikeSkin: "Much of the image has a colour that skin does not have."
    case .unusualColor: "The image has no colour, or colours that skin under a dermatoscope does not have."
    case .blurred: "The image is badly blurred."
    case .outOfDistribution: "The image is unlike those that the model was trained on."
    }
  }
}

#if !hasFeature(Embedded)
  extension AbstentionReason: Codable {}
#endif
