import DermaFusion
import Files

/// A number that a model is measured by: its names, and how it is computed from the images.
///
/// Text, CSV, JSON, intervals, subgroups and comparisons are written from the lists ``overall``, ``perClass`` and
/// ``abstention``: to add a metric, add it to one of them. A metric that the images cannot tell (the recall of a class
/// that does not occur) is undefined rather than 0.
package struct Metric: Sendable {
  /// The needs of the metric on a model's labels.
  package enum Need: Sendable {
    case nothing, melanoma, malignancy
  }

  /// The subject of one of several metrics with the same ``key``.
  package enum Subject: Sendable, Hashable {
    case allImages
    case label(Int)
    case risk(RiskLevel, RiskGroup)
  }

  /// Images by their labels.
  package enum RiskGroup: Sendable, Hashable {
    /// With a malignant or pre-malignant label.
    case malignant
    /// With a benign one.
    case benign
    /// With the label of this index.
    case label(Int)

    func holds(_ label: LesionLabel) -> Bool {
      switch self {
      case .malignant: label.malignancy.map { $0 != .benign } ?? false
      case .benign: label.malignancy == .benign
      case .label(let index): label.index == index
      }
    }
  }

  /// Its name in JSON and CSV.
  package let key: String
  /// Its name in text.
  package let title: String
  /// Its name in the table of subgroups; `nil` where that leaves it out.
  package let subgroupTitle: String?
  package let need: Need
  package let subject: Subject
  let compute: @Sendable (Tally) -> Double?
  /// True, of a share of images, if an image of the set is among those that it is a share of; `nil` for other numbers.
  private(set) var isCounted: (@Sendable (EvaluationSet, Int) -> Bool)?

  init(
    _ key: String, _ title: String, subgroupTitle: String? = nil, need: Need = .nothing,
    of subject: Subject = .allImages, compute: @escaping @Sendable (Tally) -> Double?
  ) {
    self.key = key
    self.title = title
    self.subgroupTitle = subgroupTitle
    self.need = need
    self.subject = subject
    self.compute = compute
  }

  /// As a share of the images for which `isCounted` is true.
  private func share(_ isCounted: @escaping @Sendable (EvaluationSet, Int) -> Bool) -> Metric {
    var metric = self
    metric.isCounted = isCounted
    return metric
  }

  /// The same metric where a command gives it another name.
  func named(_ key: String, _ title: String) -> Metric {
    var metric = Metric(key, title, need: need, of: subject, compute: compute)
    metric.isCounted = isCounted
    return metric
  }

  /// The second value minus the first; `nil` where one of the two is undefined.
  static func difference(_ first: Double?, _ second: Double?) -> Double? {
    guard let first, let second else { return nil }
    return second - first
  }

  /// True if a model of these labels has it.
  package func applies(to labels: Labels) -> Bool {
    switch need {
    case .nothing: true
    case .melanoma: labels.melanoma != nil
    case .malignancy: labels.tellMalignancy
    }
  }
}

extension Metric: Hashable {
  package static func == (first: Metric, second: Metric) -> Bool {
    first.key == second.key && first.subject == second.subject
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(key)
    hasher.combine(subject)
  }
}

// MARK: - The tables

extension Metric {
  /// Those over all classes. All but the log-likelihood are from 0 to 1.
  package static let overall: [Metric] = [
    accuracy, balancedAccuracy, macroF1, macroF1AboveHalf, macroAUROC, macroAveragePrecision,
    melanomaSensitivityAt90Specificity, malignantAUROC,
    expectedCalibrationError, negativeLogLikelihood,
  ]

  /// Those of one class, beside its ``meanProbability(_:)``.
  package static let perClass: [@Sendable (Int) -> Metric] = [recall, precision, f1, auroc, averagePrecision]

  /// The share that the model abstains from, and the coverage of its sets of classes. They get no intervals.
  package static let abstention: [Metric] = [
    abstainedShare, answeredBalancedAccuracy, statedCoverage, coverage, meanSetSize,
  ]

