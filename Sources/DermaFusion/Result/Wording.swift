/// The sentences that describe results. They say what a classification suggests, and never more.
public enum Wording {
  /// Goes with every result, in every form of output, word for word; no option removes it.
  public static let disclaimer = """
    DermaFusion is a research and educational tool. It is NOT a medical device and has NOT been approved \
    by the FDA or any regulatory authority. Results should NOT be used for self-diagnosis. Always consult \
    a qualified dermatologist for skin concerns.
    """

  /// Above this probability of a class that is melanoma (``LesionLabel/isMelanoma``) an urgent consultation is advised.
  public static let urgentThreshold: Float = 0.95
  /// The summary's last sentence if ``Classification/isUrgent`` is true.
  public static let urgentSentence = "An urgent consultation with a dermatologist is advised."

  /// The sentences that every summary contains.
  static let caution = "This is not a diagnosis. Please consult a dermatologist."

  /// That no class is suggested, and why.
  ///
  /// - Parameter reasons: at least one.
  public static func abstention(_ reasons: [AbstentionReason]) -> String {
    (["No classification is suggested: the model abstains."] + reasons.map { $0.sentence })
      .joined(separator: " ")
  }

  /// Rounded to a whole number of percent, 0...99: a softmax is never certain. Sentences say 0 as "less than 1%".
  ///
  /// - Parameter probability: 0...1
  package static func wholePercent(_ probability: Float) -> Int {
    min(Int((Double(probability) * 100).rounded()), 99)
  }

  /// ``wholePercent(_:)`` in words: `81%`.
  package static func wholePercentage(_ probability: Float) -> String {
    let percent = wholePercent(probability)
    return percent == 0 ? "less than 1%" : "\(percent)%"
  }

  /// A probability, 0...1, in percent to one decimal. A softmax is never certain, so it is neither 0.0 nor 100.0.
  package static func percentage(_ probability: Float) -> String {
    let tenths = Int((Double(probability) * 1000).rounded())
    if tenths == 0 { return "<0.1%" }
    if tenths >= 1000 { return ">99.9%" }
    return "\(tenths / 10).\(tenths % 10)%"
  }

  /// What the probabilities of a model are if several classes may be right at once.
  package static let severalClasses =
    "Each class has a probability of its own, because several may be right at once; they do not add up to 100%."

  /// The risk level in words, one sentence.
  public static func sentence(for risk: RiskLevel) -> String {
    switch risk {
    case .low: "Low risk classification, consult a dermatologist for confirmation."
    case .moderate: "Moderate risk classification, consult a dermatologist."
    case .high: "High risk classification, consult a dermatologist promptly."
    }
  }

  /// The confidence in words, one sentence; `nil` when there is nothing to say.
  public static func sentence(for confidence: ConfidenceLevel) -> String? {
    switch confidence {
    case .normal: nil
    case .low: "Confidence is low: no class reaches \(wholePercentage(ConfidenceLevel.lowThreshold))."
    }
  }
}

extension Wording {
  /// The result in words. The first sentence names the prediction, and the class that raised the risk if that is another
  /// one. Two sentences of caution follow, and a third if it is urgent. Of an abstention it gives the reasons.
  public static func summary(of outcome: Classification.Outcome) -> String {
    switch outcome {
    case .abstained(let reasons): return "\(abstention(reasons)) \(caution)"
    case .answer(let answer):
      return "\(suggestion(answer)). \(caution)" + (answer.isUrgent ? " \(urgentSentence)" : "")
    }
  }

  /// `Classification suggests Melanoma (81% confidence)`, with the class that cannot be excluded; without a full stop.
  package static func suggestion(_ answer: Classification.Answer) -> String {
    let prediction =
      "Classification suggests \(answer.prediction.name) (\(wholePercentage(answer.probability)) confidence)"
    guard let concern = answer.concern, let probability = answer.concernProbability else { return prediction }
    return "\(prediction); \(concern.name) cannot be excluded (\(wholePercentage(probability)))"
  }
}

extension Classification {
  /// The result in words, hedged.
  public var summary: String { Wording.summary(of: outcome) }
  /// ``Wording/disclaimer``. Show it wherever a result is shown.
  public var disclaimer: String { Wording.disclaimer }
}
