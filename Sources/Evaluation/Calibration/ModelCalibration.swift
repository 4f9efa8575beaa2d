import DermaFusion
import Files

/// All that is fitted to images: what makes probabilities of logits, sets of the probabilities, and the limit of the distance.
package struct ModelCalibration: Sendable, Equatable {
  /// The limits that decide whether the model answers, and its sets.
  package struct Limits: Sendable, Equatable {
    /// The share of images whose class is in their set.
    package let coverage: Double
    /// The probability from which each class is in the set.
    package let thresholds: [Double]
    /// The same share of each class's images alone; nil for a class whose threshold was fitted to too few.
    package let coverageByClass: [Double?]
    /// Beyond it the model abstains.
    package let distance: Double
    /// The distance that nine in ten images keep to; nil: not known.
    package let outerTenth: Double?

    /// ``coverageByClass`` as `config.json` and `calibrate` have it, by the ids of the classes; null for a class that has none.
    package func coverageByClass(_ ids: [String]) -> JSONValue {
      .object(zip(ids, coverageByClass).map { (key: $0, value: $1.map { .number($0) } ?? .null) })
    }
  }

  /// A model's answer to an image whose class is known, as far as its calibration depends on it.
  package struct Image: Sendable {
    package let lesion: String
    /// Images of one unit are fitted to, or judged, together.
    package let unit: ChanceUnit
    package let label: LesionLabel
    package let logits: ClassScores
    /// The distance of the features from those of the training; `nil` for a model that was not fitted to abstain.
    package let distance: Double?
    /// Why the model abstains whatever the distance is.
    package let otherReasons: [AbstentionReason]
    /// The input of the last layer, where its weights are to be fitted too.
    package let features: [Double]?

    /// - Parameter unit: the lesion if it is not given.
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

/// The parts that can be fitted, in the order in which they are judged: each part builds on those before it.
package enum CalibrationPart: String, Sendable, CaseIterable {
  /// The bias of each class, and the temperature.
  case probabilities
  /// The last layer's weights, with a bias and a temperature of their own.
  case lastLayer
  /// The thresholds of the sets.
  case sets
  /// The limit of the distance.
  case distance

  /// True for what changes the logits.
  var changesProbabilities: Bool { self == .probabilities || self == .lastLayer }
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
        coverageByClass: $0.conformal.coverageByClass,
        distance: $0.distance.threshold, outerTenth: $0.distance.outerTenth)
    }
  }

  /// A model some parts of which are fitted to images; the others stay as they are.
  ///
  /// - Parameters:
  ///   - fit: of the probabilities, used if ``CalibrationPart/probabilities`` or ``CalibrationPart/lastLayer`` is among the parts.
  ///   - images: at least one. Where `present` has limits, each image has a distance.
  ///   - present: the model as it is, which is kept to where the images tell nothing.
  init(
    _ parts: Set<CalibrationPart>, fit: CalibrationFit, fittedTo images: [Image],
    from present: ModelCalibration
  ) {
    let changesProbabilities = parts.contains { $0.changesProbabilities }
    self.fit = changesProbabilities ? fit : present.fit
    limits = present.limits.map { [fit = self.fit] limits in
      let units = ClassUnits(images)
      let distances = parts.contains(.distance) ? images.compactMap(\.distance) : []
      let fitsSets = parts.contains(.sets)
      return Limits(
        coverage: fitsSets ? Self.coverage : limits.coverage,
        // Rounded down: a threshold above the probability that it was read off would leave that one out.
        thresholds: fitsSets
          ? zip(units.thresholds(of: images.map { fit.probabilities(of: $0) }), limits.thresholds)
            .map { $0.map { ($0 * 1e6).rounded(.down) / 1e6 } ?? $1 } : limits.thresholds,
        // Thresholds that stay cut other probabilities than those that they were read off.
        coverageByClass: fitsSets
          ? units.areEnough.map { $0 ? Self.coverage : nil }
          : changesProbabilities
            ? units.coverage(of: images.map { fit.probabilities(of: $0) }, from: limits.thresholds)
            : limits.coverageByClass,
        distance: distances.isEmpty ? limits.distance : Self.distance(distances, allBut: Self.falseAlarms),
        outerTenth: distances.isEmpty
          ? limits.outerTenth : Self.distance(distances, allBut: Self.outerShare))
    }
  }

  /// The distance that all but a share of the images keep to, with as many digits as config.json gets.
  ///
  /// - Parameter distances: at least one.
  package static func distance(_ distances: [Double], allBut share: Double) -> Double {
    max((Bootstrap.quantile(distances.sorted(), 1 - share) * 1e6).rounded() / 1e6, 1e-6)
  }

  /// The answer of a model of this calibration to an image.
  package func evaluated(_ image: Image) -> EvaluatedImage {
    let probabilities = ClassScores(
      fit.probabilities(of: image).map { Float($0) }, labels: image.logits.labels)
    let isFar = if let distance = image.distance, let limits { distance > limits.distance } else { false }
    let set = limits.map {
      Abstention.ConformalSet(
        probabilities,
        ModelConfiguration.Abstention.Conformal(
          coverage: $0.coverage, thresholds: $0.thresholds, coverageByClass: $0.coverageByClass))
    }
    return EvaluatedImage(
      lesion: image.lesion, label: image.label, probabilities: probabilities, unit: image.unit,
      abstention: Abstention(
        reasons: image.otherReasons + (isFar ? [.outOfDistribution] : []), conformalSet: set))
  }
}

