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

  package let fit: CalibrationFit
  /// `nil` for a model that was not fitted to abstain.
  package let limits: Limits?

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
    fittedTo images: [CalibrationImage], hasLimits: Bool, stored: ([Double]) -> [Double] = { $0 }
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
    let thresholds = ConformalFit.thresholds(
      logits.map(rounded.probabilities), labels: labels, classCount: logits[0].count)
    let distance = Self.distance(images.compactMap(\.distance))
    limits = Limits(
      coverage: ConformalFit.coverage,
      // Rounded down: a threshold above the probability that it was read off would leave that one out.
      thresholds: thresholds.map { ($0 * 1e6).rounded(.down) / 1e6 },
      distance: max((distance * 1e6).rounded() / 1e6, 1e-6))
  }

  /// The distance that all but ``falseAlarms`` of the images keep to.
  ///
  /// - Parameter distances: at least one.
  package static func distance(_ distances: [Double]) -> Double {
    LesionBootstrap.quantile(distances.sorted(), 1 - falseAlarms)
  }

  /// What a model of this calibration says of an image.
  package func evaluated(_ image: CalibrationImage) -> EvaluatedImage {
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
