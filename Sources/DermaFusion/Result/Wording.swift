/// The sentences in which results are told. They say what a classification suggests and never more.
public enum Wording {
  /// Goes with every result, in every form of output, word for word; no option removes it.
  public static let disclaimer = """
    DermaFusion is a research and educational tool. It is NOT a medical device and has NOT been approved \
    by the FDA or any regulatory authority. Results should NOT be used for self-diagnosis. Always consult \
    a qualified dermatologist for skin concerns.
    """

  /// Melanoma above this probability adds ``urgentSentence`` to the summary.
  public static let urgentThreshold: Float = 0.95
  /// Added to the summary when melanoma is above ``urgentThreshold``.
  public static let urgentSentence = "An urgent consultation with a dermatologist is advised."

  /// The result in one sentence of suggestion and two of caution (three when it is urgent).
  ///
  /// The percentage is rounded to a whole number and never said to be 100: a softmax is never certain.
  package static func summary(probabilities: ClassScores) -> String {
    let prediction = probabilities.highest
    let percentage = min(Int((Double(probabilities[prediction]) * 100).rounded()), 99)
    var summary = """
      Classification suggests \(prediction.fullName) (\(percentage)% confidence). \
      This is not a diagnosis. Please consult a dermatologist.
      """
    if probabilities[.mel] > urgentThreshold { summary += " " + urgentSentence }
    return summary
  }

  /// A probability, 0...1, in percent to one decimal. A softmax is never certain, so neither 0.0 nor 100.0 is said.
  package static func percentage(_ probability: Float) -> String {
    let tenths = Int((Double(probability) * 1000).rounded())
    if tenths == 0 { return "<0.1%" }
    if tenths >= 1000 { return ">99.9%" }
    return "\(tenths / 10).\(tenths % 10)%"
  }

  /// The risk level in words, one sentence.
  public static func sentence(for risk: RiskLevel) -> String {
    switch risk {
    case .low: "Low risk classification, consult a dermatologist for confirmation."
    case .moderate: "Moderate risk classification, consult a dermatologist."
    case .high: "High risk classification, consult a dermatologist promptly."
    }
  }

  /// That the model abstains, and why; `nil` when it answers.
  public static func sentence(for abstention: Abstention) -> String? {
    if abstention.reasons.isEmpty { return nil }
    return (["The model abstains: do not rely on this result."] + abstention.reasons.map(\.sentence))
      .joined(separator: " ")
  }

  /// The confidence in words, one sentence; `nil` when there is nothing to say.
  public static func sentence(for confidence: ConfidenceLevel) -> String? {
    switch confidence {
    case .normal: nil
    case .low: "Confidence is low: no class reaches 20%."
    }
  }
}
