import SystemModule

/// What turns logits into the probabilities of a model's classes.
package struct Calibration: Sendable {
  package let labels: Labels
  /// Above 0; the logits are divided by it before softmax.
  package let temperature: Double

  /// - Parameter logits: one for each label.
  /// - Throws: ``DermaFusionError/Code/nonFiniteOutput``
  package func scores(_ logits: [Float]) throws(DermaFusionError) -> ClassScores {
    guard logits.allSatisfy({ $0.isFinite }) else { throw .nonFiniteLogits(logits) }
    return ClassScores(logits, labels: labels)
  }

  /// Softmax of the logits at the temperature.
  ///
  /// - Throws: ``DermaFusionError/Code/nonFiniteOutput``
  package func probabilities(_ logits: [Float]) throws(DermaFusionError) -> ClassScores {
    try probabilities(of: scores(logits))
  }

  /// Softmax of scores that were checked.
  package func probabilities(of scores: ClassScores) -> ClassScores {
    scores.softmax(temperature: temperature)
  }
}
