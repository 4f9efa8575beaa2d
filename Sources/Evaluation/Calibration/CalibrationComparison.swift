import DermaFusion

/// How a model does before and after it was fitted to images: each image is judged by a fit to the units of chance of other folds.
package struct CalibrationComparison: Sendable {
  /// A metric before and after, and after less before of the same resamples.
  package typealias Row = (
    metric: Metric, before: MeasuredValue, after: MeasuredValue, difference: MeasuredValue
  )

  /// The last of a model that abstains or not, the two before it only of a model that makes sets.
  private static func metrics(hasSets: Bool) -> [Metric] {
    [.balancedAccuracy, .expectedCalibrationError, .negativeLogLikelihood]
      + (hasSets ? [.coverage.named("coverage", "Coverage of the sets"), .meanSetSize] : [])
      + [.abstainedShare.named("abstained", "Share abstained from")]
  }

  package static let foldCount = 5
  /// Seed of the split of the units into folds.
  package static let seed: UInt64 = 2018

  package let rows: [Row]

  /// - Parameters:
  ///   - images: of at least ``foldCount`` units.
  ///   - present: the model as it is.
  ///   - fit: fits it to images.
  package init(
    _ images: [ModelCalibration.Image], present: ModelCalibration,
    fit: ([ModelCalibration.Image]) -> ModelCalibration
  ) {
    let folds = Self.folds(images.map(\.unit))
    var fitted: [EvaluatedImage?] = Array(repeating: nil, count: images.count)
    for held in 0..<Self.foldCount {
      let others = images.indices.filter { folds[$0] != held }.map { images[$0] }
      let calibration = fit(others)
      for index in images.indices where folds[index] == held {
        fitted[index] = calibration.evaluated(images[index])
      }
    }
    let metrics = Self.metrics(hasSets: present.limits != nil)
    let before = EvaluationSet(images.map(present.evaluated))
    let after = EvaluationSet(fitted.compactMap { $0 })
    /// Three values for each metric: before, after and their difference.
    func measure(_ weights: [Int]) -> [Double?] {
      zip(before.list(of: metrics, weights: weights), after.list(of: metrics, weights: weights)).flatMap {
        [$0, $1, Metric.difference($0, $1)]
      }
    }
    let values = measure([Int](repeating: 1, count: images.count))
    let intervals = Bootstrap.intervals(
      units: images.map(\.unit), count: values.count, measure: measure)
    let measured = zip(values, intervals).map(MeasuredValue.init)
    rows = metrics.enumerated().map { index, metric in
      (metric, measured[3 * index], measured[3 * index + 1], measured[3 * index + 2])
    }
  }

  /// What is said of the model after: whether its log loss is lower than before, beyond the interval of the difference.
  package var isBetter: Bool { logLoss.difference.interval.map { $0.upperBound < 0 } ?? false }

  package var logLoss: Row { rows.first { $0.metric.key == Metric.negativeLogLikelihood.key }! }

  /// The fold of each image; images of one unit are in one fold.
  static func folds(_ unitOfEachImage: [ChanceUnit]) -> [Int] {
    let groups = NameGroups(unitOfEachImage)
    var places = Array(0..<groups.count)
    var generator = SplitMix64(seed: seed)
    for last in places.indices.dropFirst().reversed() {
      places.swapAt(last, generator.index(below: last + 1))
    }
    var foldOfGroup = [Int](repeating: 0, count: groups.count)
    for (place, group) in places.enumerated() { foldOfGroup[group] = place % foldCount }
    return groups.ofEach.map { foldOfGroup[$0] }
  }
}
