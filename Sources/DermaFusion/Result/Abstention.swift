import Files
import ImagePipeline

/// The model's own word on whether a result can be relied on.
public struct Abstention: Sendable, Equatable {
  /// Why the model abstains, in the order of ``AbstentionReason``; empty when it answers. An ensemble abstains where any
  /// of its members does.
  public let reasons: [AbstentionReason]
  /// Made whether or not the model abstains, so that evaluations can count both; readers get that of
  /// ``Classification/Answer/conformalSet``. `nil` for a model that was not fitted for it, for ensembles and for more views
  /// than one.
  package let conformalSet: ConformalSet?

  /// Classes among which the right one is with a stated probability, for images like those of the validation.
  public struct ConformalSet: Sendable, Equatable {
    /// The likeliest first; never empty.
    public let classes: [LesionLabel]
    /// The share of images of the likeliest class whose set holds it, 0...1; nil if the threshold of any class was fitted to too
    /// few images.
    public let coverage: Double?
  }

  /// An answer without reservation, of a model that makes no sets.
  package static let none = Abstention(reasons: [], conformalSet: nil)

  package init(reasons: [AbstentionReason], conformalSet: ConformalSet?) {
    self.reasons = reasons
    self.conformalSet = conformalSet
  }

  /// A model that was fitted to abstain.
  struct Judge {
    let settings: ModelConfiguration.Abstention
    /// The distance of the image's features, see ``FeatureDistance``; `nil` when it is not known.
    let distance: Double?
    /// The score of the image's features, see ``DermoscopyProbe``; `nil` for a model that was not fitted for it.
    let dermoscopyScore: Double?
  }

  /// - Parameter conformal: `nil` for a model whose probabilities were not fitted for sets.
  init(
    of image: PreprocessedImage, judges: [Judge], conformal: ModelConfiguration.Abstention.Conformal?,
    probabilities: ClassScores
  ) {
    reasons = Self.reasons(for: image, judges: judges)
    conformalSet = conformal.map { ConformalSet(probabilities, $0) }
  }

  /// Reasons to abstain from an image.
  ///
  /// - Parameter judges: the reasons of each count, whatever the others say. Without any the reasons are those of
  ///   ``AbstentionKind/basic``.
  static func reasons(for image: PreprocessedImage, judges: [Judge]) -> [AbstentionReason] {
    var reasons: [AbstentionReason] = image.warnings.compactMap {
      switch $0 {
      case .solidColor: .solidColor
      case .nearBlack: .underexposed
      // Only where much of it may be made up.
      case .damagedFile: image.damage?.isSevere == true ? .damagedImage : nil
      default: nil
      }
    }
    if judges.isEmpty {
      reasons += Self.basicReasons(image.unbordered)
    } else {
      let measures = ImageMeasures(image.resized)
      for judge in judges {
        reasons += judge.settings.quality.reasons(for: measures)
        if let score = judge.dermoscopyScore, let limit = judge.settings.dermoscopy, score > limit.threshold {
          reasons.append(.notDermoscopic)
        }
        if let distance = judge.distance, distance > judge.settings.distance.threshold {
          reasons.append(.outOfDistribution)
        }
      }
    }
    return AbstentionReason.allCases.filter(reasons.contains)
  }
}

extension Abstention {
  /// Reasons to abstain that hold for every model: one colour, black, white, or no contrast.
  private static func basicReasons(_ image: PixelImage) -> [AbstentionReason] {
    // Contrast is that of blocks of 20 pixels, of which a small picture has too few.
    let picture =
      image.width < basicSide ? image.resized(width: basicSide, height: basicSide) : image
    let reasons = ModelConfiguration.Abstention.Quality.basic.reasons(for: ImageMeasures(picture))
    return image.isSolid ? reasons + [.solidColor] : reasons
  }

  private static let basicSide = 160
}

/// The source of a model's limits of abstention.
package enum AbstentionKind: String, Sendable {
  /// Limits that were fitted to the model's validation images.
  case fitted
  /// The few rules that hold for every model.
  case basic

}

/// A kind of limit that a model can have of its own, by its name in `config.json`.
package enum AbstentionLimit: String, CaseIterable, Sendable {
  /// The limits of an image's measures.
  case quality
  /// The limit of the features' distance.
  case distance
  /// The thresholds of the probabilities of a set's classes.
  case conformal
  /// The limit of an image's likeness to those that no dermatoscope took.
  case dermoscopy
}

extension Classifier {
  /// Fitted where the model, or any member of an ensemble, has limits of its own.
  package var abstentionKind: AbstentionKind {
    models.contains { $0.configuration.abstention != nil } ? .fitted : .basic
  }

  /// The kinds of limits that the model, or any member of an ensemble, has. An ensemble makes no sets.
  package var abstentionLimits: [AbstentionLimit] {
    let fitted = models.compactMap { $0.configuration.abstention }
    return AbstentionLimit.allCases.filter {
      switch $0 {
      case .quality, .distance: !fitted.isEmpty
      case .conformal: !fitted.isEmpty && ensemble == nil
      case .dermoscopy: fitted.contains { $0.dermoscopy != nil }
      }
    }
  }

  /// The pictures that the model abstains from.
  package var abstentionWords: String {
    switch abstentionKind {
    case .fitted where abstentionLimits.contains(.dermoscopy):
      "limits of its own, fitted on validation images, also for pictures without a dermatoscope"
    case .fitted:
      "limits of its own, fitted on validation images, but none for pictures without a dermatoscope: it answers them too"
    case .basic:
      "no limits of its own: it abstains only from damaged pictures and from those of one colour, black, white or without contrast, "
        + "and answers pictures that show no skin and those without a dermatoscope too"
    }
  }
}

extension Abstention.ConformalSet {
  package init(_ probabilities: ClassScores, _ settings: ModelConfiguration.Abstention.Conformal) {
    // The right class may be any: what is not known of one is not known of the set.
    let shares = settings.coverageByClass
    coverage = shares.contains(nil) ? nil : shares[probabilities.highest.index]
    classes = probabilities.ranked.filter {
      $0 == probabilities.highest || Double(probabilities[$0]) >= settings.thresholds[$0.index]
    }
  }
}

extension ModelConfiguration.Abstention.Quality {
  func reasons(for measures: ImageMeasures) -> [AbstentionReason] {
    var reasons: [AbstentionReason] = []
    if measures.brightness < minimumBrightness { reasons.append(.underexposed) }
    if measures.brightness > maximumBrightness { reasons.append(.overexposed) }
    let standsOut = measures.contrast >= minimumContrast
    let hasStructure = measures.structure >= minimumStructure
    if !standsOut { reasons.append(.lowContrast) }
    if !hasStructure { reasons.append(.noLesion) }
    if let maximumGreen, measures.green > maximumGreen { reasons.append(.unlikeSkin) }
    let hasVariety = minimumColorVariety.map { measures.color.variety >= $0 } ?? true
    let isWarm = minimumWarmth.map { measures.color.warmth >= $0 } ?? true
    if !hasVariety || !isWarm { reasons.append(.unusualColor) }
    // Without something to see there is nothing that could be sharp.
    if standsOut, hasStructure, measures.sharpness < minimumSharpness { reasons.append(.blurred) }
    return reasons
  }
}

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
  /// The features are those of a picture that no dermatoscope took.
  case notDermoscopic = "not_dermoscopic"
  /// The features lie far from those of the images that the model was trained on.
  case outOfDistribution = "out_of_distribution"
}

#if !hasFeature(Embedded)
  extension Abstention: Codable {}
  extension Abstention.ConformalSet: Codable {}
  extension AbstentionReason: Codable {}
#endif
