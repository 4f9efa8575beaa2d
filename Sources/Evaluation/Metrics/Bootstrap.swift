import DermaFusion
import SystemModule

/// 95 % intervals by the percentile bootstrap. Units of chance are drawn rather than images: images of one lesion or patient
/// resemble each other, and drawn apart they would make the intervals too narrow.
package enum Bootstrap {
  package static let resampleCount = 1000
  package static let seed: UInt64 = 2018
  package static let level = 0.95
  /// At least as many of 100 resamples must define a number for it to get an interval. A class with one or two
  /// lesions is missing from more.
  package static let definedPercent = 95

  /// The interval of each of several numbers that `measure` takes of the images; `nil` for a number that has none.
  ///
  /// - Parameters:
  ///   - ofDifferences: whether a number that is the same in all resamples gets an interval of that one value: models
  ///     that answer alike have a difference of 0 whatever is drawn. Other numbers get none: that three of three were
  ///     found tells little of the others, and drawing from the three cannot show it; see ``ExactInterval``.
  ///   - measure: measures the images, each counted as often as its weight says; `nil` for a number that is undefined,
  ///     which the resample then does not count for.
  /// - Note: A metric that is a mean over classes is, in each resample, the mean over the classes that occur there. No
  ///   interval is given for fewer than two units.
  static func intervals(
    units: [ChanceUnit], count: Int, ofDifferences: Bool = false, measure: (_ weights: [Int]) -> [Double?]
  ) -> [ClosedRange<Double>?] {
    draws(units: units, count: count, measure: measure).map { interval(of: $0, ofDifferences: ofDifferences) }
  }

  /// The values of each number in the resamples that define it. Parameters as for
  /// ``intervals(units:count:ofDifferences:measure:)``.
  static func draws(
    units: [ChanceUnit], count: Int, measure: (_ weights: [Int]) -> [Double?]
  ) -> [[Double]] {
    var draws = [[Double]](repeating: [], count: count)
    forEachResample(of: units) { weights in
      for (index, value) in measure(weights).enumerated() {
        if let value { draws[index].append(value) }
      }
    }
    return draws
  }

  /// - Parameter body: gets how often each image counts.
  private static func forEachResample(of unitOfEachImage: [ChanceUnit], _ body: (_ weights: [Int]) -> Void) {
    let units = NameGroups(unitOfEachImage)
    guard units.count >= 2 else { return }
    var generator = SplitMix64(seed: seed)
    for _ in 0..<resampleCount {
      var timesDrawn = [Int](repeating: 0, count: units.count)
      for _ in 0..<units.count { timesDrawn[generator.index(below: units.count)] += 1 }
      body(units.ofEach.map { timesDrawn[$0] })
    }
  }

  /// The 95 % interval of a number's draws; nil where it has none.
  static func interval(of draws: [Double], ofDifferences: Bool = false) -> ClosedRange<Double>? {
    guard isDefined(draws), ofDifferences || draws.contains(where: { $0 != draws[0] }) else { return nil }
    let sorted = draws.sorted()
    return quantile(sorted, (1 - level) / 2)...quantile(sorted, (1 + level) / 2)
  }

  /// The value that 95 % of a number's draws do not exceed; nil where too few define it.
  static func upperBound(of draws: [Double]) -> Double? {
    isDefined(draws) ? quantile(draws.sorted(), level) : nil
  }

  private static func isDefined(_ draws: [Double]) -> Bool {
    draws.count * 100 >= definedPercent * resampleCount
  }

  /// Between the two nearest of the sorted values, in proportion.
  static func quantile(_ sorted: [Double], _ share: Double) -> Double {
    let place = share * Double(sorted.count - 1)
    let below = Int(place)
    let above = min(below + 1, sorted.count - 1)
    return sorted[below] + (sorted[above] - sorted[below]) * (place - Double(below))
  }
}

/// The exact 95 % interval of a share by Clopper and Pearson (Biometrika 26:404, 1934), for shares of which resamples show no
/// interval: all of three patients, none of four, one of two.
enum ExactInterval {
  static let method = "Clopper-Pearson"

  /// - Parameters:
  ///   - share: of the images, 0...1.
  ///   - units: that the images are of, at least 1. Images of one unit resemble each other, so units are counted; a number
  ///     of them that is not whole is rounded away from the nearer end of the interval.
  static func ofShare(_ share: Double, units count: Int) -> ClosedRange<Double> {
    // The same share may be a little off a whole number of units.
    let hits = share * Double(count)
    let (fewest, most) = (Int((hits + 1e-9).rounded(.down)), Int((hits - 1e-9).rounded(.up)))
    return lowerEnd(hits: fewest, of: count)...(1 - lowerEnd(hits: count - most, of: count))
  }

  /// The share at which as many hits or more have a probability of half of what lies outside of the interval.
  private static func lowerEnd(hits: Int, of count: Int) -> Double {
    let outside = (1 - Bootstrap.level) / 2
    if hits == 0 { return 0 }
    if hits == count { return Mathematics.pow(outside, 1 / Double(count)) }
    var (low, high) = (0.0, 1.0)
    for _ in 0..<60 {
      let middle = (low + high) / 2
      if probability(atLeast: hits, of: count, share: middle) < outside {
        low = middle
      } else {
        high = middle
      }
    }
    return (low + high) / 2
  }

  private static func probability(atLeast hits: Int, of count: Int, share: Double) -> Double {
    let (yes, no) = (Mathematics.log(share), Mathematics.log(1 - share))
    var (sum, logarithmOfWays) = (0.0, 0.0)
    for number in 0...count {
      if number > 0 { logarithmOfWays += Mathematics.log(Double(count - number + 1) / Double(number)) }
      if number >= hits {
        sum += Mathematics.exp(logarithmOfWays + Double(number) * yes + Double(count - number) * no)
      }
    }
    return sum
  }
}
