import DermaFusion

/// The images of a set, each counted by its weight: the sums that metrics are computed from. With whole weights all but those of
/// probabilities are whole, so the order of images cannot show.
struct Tally {
  let set: EvaluationSet
  let weights: [Double]
  /// The sum of all weights, above 0.
  let total: Double
  /// The number of times that each class (row) was predicted as each (column).
  let confusion: [[Double]]
  /// The count of each class, and that of its predictions.
  let occurring: [Double]
  let predicted: [Double]
  /// For each class the count of probabilities above a half, and of those that were right.
  let predictedAboveHalf: [Double]
  let foundAboveHalf: [Double]
  /// For each class against the rest, the area under the ROC curve.
  let areas: [Double?]
  /// And the average precision.
  let averagePrecisions: [Double?]
  /// For each of ``Metric/riskLevels``, how many images of each label reach it; empty where malignancy is not told.
  private let riskCounts: [[Double]]

  /// `nil` where all weights are 0.
  init?(_ set: EvaluationSet, weights: [Double]) {
    total = weights.reduce(0, +)
    guard total > 0 else { return nil }
    self.set = set
    self.weights = weights
    let confusion = set.confusionMatrix(weights: weights)
    self.confusion = confusion
    occurring = confusion.map { $0.reduce(0, +) }
    predicted = set.labels.indices.map { label in confusion.reduce(0) { $0 + $1[label] } }
    var (above, found) = (confusion[0].map { _ in 0.0 }, confusion[0].map { _ in 0.0 })
    for (image, label) in set.overHalf {
      above[label] += weights[image]
      if set.labelIndices[image] == label { found[label] += weights[image] }
    }
    (predictedAboveHalf, foundAboveHalf) = (above, found)
    areas = set.scores.map { $0.areaUnderCurve(weights: weights) }
    averagePrecisions = set.scores.map { $0.averagePrecision(weights: weights) }
    riskCounts =
      set.labels.tellMalignancy
      ? set.reachesRisk.map { reaches in
        var counts = [Double](repeating: 0, count: set.labels.count)
        for (image, label) in set.labelIndices.enumerated() where reaches[image] {
          counts[label] += weights[image]
        }
        return counts
      } : []
  }

  func recall(_ label: Int) -> Double? {
    occurring[label] > 0 ? confusion[label][label] / occurring[label] : nil
  }

  /// The harmonic mean of recall and precision; nil for a class that neither occurs nor is predicted.
  func f1(_ label: Int) -> Double? {
    let sum = occurring[label] + predicted[label]
    return sum > 0 ? 2 * confusion[label][label] / sum : nil
  }

  /// The same where an image is predicted as each class whose probability is above a half, and else as none.
  func f1AboveHalf(_ label: Int) -> Double? {
    let sum = occurring[label] + predictedAboveHalf[label]
    return sum > 0 ? 2 * foundAboveHalf[label] / sum : nil
  }

  var balancedAccuracy: Double? { Self.mean(occurring.indices.compactMap(recall)) }

  func share(reaching level: RiskLevel, of group: Metric.RiskGroup) -> Double? {
    guard let index = Metric.riskLevels.firstIndex(of: level), !riskCounts.isEmpty else { return nil }
    let members: [Int] =
      if case .label(let label) = group { [label] } else { set.labels.filter(group.holds).map(\.index) }
    let count = members.reduce(0) { $0 + occurring[$1] }
    return count > 0 ? members.reduce(0) { $0 + riskCounts[index][$1] } / count : nil
  }

  /// The same images without those that the model abstains from; `nil` where none is left.
  var answered: Tally? {
    Tally(set, weights: zip(set.images, weights).map { $0.abstention.reasons.isEmpty ? $1 : 0 })
  }

  /// The mean of a whole number over the images that have a set of classes; `nil` without any.
  func meanOverSets(_ value: (Abstention.ConformalSet, LesionLabel) -> Int) -> Double? {
    var (sum, count) = (0.0, 0.0)
    for (image, weight) in zip(set.images, weights) {
      guard let classes = image.abstention.conformalSet else { continue }
      sum += weight * Double(value(classes, image.label))
      count += weight
    }
    return count > 0 ? sum / count : nil
  }

  static func mean(_ values: [Double]) -> Double? {
    values.isEmpty ? nil : values.reduce(0, +) / Double(values.count)
  }
}
