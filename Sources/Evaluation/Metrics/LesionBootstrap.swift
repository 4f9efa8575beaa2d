import DermaFusion

/// 95 % intervals by the percentile bootstrap. Lesions are drawn rather than images: images of one lesion resemble
/// each other, and drawn apart they would make the intervals too narrow.
package enum LesionBootstrap {
  package static let resampleCount = 1000
  package static let seed: UInt64 = 2018
  package static let level = 0.95
  /// Of 100 resamples, at least as many must define a number for it to get an interval. A class with one or two
  /// lesions is missing from more.
  package static let definedPercent = 95

  /// The interval of each of several numbers that `measure` takes of the images; `nil` for a number that has none.
  ///
  /// - Parameters:
  ///   - lesions: of each image; or their patients, who are drawn in the same way.
  ///   - ofDifferences: whether a number that is the same in all resamples gets an interval of that one value: models
  ///     that answer alike have a difference of 0 whatever is drawn. Other numbers get none: that three of three were
  ///     found tells little of the others, and drawing from the three cannot show it.
  ///   - measure: measures the images, each counted as often as its weight says; `nil` for a number that is undefined,
  ///     which the resample then does not count for.
  /// - Note: A metric that is a mean over classes is, in each resample, the mean over the classes that occur there. No
  ///   interval is given for fewer than two lesions.
  static func intervals(
    lesions: [String], count: Int, ofDifferences: Bool = false, measure: (_ weights: [Int]) -> [Double?]
  ) -> [ClosedRange<Double>?] {
    var draws = [[Double]](repeating: [], count: count)
    forEachResample(of: lesions) { weights in
      for (index, value) in measure(weights).enumerated() {
        if let value { draws[index].append(value) }
      }
    }
    return draws.map { values in
      ofDifferences || values.contains { $0 != values[0] } ? range(of: values) : nil
    }
  }

  /// - Parameter body: gets how often each image counts.
  private static func forEachResample(of lesionOfEachImage: [String], _ body: (_ weights: [Int]) -> Void) {
    let lesions = NameGroups(lesionOfEachImage)
    guard lesions.count >= 2 else { return }
    var generator = SplitMix64(seed: seed)
    for _ in 0..<resampleCount {
      var timesDrawn = [Int](repeating: 0, count: lesions.count)
      for _ in 0..<lesions.count { timesDrawn[generator.index(below: lesions.count)] += 1 }
      body(lesions.ofEach.map { timesDrawn[$0] })
    }
  }

  private static func range(of values: [Double]) -> ClosedRange<Double>? {
    guard values.count * 100 >= definedPercent * resampleCount else { return nil }
    let sorted = values.sorted()
    return quantile(sorted, (1 - level) / 2)...quantile(sorted, (1 + level) / 2)
  }

  /// Between the two nearest of the sorted values, in proportion.
  static func quantile(_ sorted: [Double], _ share: Double) -> Double {
    let place = share * Double(sorted.count - 1)
    let below = Int(place)
    let above = min(below + 1, sorted.count - 1)
    return sorted[below] + (sorted[above] - sorted[below]) * (place - Double(below))
  }
}

/// Images grouped by a name such as their lesion's. Names are the same where their bytes are: Swift's strings are equal too
/// where they only look the same.
package struct NameGroups {
  /// How many different names there are.
  package let count: Int
  /// Of each image, the place of its name among all in the order of their bytes.
  package let ofEach: [Int]

  package init(_ names: [String]) {
    let keys = names.map { Array($0.utf8) }
    let sorted = Set(keys).sorted { $0.lexicographicallyPrecedes($1) }
    let places = Dictionary(uniqueKeysWithValues: sorted.enumerated().map { ($1, $0) })
    count = sorted.count
    ofEach = keys.map { places[$0]! }
  }
}
