import SystemModule

/// Logits to probabilities.
package enum Softmax {
  /// `exp(logit / temperature)` over the sum of all, computed in Double; the largest logit is subtracted first, so no
  /// finite logits overflow.
  ///
  /// - Parameter temperature: Above 0; above 1 evens the probabilities out.
  package static func probabilities(_ logits: [Float], temperature: Double = 1) -> [Float] {
    precondition(temperature > 0, "a temperature of \(temperature)")
    let largest = logits.max() ?? 0
    let exponentials = logits.map { Mathematics.exp((Double($0) - Double(largest)) / temperature) }
    let sum = exponentials.reduce(0, +)
    return exponentials.map { Float($0 / sum) }
  }
}
