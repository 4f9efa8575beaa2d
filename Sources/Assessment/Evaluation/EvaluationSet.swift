import DermaFusion

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

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

  package let images: [EvaluatedImage]
  private let labels: [Int]
  private let predictions: [Int]
  private let confidences: [Double]
  /// -ln of each label's probability.
  private let losses: [Double]
  /// For each of ``EvaluationFigure/riskLevels``, whether each image reaches it.
  private let reachesRisk: [[Bool]]
  private let scores: [RankedScores]
  private let malignantScores: RankedScores

  package init(_ images: [EvaluatedImage]) {
    self.images = images
    labels = images.map(\.label.index)
    predictions = images.map(\.prediction.index)
    confidences = images.map(\.confidence)
    losses = images.map { -log(Double($0.probabilities[$0.label]) + 1e-12) }
    reachesRisk = EvaluationFigure.riskLevels.map { level in
      images.map { RiskLevel(probabilities: $0.probabilities) >= level }
    }
    scores = LesionClass.allCases.map { lesionClass in
      RankedScores(
        scores: images.map { Double($0.probabilities[lesionClass]) },
        isPositive: images.map { $0.label == lesionClass })
    }
    malignantScores = RankedScores(
      scores: images.map { image in
        LesionClass.allCases.filter(LesionClass.malignantClasses.contains)
          .reduce(0) { $0 + Double(image.probabilities[$1]) }
      },
      isPositive: images.map { LesionClass.malignantClasses.contains($0.label) })
  }

  /// How often each class (row) was predicted as each (column), in the order of ``LesionClass``.
  package func confusionMatrix() -> [[Int]] {
    confusionMatrix(weights: ones)
  }

  /// The bins of calibration, from 0 to 1.
  package func calibrationBins() -> [CalibrationBin] {
    calibrationBins(weights: ones)
  }

  /// The ROC curve of one class against the rest; empty when it has none or all of the images.
  package func curve(of lesionClass: LesionClass) -> [RankedScores.Point] {
    scores[lesionClass.index].curve()
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
    let classes = LesionClass.allCases
    figures[.accuracy] = Double(classes.reduce(0) { $0 + confusion[$1.index][$1.index] }) / Double(total)
    var recalls: [Double] = []
    var areas: [Double] = []
    for lesionClass in classes {
      let hits = Double(confusion[lesionClass.index][lesionClass.index])
      let predicted = confusion.reduce(0) { $0 + $1[lesionClass.index] }
      if predicted > 0 { figures[.precision(lesionClass)] = hits / Double(predicted) }
      if occurring[lesionClass.index] > 0 {
        recalls.append(hits / Double(occurring[lesionClass.index]))
        figures[.recall(lesionClass)] = recalls.last
      }
      if let area = scores[lesionClass.index].areaUnderCurve(weights: weights) {
        areas.append(area)
        figures[.auroc(lesionClass)] = area
      }
    }
    figures[.balancedAccuracy] = Self.mean(recalls)
    figures[.macroAUROC] = Self.mean(areas)
    figures[.melanomaSensitivityAt90Specificity] =
      scores[LesionClass.mel.index].sensitivity(falsePositivePercent: 10, weights: weights)
    figures[.malignantAUROC] = malignantScores.areaUnderCurve(weights: weights)
    figures[.expectedCalibrationError] = calibrationBins(weights: weights).reduce(0) {
      $0 + abs(Double($1.correctCount) - $1.confidenceSum) / Double(total)
    }
    figures[.negativeLogLikelihood] = losses.indices.reduce(0) {
      $0 + Double(weights[$1]) * losses[$1] / Double(total)
    }
    for lesionClass in classes {
      figures[.meanProbability(lesionClass)] = images.indices.reduce(0) {
        $0 + Double(weights[$1]) * Double(images[$1].probabilities[lesionClass]) / Double(total)
      }
    }
    for (level, reaches) in zip(EvaluationFigure.riskLevels, reachesRisk) {
      var counts = [Int](repeating: 0, count: classes.count)
      for image in labels.indices where reaches[image] { counts[labels[image]] += weights[image] }
      for group in EvaluationFigure.riskGroups {
        let count = group.reduce(0) { $0 + occurring[$1.index] }
        if count > 0 {
          figures[.risk(level, of: group)] =
            Double(group.reduce(0) { $0 + counts[$1.index] }) / Double(count)
        }
      }
    }
    return figures
  }

  private var ones: [Int] { [Int](repeating: 1, count: images.count) }

  private func confusionMatrix(weights: [Int]) -> [[Int]] {
    let count = LesionClass.allCases.count
    var matrix = [[Int]](repeating: [Int](repeating: 0, count: count), count: count)
    for image in labels.indices { matrix[labels[image]][predictions[image]] += weights[image] }
    return matrix
  }

  private func calibrationBins(weights: [Int]) -> [CalibrationBin] {
    let count = Self.calibrationBinCount
    var bins = [CalibrationBin](repeating: CalibrationBin(), count: count)
    for image in labels.indices {
      // A probability of 1 belongs to the last bin.
      let bin = min(Int(confidences[image] * Double(count)), count - 1)
      bins[bin].count += weights[image]
      if labels[image] == predictions[image] { bins[bin].correctCount += weights[image] }
      bins[bin].confidenceSum += Double(weights[image]) * confidences[image]
    }
    return bins
  }

  private static func mean(_ values: [Double]) -> Double? {
    values.isEmpty ? nil : values.reduce(0, +) / Double(values.count)
  }
}