extension CalibrationFit {
  /// The probabilities of an image's classes.
  func probabilities(of image: ModelCalibration.Image) -> [Double] {
    probabilities(image.logits.values.map { Double($0) }, features: image.features)
  }
}

/// The images of each class by their units: a lesion, or a patient, that was photographed thrice says as much about a class as one
/// that was photographed once.
package struct ClassUnits {
  /// The number of units that show each class.
  package let counts: [Int]
  private let labels: [Int]
  /// Each image's weight: 1 by the number of images of its class in its unit.
  private let weights: [Double]

  package init(_ images: [ModelCalibration.Image]) {
    let classCount = images.first?.logits.labels.count ?? 0
    labels = images.map(\.label.index)
    let places = zip(NameGroups(images.map(\.unit)).ofEach, labels).map { $0 * classCount + $1 }
    var sizes: [Int: Int] = [:]
    for place in places { sizes[place, default: 0] += 1 }
    weights = places.map { 1 / Double(sizes[$0]!) }
    var counts = [Int](repeating: 0, count: classCount)
    for place in sizes.keys { counts[place % classCount] += 1 }
    self.counts = counts
  }

  /// The fewest units of a class from which the threshold of its sets can be told.
  package static let leastCount = 9

  /// True for each class of at least ``leastCount`` units.
  package var areEnough: [Bool] { counts.map { $0 >= Self.leastCount } }

  /// Per class, the share of its own images whose set holds it, each unit counted once, with four digits; nil where too few are
  /// known.
  ///
  /// - Parameters:
  ///   - probabilities: `[images][classes]`
  ///   - thresholds: the probability from which each class is in the set.
  func coverage(of probabilities: [[Double]], from thresholds: [Double]) -> [Double?] {
    var held = [Double](repeating: 0, count: counts.count)
    for (label, (weight, values)) in zip(labels, zip(weights, probabilities))
    where values[label] >= thresholds[label] || values[label] == values.max() { held[label] += weight }
    return counts.indices.map {
      areEnough[$0] ? (held[$0] / Double(counts[$0]) * 1e4).rounded() / 1e4 : nil
    }
  }

  /// Per class, the probability that its own images reach with ``ModelCalibration/coverage``, each unit counted once; nil where
  /// too few are known. With one image a unit the definition is `conformal_thresholds` of
  /// `Scripts/dermafusion_training/evaluation/abstention_fit.py`; with several it is that of Dunn, Wasserman and Ramdas (JASA
  /// 118:2491, 2023), who pool the units' distributions.
  ///
  /// - Parameter probabilities: `[images][classes]`
  package func thresholds(of probabilities: [[Double]]) -> [Double?] {
    counts.indices.map { label in
      // 1 - 0.9 is a little less than 0.1, and would lose one where the product is whole.
      let left = (1 - ModelCalibration.coverage) * Double(counts[label] + 1) - 1 + 1e-9
      guard left >= 0 else { return nil }
      let own = labels.indices.filter { labels[$0] == label }.sorted {
        probabilities[$0][label] < probabilities[$1][label]
      }
      var below = 0.0
      var threshold: Double?
      for image in own {
        if below > left { break }
        threshold = probabilities[image][label]
        below += weights[image]
      }
      return threshold
    }
  }
}