  /// All that get intervals.
  package static func all(_ labels: Labels) -> [Metric] {
    overall
      + labels.indices.flatMap { label in [meanProbability(label)] + perClass.map { $0(label) } }
      + riskLevels.flatMap { level in riskGroups(labels).map { risk(level, of: $0) } }
  }

  /// The levels that images reach; all reach the lowest.
  package static let riskLevels: [RiskLevel] = [.moderate, .high]

  /// The malignant classes, the others, and each class alone; none where malignancy is not told.
  package static func riskGroups(_ labels: Labels) -> [RiskGroup] {
    labels.tellMalignancy ? [.malignant, .benign] + labels.indices.map { .label($0) } : []
  }
}

// MARK: - Over all classes

extension Metric {
  /// Images whose most probable class is their label.
  package static let accuracy = Metric("accuracy", "Accuracy") { tally in
    tally.confusion.indices.reduce(0) { $0 + tally.confusion[$1][$1] } / tally.total
  }.share { _, _ in true }

  /// Mean recall over the classes that occur.
  package static let balancedAccuracy = Metric(
    "balancedAccuracy", "Balanced accuracy", subgroupTitle: "balanced accuracy"
  ) { $0.balancedAccuracy }

  /// Mean over the classes of the ``f1(_:)``, without classes that neither occur nor are predicted: scikit-learn's
  /// `f1_score(average="macro")`.
  package static let macroF1 = Metric("macroF1", "Macro F1") { tally in
    Tally.mean(tally.occurring.indices.compactMap(tally.f1))
  }

  /// The same where a class is predicted if its probability is above 0.5: the mean `dice` of isic-challenge-scoring, by which the
  /// MILK10k benchmark ranks.
  package static let macroF1AboveHalf = Metric("macroF1AboveHalf", "Macro F1 above 0.5 (ISIC's dice)") {
    tally in
    Tally.mean(tally.occurring.indices.compactMap(tally.f1AboveHalf))
  }

  /// Mean over the classes that occur of the ``averagePrecision(_:)``.
  package static let macroAveragePrecision = Metric("macroAveragePrecision", "Macro average precision") {
    tally in
    Tally.mean(tally.averagePrecisions.compactMap { $0 })
  }

  /// Mean over the classes that occur of the area under the ROC curve of one class against the rest.
  package static let macroAUROC = Metric("macroAUROC", "Macro AUROC", subgroupTitle: "macro AUROC") {
    Tally.mean($0.areas.compactMap { $0 })
  }

  /// The greatest share of melanomas found by any threshold on their probability that lets at least 90 % of the
  /// other images pass. The threshold is read off the same images.
  package static let melanomaSensitivityAt90Specificity = Metric(
    "melanomaSensitivityAt90Specificity", "Melanoma sensitivity at 90 % specificity",
    subgroupTitle: "melanoma sensitivity", need: .melanoma
  ) { tally in
    tally.set.labels.melanoma.flatMap {
      tally.set.scores[$0.index].sensitivity(falsePositivePercent: 10, weights: tally.weights)
    }
  }

  /// Area under the ROC curve of the summed probabilities of the malignant and pre-malignant classes against the other
  /// images.
  package static let malignantAUROC = Metric("malignantAUROC", "Malignant AUROC", need: .malignancy) {
    $0.set.malignantScores.areaUnderCurve(weights: $0.weights)
  }

  /// The gap between the mean greatest probability and the accuracy, averaged over
  /// 15 bins of equal width of the greatest probability, weighted by the images in each.
  package static let expectedCalibrationError = Metric("ece", "Expected calibration error") { tally in
    tally.set.calibrationBins(weights: tally.weights).reduce(0) {
      $0 + abs($1.correctWeight - $1.confidenceSum) / tally.total
    }
  }

  /// Mean of -ln(p + 1e-12), p the probability of the label: at least 0, lower is better. Unlike the others it looks at
  /// all of a probability.
  package static let negativeLogLikelihood = Metric("negativeLogLikelihood", "Negative log-likelihood") {
    tally in
    tally.weights.indices.reduce(0) {
      $0 + tally.weights[$1] * tally.set.losses[$1] / tally.total
    }
  }
}

// MARK: - Of one class

