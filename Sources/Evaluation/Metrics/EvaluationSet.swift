import DermaFusion
import SystemModule

/// One image of a test list, with what the model made of it.
package struct EvaluatedImage: Sendable, Equatable {
  package let lesion: String
  /// The images that are drawn together with this one.
  package let unit: ChanceUnit
  /// What the list says it is.
  package let label: LesionLabel
  /// 0...1, summing to 1; those that mean little where the model abstained, too.
  package let probabilities: ClassScores
  /// What went into the model besides the image.
  package let metadata: PatientMetadata
  /// Where the image came from, a folder for instance.
  package let source: String
  /// What the list has in other columns, by the name of the column; what is missing there is missing here.
  package let cells: [String: String]
  /// Whether the model abstained, and its set of classes.
  package let abstention: Abstention

  /// - Parameter unit: the lesion if it is not given.
  package init(
    lesion: String, label: LesionLabel, probabilities: ClassScores, metadata: PatientMetadata, source: String,
    unit: ChanceUnit? = nil, cells: [String: String] = [:], abstention: Abstention = .none
  ) {
    self.lesion = lesion
    self.label = label
    self.probabilities = probabilities
    self.metadata = metadata
    self.source = source
    self.unit = unit ?? ChanceUnit(.lesions, lesion)
    self.cells = cells
    self.abstention = abstention
  }

  var prediction: LesionLabel { probabilities.highest }
  /// The greatest probability.
  var confidence: Double { Double(probabilities[prediction]) }
}

