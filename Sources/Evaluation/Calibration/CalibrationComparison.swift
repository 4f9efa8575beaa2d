import DermaFusion

/// How a model does before and after it was fitted to images: each image is judged by a fit to the lesions of other folds.
package struct CalibrationComparison: Sendable {
  package enum Figure: String, Sendable, CaseIterable {
    case balancedAccuracy, ece, negativeLogLikelihood
    /// The share of images whose class is in their set.
    case coverage
    case meanSetSize
    /// The share of images that the model abstains from.
    case abstained
  }

  package struct Value: Sendable, Equatable {
    /// `nil` where it cannot be told from the images.
    package let value: Double?
    /// 95 %, by lesion.
    package let interval: ClosedRange<Double>?
  }

  package struct Row: Sendable, Equatable {
    package let figure: Figure
    package let before: Value
    package let after: Value
    /// After less before, of the same resamples.
    package let difference: Value
  }

  package static let foldCount = 5
  /// Of the way in which the lesions are dealt out to the folds.
  package static let seed: UInt64 = 2018

  /// Coverage and size only of a model that makes sets.
  package let rows: [Row]

  /// - Parameters:
  ///   - images: of at least ``foldCount`` lesions.
  ///   - present: the model as it is.
  ///   - stored: see ``ModelCalibration/init(fittedTo:hasLimits:stored:)``.
  package init(
    _ images: [CalibrationImage], present: ModelCalibration, stored: ([Double]) -> [Double] = { $0 }
  ) {
    let folds = Self.folds(images.map(\.lesion))
    var fitted: [EvaluatedImage?] = Array(repeating: nil, count: images.count)
    for held in 0..<Self.foldCount {
      let others = images.indices.filter { folds[$0] != held }.map { images[$0] }
      let calibration = ModelCalibration(fittedTo: others, hasLimits: present.limits != nil, stored: stored)
      for index in images.indices where folds[index] == held {
        fitted[index] = calibration.evaluated(images[index])
      }
    }
    let before = Measured(images.map(present.evaluated))
    let after = Measured(fitted.compactMap { $0 })
    let figures = Figure.allCases.filter {
      present.limits != nil || ![.coverage, .meanSetSize].contains($0)
    }
    func measure(_ weights: [Int]) -> [Double?] {
      let (old, new) = (before.figures(weights), after.figures(weights))
      return figures.flatMap { figure -> [Double?] in
        let pair = (old[figure], new[figure])
        let difference: Double? = if let old = pair.0, let new = pair.1 { new - old } else { nil }
        return [pair.0, pair.1, difference]
      }
    }
    let values = measure([Int](repeating: 1, count: images.count))
    let intervals = LesionBootstrap.intervals(
      lesions: images.map(\.lesion), count: values.count, measure: measure)
    rows = figures.enumerated().map { index, figure in
      let three = (0..<3).map { Value(value: values[3 * index + $0], interval: intervals[3 * index + $0]) }
      return Row(figure: figure, before: three[0], after: three[1], difference: three[2])
    }
  }

  /// The fold of each image; images of one lesion are in one fold.
  static func folds(_ lesionOfEachImage: [String]) -> [Int] {
    var lesions = Set(lesionOfEachImage).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    var generator = SplitMix64(seed: seed)
    for last in lesions.indices.dropFirst().reversed() {
      lesions.swapAt(last, generator.index(below: last + 1))
    }
    let places = Dictionary(uniqueKeysWithValues: lesions.enumerated().map { ($1, $0) })
    return lesionOfEachImage.map { places[$0, default: 0] % foldCount }
  }
}

/// Images prepared to be counted under weights.
private struct Measured {
  private let set: EvaluationSet
  private let isCovered: [Bool]
  private let sizes: [Int]
  private let abstains: [Bool]

  init(_ images: [EvaluatedImage]) {
    set = EvaluationSet(images)
    isCovered = images.map { image in image.abstention.conformalSet?.classes.contains(image.label) ?? false }
    sizes = images.map { $0.abstention.conformalSet?.classes.count ?? 0 }
    abstains = images.map { !$0.abstention.reasons.isEmpty }
  }

  func figures(_ weights: [Int]) -> [CalibrationComparison.Figure: Double] {
    let figures = set.figures(weights: weights)
    let total = Double(weights.reduce(0, +))
    func mean(_ value: (Int) -> Int) -> Double {
      Double(weights.indices.reduce(0) { $0 + weights[$1] * value($1) }) / total
    }
    var all: [CalibrationComparison.Figure: Double] = [
      .coverage: mean { isCovered[$0] ? 1 : 0 }, .meanSetSize: mean { sizes[$0] },
      .abstained: mean { abstains[$0] ? 1 : 0 },
    ]
    all[.balancedAccuracy] = figures[.balancedAccuracy]
    all[.ece] = figures[.expectedCalibrationError]
    all[.negativeLogLikelihood] = figures[.negativeLogLikelihood]
    return all
  }
}
