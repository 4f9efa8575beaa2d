import DermaFusion

/// Short forms of a result, for a report's index and its signs.
extension Language {
  /// `Melanoma 81.8%`, with the class that cannot be excluded.
  func headline(_ result: Classification) -> String {
    guard let answer = result.answer else { return self["result.abstains"] }
    let prediction = "\(name(answer.prediction)) \(Wording.percentage(answer.probability, in: self))"
    guard let concern = answer.concern, let probability = answer.concernProbability else { return prediction }
    let percent = Wording.percentage(probability, in: self)
    let other = self["reportFile.cannotExclude", values: ["name": name(concern), "percent": percent]]
    return "\(prediction); \(other)"
  }

  /// The risk in a few words, and what to do in a sentence.
  func risk(_ result: Classification) -> (word: String, sentence: String) {
    let key = result.abstains ? "abstain" : result.risk?.rawValue ?? "unknown"
    let (word, sentence) = (self["risk.\(key).word"], self["risk.\(key).sentence"])
    if result.abstains { return (sentence, "\(word). \(sentence)") }
    return (word, result.risk.map { Wording.sentence(for: $0, in: self) } ?? "\(word). \(sentence)")
  }

  /// Warnings of the input and of a low confidence, a sentence each.
  func warnings(_ result: Classification) -> [String] {
    let confidence = Wording.sentence(for: result.confidence, in: self).map { [$0] } ?? []
    let several = result.isMultiLabel ? [self["result.severalClasses"]] : []
    return confidence + several + result.warningSentences(in: self)
  }
}
