/// The probabilities from which classes enter the 90 % set; the definition is `conformal_thresholds` of
/// `Scripts/dermafusion_training/evaluation/abstention_fit.py`.
package enum ConformalFit {
  /// The share of each class's images whose set holds it.
  package static let coverage = 0.9

  /// Per class, the probability that its own images reach with ``coverage``; 0 where too few are known.
  ///
  /// - Parameters:
  ///   - probabilities: `[images][classes]`
  ///   - labels: the class of each image.
  package static func thresholds(_ probabilities: [[Double]], labels: [Int], classCount: Int) -> [Double] {
    (0..<classCount).map { label in
      let own = zip(probabilities, labels).filter { $0.1 == label }.map { $0.0[label] }.sorted()
      // 1 - 0.9 is a little less than 0.1, and would lose one where the product is whole.
      let allowed = Int((1 - coverage) * Double(own.count + 1) + 1e-9)
      return allowed >= 1 ? own[allowed - 1] : 0
    }
  }
}