extension Metric {
  /// Images with this label that were predicted so.
  package static func recall(_ label: Int) -> Metric {
    Metric("recall", "recall", of: .label(label)) { $0.recall(label) }
      .share { $0.labelIndices[$1] == label }
  }

  /// Images predicted so that have this label.
  package static func precision(_ label: Int) -> Metric {
    Metric("precision", "precision", of: .label(label)) { tally in
      tally.predicted[label] > 0
        ? tally.confusion[label][label] / tally.predicted[label] : nil
    }.share { $0.predictions[$1] == label }
  }

  /// The harmonic mean of recall and precision; undefined for a class that neither occurs nor is predicted.
  package static func f1(_ label: Int) -> Metric {
    Metric("f1", "F1", of: .label(label)) { $0.f1(label) }
  }

  /// ``RankedScores/averagePrecision(weights:)`` of the class's probability, its images against the rest.
  package static func averagePrecision(_ label: Int) -> Metric {
    Metric("averagePrecision", "average precision", of: .label(label)) { $0.averagePrecisions[label] }
  }

  /// Area under the ROC curve of the class's probability, its images against the rest.
  package static func auroc(_ label: Int) -> Metric {
    Metric("auroc", "AUROC", of: .label(label)) { $0.areas[label] }
  }

  /// Mean probability of the class over all images. Where the probabilities are calibrated it is the share of images
  /// with this label.
  package static func meanProbability(_ label: Int) -> Metric {
    Metric("meanProbability", "expected", of: .label(label)) { tally in
      tally.weights.indices.reduce(0) {
        $0 + tally.weights[$1] * Double(tally.set.images[$1].probabilities.values[label]) / tally.total
      }
    }
  }

  /// Images of the group whose ``RiskLevel`` is this one or a higher one.
  package static func risk(_ level: RiskLevel, of group: RiskGroup) -> Metric {
    Metric("risk", "share at risk", need: .malignancy, of: .risk(level, group)) {
      $0.share(reaching: level, of: group)
    }.share { group.holds($0.images[$1].label) }
  }
}

// MARK: - Abstention

extension Metric {
  /// The share of images from which the model abstained.
  package static let abstainedShare = Metric("abstained", "Share of images abstained from") { tally in
    (tally.total - (tally.answered?.total ?? 0)) / tally.total
  }

  /// Balanced accuracy on the others; undefined when there is none.
  package static let answeredBalancedAccuracy = Metric(
    "balancedAccuracyAnswered", "Balanced accuracy on the others"
  ) { $0.answered?.balancedAccuracy }

  /// The share of images whose class should be in their set; undefined, as the next two, for a model that makes no sets.
  package static let statedCoverage = Metric("statedCoverage", "Stated coverage of the sets") { tally in
    let stated = tally.set.images.compactMap { $0.abstention.conformalSet?.coverage }
    // As the classes' own shares, which may differ; exact where they do not.
    return stated.first.map { first in first + (Tally.mean(stated.map { $0 - first }) ?? 0) }
  }

  /// The share of images whose class is in their set, also of those from which the model abstained.
  package static let coverage = Metric("foundCoverage", "Coverage of the sets") {
    $0.meanOverSets { set, label in set.classes.contains(label) ? 1 : 0 }
  }

  /// Classes a set, at least 1.
  package static let meanSetSize = Metric("meanSetSize", "Classes a set") {
    $0.meanOverSets { set, _ in set.classes.count }
  }
}

// MARK: - Values

/// A metric's value, with its 95 % interval.
package struct MeasuredValue: Sendable {
  /// `nil` where it is undefined.
  package let value: Double?
  /// `nil` where there is none.
  package let interval: ClosedRange<Double>?

  /// The value and, with `CI` after its name, the interval; null where there is none.
  package func members(_ name: String) -> [(key: String, value: JSONValue)] {
    [(name, value.map(JSONValue.number) ?? .null), ("\(name)CI", Self.json(interval))]
  }

  static func json(_ interval: ClosedRange<Double>?) -> JSONValue {
    interval.map { .array([.number($0.lowerBound), .number($0.upperBound)]) } ?? .null
  }
}
