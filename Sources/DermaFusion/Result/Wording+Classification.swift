extension Wording {
  /// The result in words: one sentence of suggestion, which names the class that makes the risk moderate or high too where
  /// it is not the likeliest, and two of caution (three when it is urgent); or that nothing is suggested, and why.
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
