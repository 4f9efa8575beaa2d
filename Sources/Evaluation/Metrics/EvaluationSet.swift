import DermaFusion
import SystemModule

/// Images prepared to be measured as often as intervals need: ranked once, counted under any weights.
package struct EvaluationSet: Sendable {
  /// Bins of the greatest probability that calibration is looked at in.
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
  private let labelIndices: [Int]
  private let predictions: [Int]
  private let confidences: [Double]
  /// -ln of each label's probability.
  private let losses: [Double]
  /// For each of ``EvaluationFigure/riskLevels``, whether each image reaches it.
  private let reachesRisk: [[Bool]]
  /// The indices of the labels in each group of ``EvaluationFigure/riskGroups(_:)``.
  private let riskGroups: [(group: EvaluationFigure.RiskGroup, labels: [Int])]
  private let scores: [RankedScores]
  private let malignantScores: RankedScores

  package init(_ images: [EvaluatedImage]) {
    precondition(!images.isEmpty, "a set of no images")
    self.images = images
    let labels = images[0].probabilities.labels
    self.labels = labels
    labelIndices = images.map { $0.label.index }
    predictions = images.map { $0.prediction.index }
    confidences = images.map { $0.confidence }
    losses = images.map { -Mathematics.log(Double($0.probabilities[$0.label]) + 1e-12) }
    reachesRisk = EvaluationFigure.riskLevels.map { level in
      images.map { image in RiskLevel(probabilities: image.probabilities).map { $0 >= level } ?? false }
    }
    riskGroups = EvaluationFigure.riskGroups(labels).map { group in
      if case .label(let index) = group { return (group, [index]) }
      return (group, labels.filter(group.holds).map { $0.index })
    }
    scores = labels.map { label in
      RankedScores(
        scores: images.map { Double($0.probabilities[label]) },
        isPositive: images.map { $0.label.index == label.index })
    }
    let malignant = labels.filter(EvaluationFigure.RiskGroup.malignant.holds)
    malignantScores = RankedScores(
      scores: images.map { image in malignant.reduce(0) { $0 + Double(image.probabilities[$1]) } },
      isPositive: images.map { EvaluationFigure.RiskGroup.malignant.holds($0.label) })
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

  /// The figures, each image counted once.
  package func figures() -> EvaluationFigures {
    figures(weights: ones)
  }

  /// The figures with each image counted as often as its weight says; none when all weights are 0.
  package func figures(weights: [Int]) -> EvaluationFigures {
    let total = weights.reduce(0, +)
    guard total > 0 else { return [:] }
    var figures: EvaluationFigures = [:]

    let confusion = confusionMatrix(weights: weights)
    let occurring = confusion.map { $0.reduce(0, +) }
    figures[.accuracy] = Double(labels.indices.reduce(0) { $0 + confusion[$1][$1] }) / Double(total)
    var recalls: [Double] = []
    var areas: [Double] = []
    for label in labels.indices {
      let hits = Double(confusion[label][label])
      let predicted = confusion.reduce(0) { $0 + $1[label] }
      if predicted > 0 { figures[.precision(label)] = hits / Double(predicted) }
      if occurring[label] > 0 {
        recalls.append(hits / Double(occurring[label]))
        figures[.recall(label)] = recalls.last
      }
      if let area = scores[label].areaUnderCurve(weights: weights) {
        areas.append(area)
        figures[.auroc(label)] = area
      }
    }
    figures[.balancedAccuracy] = Self.mean(recalls)
    figures[.macroAUROC] = Self.mean(areas)
    if let melanoma = labels.melanoma {
      figures[.melanomaSensitivityAt90Specificity] =
        scores[melanoma.index].sensitivity(falsePositivePercent: 10, weights: weights)
    }
    if labels.tellMalignancy {
      figures[.malignantAUROC] = malignantScores.areaUnderCurve(weights: weights)
    }
    figures[.expectedCalibrationError] = calibrationBins(weights: weights).reduce(0) {
      $0 + abs(Double($1.correctCount) - $1.confidenceSum) / Double(total)
    }
    figures[.negativeLogLikelihood] = losses.indices.reduce(0) {
      $0 + Double(weights[$1]) * losses[$1] / Double(total)
    }
    for label in labels.indices {
      figures[.meanProbability(label)] = images.indices.reduce(0) {
        $0 + Double(weights[$1]) * Double(images[$1].probabilities.values[label]) / Double(total)
      }
    }
    for (level, reaches) in zip(EvaluationFigure.riskLevels, reachesRisk) where !riskGroups.isEmpty {
      var counts = [Int](repeating: 0, count: labels.count)
      for image in labelIndices.indices where reaches[image] { counts[labelIndices[image]] += weights[image] }
      for (group, members) in riskGroups {
        let count = members.reduce(0) { $0 + occurring[$1] }
        if count > 0 {
          figures[.risk(level, of: group)] = Double(members.reduce(0) { $0 + counts[$1] }) / Double(count)
        }
      }
    }
    return figures
  }

  /// The 95 % interval by patient or lesion of each figure that has one; see ``LesionBootstrap``.
  package func intervals() -> [EvaluationFigure: ClosedRange<Double>] {
    LesionBootstrap.intervals(lesions: units) { figures(weights: $0) }
  }

  /// A question with two answers whose precision is shown against its recall.
  package enum Question: Sendable, Equatable {
    /// One class against the rest.
    case label(LesionLabel)
    /// Malignant or pre-malignant against benign.
    case malignant
  }

  /// Precision at recalls from 0 to 1, with 95 % intervals by patient or lesion where there are any.
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
      positiveCount = images.count { EvaluationFigure.RiskGroup.malignant.holds($0.label) }
    }
    let recalls = (1...40).map { Double($0) / 40 }
    return PrecisionCurve(
      recalls: recalls, precisions: ranked.precisions(atRecalls: recalls, weights: ones),
      intervals: LesionBootstrap.intervals(lesions: units, count: recalls.count) {
        ranked.precisions(atRecalls: recalls, weights: $0)
      }, prevalence: Double(positiveCount) / Double(images.count))
  }

  /// For each of ``calibrationBins()``, the 95 % interval of its accuracy by patient or lesion, where there is one.
  package func calibrationIntervals() -> [ClosedRange<Double>?] {
    LesionBootstrap.intervals(lesions: units, count: Self.calibrationBinCount) { weights in
      self.calibrationBins(weights: weights).map {
        $0.count > 0 ? Double($0.correctCount) / Double($0.count) : nil
      }
    }
  }

  private var units: [String] { images.map(\.drawnWith) }

  private var ones: [Int] { [Int](repeating: 1, count: images.count) }

  private func confusionMatrix(weights: [Int]) -> [[Int]] {
    let count = labels.count
    var matrix = [[Int]](repeating: [Int](repeating: 0, count: count), count: count)
    for image in labelIndices.indices { matrix[labelIndices[image]][predictions[image]] += weights[image] }
    return matrix
  }

  private func calibrationBins(weights: [Int]) -> [CalibrationBin] {
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

  private static func mean(_ values: [Double]) -> Double? {
    values.isEmpty ? nil : values.reduce(0, +) / Double(values.count)
  }
}