/// Images prepared to be measured as often as intervals need: ranked once, counted under any weights.
package struct EvaluationSet: Sendable {
  /// Bins of the greatest probability, in which calibration is measured.
  package static let calibrationBinCount = 15

  /// Images whose greatest probability lies in one bin.
  package struct CalibrationBin: Sendable, Equatable {
    package var count = 0
    package var correctCount = 0
    package var confidenceSum = 0.0
  }

  /// At least one, all classified by models of the same labels.
  package let images: [EvaluatedImage]
  package let labels: Labels
  let labelIndices: [Int]
  let predictions: [Int]
  private let confidences: [Double]
  /// -ln of each label's probability.
  let losses: [Double]
  /// For each of ``Metric/riskLevels``, whether each image reaches it.
  fileprivate let reachesRisk: [[Bool]]
  let scores: [RankedScores]
  let malignantScores: RankedScores

  package init(_ images: [EvaluatedImage]) {
    precondition(!images.isEmpty, "a set of no images")
    self.images = images
    let labels = images[0].probabilities.labels
    self.labels = labels
    labelIndices = images.map { $0.label.index }
    predictions = images.map { $0.prediction.index }
    confidences = images.map { $0.confidence }
    losses = images.map { -Mathematics.log(Double($0.probabilities[$0.label]) + 1e-12) }
    reachesRisk = Metric.riskLevels.map { level in
      images.map { image in RiskLevel(probabilities: image.probabilities).map { $0 >= level } ?? false }
    }
    scores = labels.map { label in
      RankedScores(
        scores: images.map { Double($0.probabilities[label]) },
        isPositive: images.map { $0.label.index == label.index })
    }
    let malignant = labels.filter(Metric.RiskGroup.malignant.holds)
    malignantScores = RankedScores(
      scores: images.map { image in malignant.reduce(0) { $0 + Double(image.probabilities[$1]) } },
      isPositive: images.map { Metric.RiskGroup.malignant.holds($0.label) })
  }

  /// How often each class (row) was predicted as each (column), in the order of ``labels``.
  package func confusionMatrix() -> [[Int]] {
    confusionMatrix(weights: ones)
  }

  /// The bins of calibration, from 0 to 1.
  package func calibrationBins() -> [CalibrationBin] {
    calibrationBins(weights: ones)
  }

  /// The ROC curve of one class against the rest; empty when it has none or all of the images.
  package func curve(of label: LesionLabel) -> [RankedScores.Point] {
    scores[label.index].curve()
  }

  /// The metrics' values; those that are undefined are missing.
  ///
  /// - Parameters:
  ///   - metrics: all that get intervals where none are named.
  ///   - weights: how often each image counts; once where they are not given.
  package func values(of metrics: [Metric]? = nil, weights: [Int]? = nil) -> [Metric: Double] {
    let metrics = metrics ?? Metric.all(labels)
    let values = list(of: metrics, weights: weights ?? ones)
    return Dictionary(
      uniqueKeysWithValues: zip(metrics, values).compactMap { metric, value in value.map { (metric, $0) } })
  }

  /// The value of each metric; `nil` for all where all weights are 0.
  func list(of metrics: [Metric], weights: [Int]) -> [Double?] {
    guard let tally = Tally(self, weights: weights) else { return metrics.map { _ in nil } }
    return metrics.map { $0.applies(to: labels) ? $0.compute(tally) : nil }
  }

  /// The 95 % interval by unit of chance of each metric that has one: by ``Bootstrap``, and where that shows none for a share, by
  /// ``ExactInterval``.
  package func intervals(of metrics: [Metric]? = nil) -> [Metric: ClosedRange<Double>] {
    let metrics = metrics ?? Metric.all(labels)
    let drawn = Bootstrap.intervals(units: units, count: metrics.count) {
      list(of: metrics, weights: $0)
    }
    let values = list(of: metrics, weights: ones)
    let unitOfEach = NameGroups(units).ofEach
    var intervals: [Metric: ClosedRange<Double>] = [:]
    for (place, metric) in metrics.enumerated() {
      intervals[metric] =
        drawn[place] ?? values[place].flatMap { exactInterval(of: metric, share: $0, unitOfEach) }
    }
    return intervals
  }

  private func exactInterval(
    of metric: Metric, share: Double, _ unitOfEach: [Int]
  ) -> ClosedRange<Double>? {
    guard let isCounted = metric.isCounted else { return nil }
    let counted = Set(unitOfEach.indices.filter { isCounted(self, $0) }.map { unitOfEach[$0] })
    return counted.isEmpty ? nil : ExactInterval.ofShare(share, units: counted.count)
  }

  /// A question with two answers whose precision is shown against its recall.
  package enum Question: Sendable, Equatable {
    /// One class against the rest.
    case label(LesionLabel)
    /// Malignant or pre-malignant against benign.
    case malignant
  }

  /// Precision at recalls from 0 to 1, with 95 % intervals by unit of chance where there are any.
  package struct PrecisionCurve: Sendable {
    package let recalls: [Double]
    package let precisions: [Double?]
    package let intervals: [ClosedRange<Double>?]
    /// The share of positive images, which guessing would reach.
    package let prevalence: Double
  }

  package func precisionCurve(of question: Question) -> PrecisionCurve {
    let ranked: RankedScores
    let positiveCount: Int
    switch question {
    case .label(let label):
      ranked = scores[label.index]
      positiveCount = labelIndices.count { $0 == label.index }
    case .malignant:
      ranked = malignantScores
      positiveCount = images.count { Metric.RiskGroup.malignant.holds($0.label) }
    }
    let recalls = (1...40).map { Double($0) / 40 }
    return PrecisionCurve(
      recalls: recalls, precisions: ranked.precisions(atRecalls: recalls, weights: ones),
      intervals: Bootstrap.intervals(units: units, count: recalls.count) {
        ranked.precisions(atRecalls: recalls, weights: $0)
      }, prevalence: Double(positiveCount) / Double(images.count))
  }

  /// For each of ``calibrationBins()``, the 95 % interval of its accuracy by unit of chance, where there is one.
  package func calibrationIntervals() -> [ClosedRange<Double>?] {
    Bootstrap.intervals(units: units, count: Self.calibrationBinCount) { weights in
      self.calibrationBins(weights: weights).map {
        $0.count > 0 ? Double($0.correctCount) / Double($0.count) : nil
      }
    }
  }

  /// Of each image.
  package var units: [ChanceUnit] { images.map(\.unit) }

  private var ones: [Int] { [Int](repeating: 1, count: images.count) }

  fileprivate func confusionMatrix(weights: [Int]) -> [[Int]] {
    let count = labels.count
    var matrix = [[Int]](repeating: [Int](repeating: 0, count: count), count: count)
    for image in labelIndices.indices { matrix[labelIndices[image]][predictions[image]] += weights[image] }
    return matrix
  }

  func calibrationBins(weights: [Int]) -> [CalibrationBin] {
    let count = Self.calibrationBinCount
    var bins = [CalibrationBin](repeating: CalibrationBin(), count: count)
    for image in labelIndices.indices {
      // A probability of 1 belongs to the last bin.
      let bin = min(Int(confidences[image] * Double(count)), count - 1)
      bins[bin].count += weights[image]
      if labelIndices[image] == predictions[image] { bins[bin].correctCount += weights[image] }
      bins[bin].confidenceSum += Double(weights[image]) * confidences[image]
    }
    return bins
  }
}

