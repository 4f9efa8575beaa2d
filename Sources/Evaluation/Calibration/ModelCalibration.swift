import DermaFusion
import Files

/// All that is fitted to images: what makes probabilities of logits, sets of the probabilities, and the limit of the distance.
package struct ModelCalibration: Sendable, Equatable {
  /// What decides whether the model answers, and its sets.
  package struct Limits: Sendable, Equatable {
    /// The share of images whose class is in their set.
    package let coverage: Double
    /// The probability from which each class is in the set.
    package let thresholds: [Double]
    /// Beyond it the model abstains.
    package let distance: Double
  }

  /// What a model made of an image whose class is known, as far as its calibration depends on it.
  package struct Image: Sendable {
    /// Images of one lesion are fitted to, or judged, together.
    package let lesion: String
    package let label: LesionLabel
    package let logits: ClassScores
    /// Of the features from those of the training; `nil` for a model that was not fitted to abstain.
    package let distance: Double?
    /// Why the model abstains whatever the distance is.
    package let otherReasons: [AbstentionReason]

    /// - Parameter reasons: why the model abstains.
    package init(
      lesion: String, label: LesionLabel, logits: ClassScores, distance: Double?, reasons: [AbstentionReason]
    ) {
      self.lesion = lesion
      self.label = label
      self.logits = logits
      self.distance = distance
      otherReasons = reasons.filter { $0 != .outOfDistribution }
    }
  }

  package let fit: CalibrationFit
  /// `nil` for a model that was not fitted to abstain.
  package let limits: Limits?

  /// The share of each class's images whose set holds it.
  package static let coverage = 0.9

  /// The share of images that the limit of the distance leaves out: `FALSE_ALARMS` of `abstention_fit.py`.
  package static let falseAlarms = 0.01

  /// A model as it is.
  package init(_ configuration: ModelConfiguration) {
    fit = CalibrationFit(
      bias: [Double](repeating: 0, count: configuration.classes.count), temperature: configuration.temperature
    )
    limits = configuration.abstention.map {
      Limits(
        coverage: $0.conformal.coverage, thresholds: $0.conformal.thresholds, distance: $0.distance.threshold)
    }
  }

  /// Fits a model to images.
  ///
  /// - Parameters:
  ///   - images: at least one.
  ///   - hasLimits: whether the model was fitted to abstain; then each image has a distance.
  ///   - stored: rounds a bias to the type that the model stores it in. Temperature and limits are fitted to the rounded bias.
  package init(
    fittedTo images: [Image], hasLimits: Bool, stored: ([Double]) -> [Double] = { $0 }
  ) {
    let logits = images.map { $0.logits.values.map { Double($0) } }
    let labels = images.map(\.label.index)
    let melanoma = images.first?.logits.labels.melanoma?.index
    let fit = CalibrationFit(logits: logits, labels: labels, melanoma: melanoma)
    // With as many digits as config.json gets.
    let rounded = CalibrationFit(
      bias: stored(fit.bias), temperature: (fit.temperature * 1e4).rounded() / 1e4)
    self.fit = rounded
    guard hasLimits else {
      limits = nil
      return
    }
    let thresholds = Self.thresholds(
      logits.map(rounded.probabilities), labels: labels, classCount: logits[0].count)
    let distance = Self.distance(images.compactMap(\.distance))
    limits = Limits(
      coverage: Self.coverage,
      // Rounded down: a threshold above the probability that it was read off would leave that one out.
      thresholds: thresholds.map { ($0 * 1e6).rounded(.down) / 1e6 },
      distance: max((distance * 1e6).rounded() / 1e6, 1e-6))
  }

  /// Per class, the probability that its own images reach with ``coverage``; 0 where too few are known. The definition is
  /// `conformal_thresholds` of `Scripts/dermafusion_training/evaluation/abstention_fit.py`.
  ///
  /// - Parameters:
  ///   - probabilities: `[images][classes]`
  ///   - labels: the class of each image.
  package static func thresholds(_ probabilities: [[Double]], labels: [Int], classCount: Int) -> [Double] {
    (0..<classCount).map { label in
      let own = zip(probabilities, labels).filter { $0.1 == label }.map { $0.0[label] }.sorted()
      // 1 - 0.9 is a little less than 0.1, and would lose one where the product is whole.
      let allowed = Int((1 - coverage) * Double(own.count + 1) + 1e-9)
      return allowed >= 1 ? own[allowed - 1] : 0
    }
  }

  /// The distance that all but ``falseAlarms`` of the images keep to.
  ///
  /// - Parameter distances: at least one.
  package static func distance(_ distances: [Double]) -> Double {
    LesionBootstrap.quantile(distances.sorted(), 1 - falseAlarms)
  }

  /// What a model of this calibration says of an image.
  package func evaluated(_ image: Image) -> EvaluatedImage {
    let logits = image.logits.values.map { Double($0) }
    let probabilities = ClassScores(fit.probabilities(logits).map { Float($0) }, labels: image.logits.labels)
    let isFar = if let distance = image.distance, let limits { distance > limits.distance } else { false }
    let set = limits.map {
      Abstention.ConformalSet(
        probabilities,
        ModelConfiguration.Abstention.Conformal(coverage: $0.coverage, thresholds: $0.thresholds))
    }
    return EvaluatedImage(
      lesion: image.lesion, label: image.label, probabilities: probabilities, metadata: .unknown, source: "",
      abstention: Abstention(
        reasons: image.otherReasons + (isFar ? [.outOfDistribution] : []), conformalSet: set))
  }
}
