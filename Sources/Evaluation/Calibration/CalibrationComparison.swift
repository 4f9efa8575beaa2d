import DermaFusion
import SystemModule

/// A model's figures before and after it was fitted to images, and which parts of the fit are better than what was there. Each
/// image is judged by a fit to the units of chance of other folds.
package struct CalibrationComparison: Sendable {
  /// A metric before and after, and after less before of the same resamples.
  package typealias Row = (
    metric: Metric, before: MeasuredValue, after: MeasuredValue, difference: MeasuredValue
  )

  package static let foldCount = 10
  /// Seed of the split of the units into folds.
  package static let seed: UInt64 = 2018

  /// One for each part that the model has, in the order in which they were judged.
  package let verdicts: [CalibrationVerdict]
  /// Those that the new model has: the better ones, or all if that was asked for.
  package let kept: Set<CalibrationPart>
  /// The parts of the model that ``rows`` are of: those that were kept, or all where none was.
  package var fittedParts: Set<CalibrationPart> { kept.isEmpty ? Set(verdicts.map(\.part)) : kept }
  /// The model before, and after with ``fittedParts``.
  package let rows: [Row]

  /// - Parameters:
  ///   - images: of at least ``foldCount`` units.
  ///   - method: fits the model to the images of all folds but one.
  ///   - changesLastLayer: true to fit the last layer's weights too; each image has features then.
  ///   - keepsAll: true to keep parts that are no better too.
  package init(
    _ images: [ModelCalibration.Image], by method: CalibrationMethod, changesLastLayer: Bool = false,
    keepsAll: Bool = false
  ) {
    let hasLimits = method.present.limits != nil
    let parts = CalibrationPart.allCases.filter {
      switch $0 {
      case .probabilities: true
      case .lastLayer: changesLastLayer
      case .sets, .distance: hasLimits
      }
    }
    let fits = CrossFits(images, by: method, changesLastLayer: changesLastLayer)
    let before = EvaluationSet(images.map(method.present.evaluated))
    var current = before
    var kept: Set<CalibrationPart> = []
    verdicts = parts.map { part in
      let next = fits.evaluated(kept.union([part]))
      let verdict = CalibrationVerdict(part, before: current, after: next)
      if verdict.isBetter || keepsAll {
        kept.insert(part)
        current = next
      }
      return verdict
    }
    self.kept = kept
    rows = Self.rows(
      before, kept.isEmpty ? fits.evaluated(Set(parts)) : current,
      metrics: Self.metrics(before.labels, hasLimits))
  }

  private static func metrics(_ labels: Labels, _ hasLimits: Bool) -> [Metric] {
    var metrics: [Metric] = [
      .negativeLogLikelihood, .balancedAccuracy, .melanomaSensitivityAt90Specificity,
      .expectedCalibrationError,
    ]
    if hasLimits {
      metrics += [.coverage.named("coverage", "Coverage of the sets"), .meanSetSize, .falseAlarms]
    }
    metrics.append(.abstainedShare.named("abstained", "Share abstained from"))
    return metrics.filter { $0.applies(to: labels) }
  }

  private static func rows(_ before: EvaluationSet, _ after: EvaluationSet, metrics: [Metric]) -> [Row] {
    let measured = PairedMeasurement(before, after, metrics: metrics)
    return metrics.enumerated().map { index, metric in
      (metric, measured.before(index), measured.after(index), measured.difference(index))
    }
  }

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

/// Fits to all folds but one, each made once.
private struct CrossFits {
  private let images: [ModelCalibration.Image]
  private let present: ModelCalibration
  private let folds: [Int]
  /// Each fold's fits to the other folds, without and with the last layer's weights.
  private let fits: [(plain: CalibrationFit, changed: CalibrationFit?)]

  init(_ images: [ModelCalibration.Image], by method: CalibrationMethod, changesLastLayer: Bool) {
    self.images = images
    present = method.present
    let folds = CalibrationComparison.folds(images.map(\.unit))
    self.folds = folds
    fits = (0..<CalibrationComparison.foldCount).map { held in
      let others = images.indices.filter { folds[$0] != held }.map { images[$0] }
      return (method.fit(others), changesLastLayer ? method.fit(others, changesLastLayer: true) : nil)
    }
  }

  /// Each image by the model whose parts were fitted to the other folds.
  func evaluated(_ parts: Set<CalibrationPart>) -> EvaluationSet {
    var evaluated: [EvaluatedImage?] = Array(repeating: nil, count: images.count)
    for (held, fit) in fits.enumerated() {
      let calibration = ModelCalibration(
        parts, fit: (parts.contains(.lastLayer) ? fit.changed : nil) ?? fit.plain,
        fittedTo: images.indices.filter { folds[$0] != held }.map { images[$0] }, from: present)
      for index in images.indices where folds[index] == held {
        evaluated[index] = calibration.evaluated(images[index])
      }
    }
    return EvaluationSet(evaluated.compactMap { $0 })
  }
}

/// Metrics of two models on the same images, with the bootstrap's draws of each and of the second less the first.
struct PairedMeasurement {
  private let values: [Double?]
  private let draws: [[Double]]

  init(_ before: EvaluationSet, _ after: EvaluationSet, metrics: [Metric]) {
    /// Three values for each metric: before, after and their difference.
    func measure(_ weights: [Int]) -> [Double?] {
      zip(before.list(of: metrics, weights: weights), after.list(of: metrics, weights: weights)).flatMap {
        [$0, $1, Metric.difference($0, $1)]
      }
    }
    values = measure([Int](repeating: 1, count: before.images.count))
    draws = Bootstrap.draws(units: before.units, count: values.count, measure: measure)
  }

  func before(_ metric: Int) -> MeasuredValue { measured(3 * metric) }
  func after(_ metric: Int) -> MeasuredValue { measured(3 * metric + 1) }
  func difference(_ metric: Int) -> MeasuredValue { measured(3 * metric + 2) }

  private func measured(_ place: Int) -> MeasuredValue {
    MeasuredValue(value: values[place], interval: Bootstrap.interval(of: draws[place]))
  }

  /// The least number above which the difference lies in one of 20 resamples only.
  func upperBound(_ metric: Int) -> Double? { Bootstrap.upperBound(of: draws[3 * metric + 2]) }
}
