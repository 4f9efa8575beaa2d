import Files
import ImagePipeline

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
  public static var urgentSentence: String { Language.english["result.urgent"] }

  /// That no class is suggested, and why.
  ///
  /// - Parameters:
  ///   - reasons: at least one.
  ///   - language: of the sentence.
  public static func abstention(_ reasons: [AbstentionReason], in language: Language = .english) -> String {
    ([language["result.noClassification"]] + reasons.map { $0.sentence(in: language) })
      .joined(separator: " ")
  }

  /// The probabilities at which a result gets other words.
  private static let limits = [
    RiskLevel.moderateThreshold, ConfidenceLevel.lowThreshold, RiskLevel.highThreshold,
  ]

  /// A probability in units of `1 / scale`, rounded to the nearest, but down from below a limit. So 0.298 beside "moderate
  /// risk" is 29 %: 30 % is high risk.
  private static func rounded(_ probability: Float, scale: Double) -> Int {
    let nearest = { (share: Float) in Int((Double(share) * scale).rounded()) }
    let number = nearest(probability)
    return limits.contains { probability < $0 && number == nearest($0) } ? number - 1 : number
  }

  /// A probability, 0...1, in whole percent: `81%`. A softmax is never certain, so it is neither 0 nor 100.
  package static func wholePercentage(_ probability: Float, in language: Language = .english) -> String {
    let percent = min(rounded(probability, scale: 100), 99)
    return percent == 0 ? language["result.belowOnePercent"] : language.number("\(percent)%")
  }

  /// A probability, 0...1, in percent to one decimal. A softmax is never certain, so it is neither 0.0 nor 100.0.
  package static func percentage(_ probability: Float, in language: Language = .english) -> String {
    let tenths = rounded(probability, scale: 1000)
    if tenths == 0 { return language.number("<0.1%") }
    if tenths >= 1000 { return language.number(">99.9%") }
    return language.number("\(tenths / 10).\(tenths % 10)%")
  }

  /// The risk level in words, one sentence.
  public static func sentence(for risk: RiskLevel, in language: Language = .english) -> String {
    language["risk.\(risk.rawValue).full"]
  }

  /// The confidence in words, one sentence; `nil` when there is nothing to say.
  public static func sentence(for confidence: ConfidenceLevel, in language: Language = .english) -> String? {
    switch confidence {
    case .normal: nil
    case .low: language["result.lowConfidence"]
    }
  }
}

extension Wording {
  /// The result in words. The first sentence names the prediction, and the class that raised the risk if that is another
  /// one. Two sentences of caution follow, and a third if it is urgent. Of an abstention it gives the reasons.
  public static func summary(of outcome: Classification.Outcome, in language: Language = .english) -> String {
    let caution = language["result.notDiagnosis"]
    switch outcome {
    case .abstained(let reasons): return "\(abstention(reasons, in: language)) \(caution)"
    case .answer(let answer):
      let urgent = answer.isUrgent ? " \(language["result.urgent"])" : ""
      return "\(suggestion(answer, in: language)) \(caution)\(urgent)"
    }
  }

  /// `Classification suggests Melanoma (81% confidence).`, with the class that cannot be excluded.
  package static func suggestion(
    _ answer: Classification.Answer, in language: Language = .english
  ) -> String {
    var values = [
      "name": language.name(answer.prediction),
      "percent": wholePercentage(answer.probability, in: language),
    ]
    guard let concern = answer.concern, let probability = answer.concernProbability else {
      return language["result.suggests", values: values]
    }
    values["other"] = language.name(concern)
    values["otherPercent"] = wholePercentage(probability, in: language)
    return language["result.suggestsBoth", values: values]
  }
}

extension AbstentionReason {
  /// The reason in words, one sentence.
  public var sentence: String { sentence(in: .english) }

  /// The reason in words, one sentence.
  public func sentence(in language: Language) -> String { language["abstain.\(rawValue)"] }
}

extension ClassificationWarning {
  /// The warning in words, one sentence.
  public var sentence: String { sentence(nil) }

  /// The warning in words, one sentence.
  ///
  /// - Parameters:
  ///   - detail: what it says of this image; nil where it says of many, or has no detail.
  ///   - language: of the sentence.
  public func sentence(_ detail: String?, in language: Language = .english) -> String {
    if detail == nil, let text = language.text("withoutDetail.\(rawValue)") { return text }
    return language["warnings.\(rawValue)", values: detail.map { ["detail": $0] } ?? [:]]
  }
}

extension PatientMetadata {
  /// `age 55, male, site missing`
  package func description(in language: Language) -> String {
    let age = ageInYears.map {
      language["text.age", values: ["age": language.number(JSONValue.decimal($0))]]
    }
    let site = site == .unknown ? language["text.siteMissing"] : language["sites.\(site.rawValue)"]
    return "\(age ?? language["text.ageMissing"]), \(language["text.sexes.\(sex.rawValue)"]), \(site)"
  }
}

extension Classification {
  /// The result in words, hedged.
  public var summary: String { summary(in: .english) }
  /// The result in words, hedged.
  public func summary(in language: Language) -> String { Wording.summary(of: outcome, in: language) }
  /// The warnings in words, a sentence each.
  public var warningSentences: [String] { warningSentences(in: .english) }
  /// The warnings in words, a sentence each.
  public func warningSentences(in language: Language) -> [String] {
    warnings.map { $0.sentence(warningDetails[$0], in: language) }
  }
  /// ``Wording/disclaimer``. Show it wherever a result is shown.
  public var disclaimer: String { Wording.disclaimer }
}