/// The images of a set, each counted as often as its weight says: the sums that metrics are computed from.
struct Tally {
  let set: EvaluationSet
  let weights: [Int]
  /// Of all weights, above 0.
  let total: Int
  /// How often each class (row) was predicted as each (column).
  let confusion: [[Int]]
  /// How often each class occurs, and how often it was predicted.
  let occurring: [Int]
  let predicted: [Int]
  /// Of each class against the rest, the area under the ROC curve.
  let areas: [Double?]
  /// For each of ``Metric/riskLevels``, how many images of each label reach it; empty where malignancy is not told.
  private let riskCounts: [[Int]]

  /// `nil` where all weights are 0.
  init?(_ set: EvaluationSet, weights: [Int]) {
    total = weights.reduce(0, +)
    guard total > 0 else { return nil }
    self.set = set
    self.weights = weights
    let confusion = set.confusionMatrix(weights: weights)
    self.confusion = confusion
    occurring = confusion.map { $0.reduce(0, +) }
    predicted = set.labels.indices.map { label in confusion.reduce(0) { $0 + $1[label] } }
    areas = set.scores.map { $0.areaUnderCurve(weights: weights) }
    riskCounts =
      set.labels.tellMalignancy
      ? set.reachesRisk.map { reaches in
        var counts = [Int](repeating: 0, count: set.labels.count)
        for (image, label) in set.labelIndices.enumerated() where reaches[image] {
          counts[label] += weights[image]
        }
        return counts
      } : []
  }

  func recall(_ label: Int) -> Double? {
    occurring[label] > 0 ? Double(confusion[label][label]) / Double(occurring[label]) : nil
  }

  var balancedAccuracy: Double? { Self.mean(occurring.indices.compactMap(recall)) }

  func share(reaching level: RiskLevel, of group: Metric.RiskGroup) -> Double? {
    guard let index = Metric.riskLevels.firstIndex(of: level), !riskCounts.isEmpty else { return nil }
    let members: [Int] =
      if case .label(let label) = group { [label] } else { set.labels.filter(group.holds).map(\.index) }
    let count = members.reduce(0) { $0 + occurring[$1] }
    return count > 0 ? Double(members.reduce(0) { $0 + riskCounts[index][$1] }) / Double(count) : nil
  }

  /// The same images without those that the model abstains from; `nil` where none is left.
  var answered: Tally? {
    Tally(set, weights: zip(set.images, weights).map { $0.abstention.reasons.isEmpty ? $1 : 0 })
  }

  /// The mean of a whole number over the images that have a set of classes; `nil` without any.
  func meanOverSets(_ value: (Abstention.ConformalSet, LesionLabel) -> Int) -> Double? {
    var (sum, count) = (0, 0)
    for (image, weight) in zip(set.images, weights) {
      guard let classes = image.abstention.conformalSet else { continue }
      sum += weight * value(classes, image.label)
      count += weight
    }
    return count > 0 ? Double(sum) / Double(count) : nil
  }

  static func mean(_ values: [Double]) -> Double? {
    values.isEmpty ? nil : values.reduce(0, +) / Double(values.count)
  }
}
