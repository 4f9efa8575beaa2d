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
    /// The distance that nine in ten images keep to; nil: not known.
    package let outerTenth: Double?
  }

  /// What a model made of an image whose class is known, as far as its calibration depends on it.
  package struct Image: Sendable {
    package let lesion: String
    /// Images of one unit are fitted to, or judged, together.
    package let unit: ChanceUnit
    package let label: LesionLabel
    package let logits: ClassScores
    /// Of the features from those of the training; `nil` for a model that was not fitted to abstain.
    package let distance: Double?
    /// Why the model abstains whatever the distance is.
    package let otherReasons: [AbstentionReason]
    /// What the last layer takes, where its weights are to be fitted too.
    package let features: [Double]?

    /// - Parameters:
    ///   - reasons: why the model abstains.
    ///   - unit: the lesion if it is not given.
    package init(
      lesion: String, label: LesionLabel, logits: ClassScores, distance: Double?, reasons: [AbstentionReason],
      features: [Double]? = nil, unit: ChanceUnit? = nil
    ) {
      self.lesion = lesion
      self.unit = unit ?? ChanceUnit(.lesions, lesion)
      self.label = label
      self.logits = logits
      self.distance = distance
      self.features = features
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

  /// The share of images beyond which one is told to be unusual: `OUTER_SHARE` of `abstention_fit.py`.
  package static let outerShare = 0.1
}

extension ModelCalibration {
  /// A model as it is.
  package init(_ configuration: ModelConfiguration) {
    fit = CalibrationFit(
      bias: [Double](repeating: 0, count: configuration.classes.count), temperature: configuration.temperature
    )
    limits = configuration.abstention.map {
      Limits(
        coverage: $0.conformal.coverage, thresholds: $0.conformal.thresholds,
        distance: $0.distance.threshold, outerTenth: $0.distance.outerTenth)
    }
  }

  /// Fits a model to images.
  ///
  /// - Parameters:
  ///   - images: at least one. Where they have features, the weights of the last layer are fitted too.
  ///   - present: the model as it is, which is kept to where the images tell nothing; where it has limits, each image has a
  ///     distance.
  ///   - melanomaWeight: of an image of melanoma beside others, in a fit that weighs rare classes more; nil for the most likely
  ///     calibration.
  ///   - stored: rounds a fit to the types that the model stores it in. The limits are fitted to the rounded one.
  package init(
    fittedTo images: [Image], from present: ModelCalibration, melanomaWeight: Double? = nil,
    stored: (CalibrationFit) -> CalibrationFit = { $0 }
  ) {
    let logits = images.map { $0.logits.values.map { Double($0) } }
    let labels = images.map(\.label.index)
    let features = images.map(\.features)
    let known = features.compactMap { $0 }
    var fit = CalibrationFit(
      logits: logits, labels: labels, temperature: present.fit.temperature,
      features: known.count == images.count ? known : nil)
    if let melanomaWeight {
      let weighted = CalibrationFit(
        logits: zip(logits, features).map { [fit] in fit.changed($0, features: $1) }, labels: labels,
        melanoma: images.first?.logits.labels.melanoma?.index, melanomaWeight: melanomaWeight)
      fit = CalibrationFit(bias: weighted.bias, temperature: weighted.temperature, change: fit.change)
    }
    // With as many digits as config.json gets.
    self.fit = stored(
      CalibrationFit(
        bias: fit.bias, temperature: max((fit.temperature * 1e4).rounded() / 1e4, 1e-4), change: fit.change))
    let probabilities = zip(logits, features).map { [fit = self.fit] in fit.probabilities($0, features: $1) }
    limits = present.limits.map { limits in
      let distances = images.compactMap(\.distance)
      return Limits(
        coverage: Self.coverage,
        // Rounded down: a threshold above the probability that it was read off would leave that one out.
        thresholds: Self.thresholds(probabilities, labels: labels, present: limits.thresholds)
          .map { ($0 * 1e6).rounded(.down) / 1e6 },
        distance: Self.distance(distances, allBut: Self.falseAlarms),
        outerTenth: Self.distance(distances, allBut: Self.outerShare))
    }
  }

  /// Per class, the probability that its own images reach with ``coverage``; the present one where too few are known. The
  /// definition is `conformal_thresholds` of `Scripts/dermafusion_training/evaluation/abstention_fit.py`.
  ///
  /// - Parameters:
  ///   - probabilities: `[images][classes]`
  ///   - labels: the class of each image.
  ///   - present: the threshold of each class as it is.
  package static func thresholds(
    _ probabilities: [[Double]], labels: [Int], present: [Double]
  ) -> [Double] {
    present.enumerated().map { label, present in
      let own = zip(probabilities, labels).filter { $0.1 == label }.map { $0.0[label] }.sorted()
      // 1 - 0.9 is a little less than 0.1, and would lose one where the product is whole.
      let allowed = Int((1 - coverage) * Double(own.count + 1) + 1e-9)
      return allowed >= 1 ? own[allowed - 1] : present
    }
  }

  /// The distance that all but a share of the images keep to, with as many digits as config.json gets.
  ///
  /// - Parameter distances: at least one.
  package static func distance(_ distances: [Double], allBut share: Double) -> Double {
    max((Bootstrap.quantile(distances.sorted(), 1 - share) * 1e6).rounded() / 1e6, 1e-6)
  }

  /// What a model of this calibration says of an image.
  package func evaluated(_ image: Image) -> EvaluatedImage {
    let logits = image.logits.values.map { Double($0) }
    let probabilities = ClassScores(
      fit.probabilities(logits, features: image.features).map { Float($0) }, labels: image.logits.labels)
    let isFar = if let distance = image.distance, let limits { distance > limits.distance } else { false }
    let set = limits.map {
      Abstention.ConformalSet(
        probabilities,
        ModelConfiguration.Abstention.Conformal(coverage: $0.coverage, thresholds: $0.thresholds))
    }
    return EvaluatedImage(
      lesion: image.lesion, label: image.label, probabilities: probabilities, metadata: .unknown, source: "",
      unit: image.unit,
      abstention: Abstention(
        reasons: image.otherReasons + (isFar ? [.outOfDistribution] : []), conformalSet: set))
  }
}
