import DermaFusion
import Files

/// How often a model abstained on a set of images, and whether its sets of classes hold what they state.
package struct AbstentionFigures: Sendable, Equatable {
  /// The share of images on which the model abstained, 0...1.
  package let abstainedShare: Double
  /// Balanced accuracy on the others; `nil` when there is none.
  package let answeredBalancedAccuracy: Double?
  /// What is said of the sets of classes; `nil` for a model that makes none.
  package let sets: Sets?

  /// The sets of all images, also of those on which the model abstained.
  package struct Sets: Sendable, Equatable {
    /// The share of images whose class should be in their set.
    package let statedCoverage: Double
    /// The share of images whose class is in their set.
    package let coverage: Double
    /// Classes a set, at least 1.
    package let meanSize: Double
  }

  /// - Parameter images: at least one.
  package init(_ images: [EvaluatedImage]) {
    let answered = images.filter { $0.abstention.reasons.isEmpty }
    abstainedShare = Double(images.count - answered.count) / Double(images.count)
    answeredBalancedAccuracy =
      answered.isEmpty ? nil : EvaluationSet(answered).figures()[.balancedAccuracy]
    let sets = images.compactMap { image in image.abstention.conformalSet.map { (image.label, $0) } }
    self.sets =
      sets.isEmpty
      ? nil
      : Sets(
        statedCoverage: sets[0].1.coverage,
        coverage: Double(sets.count { label, set in set.classes.contains(label) }) / Double(sets.count),
        meanSize: Double(sets.reduce(0) { $0 + $1.1.classes.count }) / Double(sets.count))
  }

  var json: JSONValue {
    .object([
      "abstained": .number(abstainedShare),
      "balancedAccuracyAnswered": answeredBalancedAccuracy.map(JSONValue.number) ?? .null,
      "statedCoverage": sets.map { .number($0.statedCoverage) } ?? .null,
      "foundCoverage": sets.map { .number($0.coverage) } ?? .null,
      "meanSetSize": sets.map { .number($0.meanSize) } ?? .null,
    ])
  }
}
