import DermaFusion
import SystemModule

/// The judgement of one part of a calibration by its own figure, of which less is better.
package struct CalibrationVerdict: Sendable {
  package let part: CalibrationPart
  package let figure: Metric
  package let before: MeasuredValue
  package let after: MeasuredValue
  /// After less before.
  package let difference: MeasuredValue
  /// The one-sided bound of 95 % above the difference; nil where there is none.
  package let upperBound: Double?
  /// Metrics that are worse than before with the whole of their 95 % interval.
  package let worse: [Metric]
  /// The mean growth of the sets, in classes; nil for a part that leaves them as they are.
  package let growth: Double?
  /// The number of units that the images are of.
  let unitCount: Int

  /// The most that sets may grow by: a coverage nearer to its goal is easily bought with larger sets.
  package static let mostGrowth = 0.5

  /// - Parameters:
  ///   - before, after: the same images without and with the part.
  init(_ part: CalibrationPart, before: EvaluationSet, after: EvaluationSet) {
    self.part = part
    figure = part.figure
    let guards = part.changesProbabilities ? Self.guards.filter { $0.metric.applies(to: before.labels) } : []
    let measured = PairedMeasurement(before, after, metrics: [figure] + guards.map(\.metric))
    (self.before, self.after) = (measured.before(0), measured.after(0))
    difference = measured.difference(0)
    upperBound = measured.upperBound(0)
    worse = guards.enumerated().filter { place, one in
      guard let interval = measured.difference(place + 1).interval else { return false }
      return one.isBetterBelow ? interval.lowerBound > 0 : interval.upperBound < 0
    }.map(\.element.metric)
    let sizes =
      part == .sets ? [before, after].compactMap { $0.values(of: [.meanSetSize])[.meanSetSize] } : []
    growth = sizes.count == 2 ? sizes[1] - sizes[0] : nil
    unitCount = NameGroups(before.units).count
  }

  /// Metrics that no part may make worse.
  private static let guards: [(metric: Metric, isBetterBelow: Bool)] = [
    (.negativeLogLikelihood, true), (.balancedAccuracy, false), (.melanomaSensitivityAt90Specificity, false),
  ]

  /// True if the figure fell, beyond chance.
  package var isLower: Bool { upperBound.map { $0 < 0 } ?? false }

  /// True if the part is to be kept.
  package var isBetter: Bool { isLower && worse.isEmpty && (growth ?? 0) <= Self.mostGrowth }

  /// About how many units would decide if the figure fell as much in them: an interval is narrower by the root of their number. Nil
  /// where it did fall beyond chance, where it did not fall at all, and where more than ``mostTimes`` as many were needed.
  package var decidingUnitCount: Int? {
    guard let value = difference.value, value < 0, let upperBound, upperBound >= 0 else { return nil }
    let times = (upperBound - value) / -value
    let count = Double(unitCount) * times * times
    guard count <= Self.mostTimes * Double(unitCount) else { return nil }
    let digits = Mathematics.pow(10, Double(max(0, String(Int(count)).utf8.count - 2)))
    return Int((count / digits).rounded(.up) * digits)
  }

  private static let mostTimes = 100.0
}

extension CalibrationPart {
  /// The figure that the part is judged by.
  var figure: Metric {
    switch self {
    case .probabilities, .lastLayer: .negativeLogLikelihood
    case .sets: .coverageDistance
    case .distance: .falseAlarmDistance
    }
  }
}

extension Metric {
  /// The share of images that are unlike those that the model was trained on, whatever else is said of them.
  static let falseAlarms = Metric("falseAlarms", "Share beyond the distance") { tally in
    let far = zip(tally.set.images, tally.weights).reduce(0) {
      $0 + ($1.0.abstention.reasons.contains(.outOfDistribution) ? $1.1 : 0)
    }
    return Double(far) / Double(tally.total)
  }

  /// The distance of ``falseAlarms`` from ``ModelCalibration/falseAlarms``, up or down.
  static let falseAlarmDistance = Metric("falseAlarmDistance", "False alarms' distance from 0.01") {
    falseAlarms.compute($0).map { abs($0 - ModelCalibration.falseAlarms) }
  }

  /// The distance of ``coverage`` from ``ModelCalibration/coverage``, up or down.
  static let coverageDistance = Metric("coverageDistance", "Coverage's distance from 0.9") {
    coverage.compute($0).map { abs($0 - ModelCalibration.coverage) }
  }
}
