import Files
import ImagePipeline

/// Whether a result can be relied on, as far as the model can tell.
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
    /// The share of images whose class is in their set, 0...1.
    public let coverage: Double
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
    /// Of the image's features, see ``FeatureDistance``; `nil` when it is not known.
    let distance: Double?
  }

  /// - Parameters:
  ///   - image: what the network looked at.
  ///   - judges: the reasons of each count, whatever the others say. Without any, only damage, solid colour and black are reasons.
  ///   - conformal: `nil` for a model whose probabilities were not fitted for sets.
  ///   - probabilities: of the result.
  init(
    of image: PreprocessedImage, judges: [Judge], conformal: ModelConfiguration.Abstention.Conformal?,
    probabilities: ClassScores
  ) {
    var reasons: [AbstentionReason] = image.warnings.compactMap {
      switch $0 {
      case .solidColor: .solidColor
      case .nearBlack: .underexposed
      // Only where much of it may be made up.
      case .damagedFile: image.damage?.isSevere == true ? .damagedImage : nil
      default: nil
      }
    }
    if !judges.isEmpty {
      let measures = ImageMeasures(image.resized)
      for judge in judges {
        reasons += judge.settings.quality.reasons(for: measures)
        if let distance = judge.distance, distance > judge.settings.distance.threshold {
          reasons.append(.outOfDistribution)
        }
      }
    }
    self.reasons = AbstentionReason.allCases.filter(reasons.contains)
    conformalSet = conformal.map { ConformalSet(probabilities, $0) }
  }
}

extension Abstention.ConformalSet {
  package init(_ probabilities: ClassScores, _ settings: ModelConfiguration.Abstention.Conformal) {
    coverage = settings.coverage
    classes = probabilities.ranked.filter {
      $0 == probabilities.highest || Double(probabilities[$0]) >= settings.thresholds[$0.index]
    }
  }
}

extension ModelConfiguration.Abstention.Quality {
  /// What is wrong with an image of these measures.
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

#if !hasFeature(Embedded)
  extension Abstention: Codable {}
  extension Abstention.ConformalSet: Codable {}
#endif
