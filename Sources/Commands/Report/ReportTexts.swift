import DermaFusion
import Files

/// The words of a report in one language: those of the browser page, whose files of texts are part of the program.
struct ReportTexts: Sendable {
  enum Language: String, CaseIterable, Sendable {
    case en, de, fr
  }

  let language: Language
  private let texts: JSONValue

  init(_ language: Language) {
    self.language = language
    let bytes =
      switch language {
      case .en: PackageResources.en_json
      case .de: PackageResources.de_json
      case .fr: PackageResources.fr_json
      }
    do throws(DermaFusionError) {
      texts = try JSONParser.parse(bytes)
    } catch {
      preconditionFailure("the texts of \(language.rawValue): \(error)")
    }
  }

  /// The text of that name, a path with dots between its parts, with `{name}` replaced by values. One with `one` and `other` is
  /// chosen by `count`, which is a value too.
  subscript(
    _ key: String, count count: Double? = nil, values values: KeyValuePairs<String, String> = [:]
  ) -> String {
    var found = value(key)
    if let count, case .object(let forms)? = found { found = forms[isOne(count) ? "one" : "other"] }
    guard case .string(var text)? = found else { preconditionFailure("there is no text \(key)") }
    if let count { text = text.replacing("{count}", with: number(count)) }
    for (name, value) in values { text = text.replacing("{\(name)}", with: value) }
    return text
  }

  private func value(_ key: String) -> JSONValue? {
    key.split(separator: ".").reduce(Optional(texts)) { found, name in
      if case .object(let object)? = found { object[String(name)] } else { nil }
    }
  }

  /// French counts nought as one.
  private func isOne(_ count: Double) -> Bool { language == .fr ? abs(count) < 2 : count == 1 }

  private func number(_ value: Double) -> String {
    let text = JSONValue.decimal(value)
    return language == .en ? text : text.replacing(".", with: ",")
  }
}

// MARK: - Of results

/// English sentences on results are those of every other output.
extension ReportTexts {
  /// `81.8%`, `81,8 %`
  func percentage(_ probability: Float) -> String { inLanguage(Wording.percentage(probability)) }

  private func inLanguage(_ percentage: String) -> String {
    switch language {
    case .en: percentage
    case .de: percentage.replacing(".", with: ",").replacing("%", with: "\u{A0}%")
    case .fr: percentage.replacing(".", with: ",").replacing("%", with: "\u{202F}%")
    }
  }

  /// The language's own name for a class if it has one, otherwise the model's.
  func name(_ label: LesionLabel) -> String {
    if language != .en, case .string(let name)? = value("classes.\(label.id)") { return name }
    return label.name
  }

  func summary(_ result: Classification) -> String {
    if language == .en { return result.summary }
    switch result.outcome {
    case .abstained(let reasons):
      return
        ([self["result.noClassification"]] + reasons.map { self["abstain.\($0.rawValue)"] }
        + [self["result.notDiagnosis"]]).joined(separator: " ")
    case .answer(let answer):
      let percent = { (probability: Float) in
        let percent = Wording.wholePercent(probability)
        return percent == 0 ? self["result.belowOnePercent"] : inLanguage("\(percent)%")
      }
      let (name, share) = (name(answer.prediction), percent(answer.probability))
      let suggestion =
        if let concern = answer.concern, let probability = answer.concernProbability {
          self[
            "result.suggestsBoth",
            values: [
              "name": name, "percent": share, "other": self.name(concern),
              "otherPercent": percent(probability),
            ]]
        } else {
          self["result.suggests", values: ["name": name, "percent": share]]
        }
      return ([suggestion, self["result.notDiagnosis"]] + (answer.isUrgent ? [self["result.urgent"]] : []))
        .joined(separator: " ")
    }
  }

  /// `Melanoma 81.8%`, with the class that cannot be excluded.
  func headline(_ result: Classification) -> String {
    guard let answer = result.answer else { return self["result.abstains"] }
    let prediction = "\(name(answer.prediction)) \(percentage(answer.probability))"
    guard let concern = answer.concern, let probability = answer.concernProbability else { return prediction }
    let other = self[
      "reportFile.cannotExclude", values: ["name": name(concern), "percent": percentage(probability)]]
    return "\(prediction); \(other)"
  }

  /// The risk in a few words, and what to do in a sentence.
  func risk(_ result: Classification) -> (word: String, sentence: String) {
    let key = result.abstains ? "abstain" : result.risk?.rawValue ?? "unknown"
    let sentence = self["risk.\(key).sentence"]
    if result.abstains { return (sentence, "\(self["risk.\(key).word"]). \(sentence)") }
    let word = self["risk.\(key).word"]
    if language == .en, let risk = result.risk { return (word, Wording.sentence(for: risk)) }
    return (word, "\(word). \(sentence)")
  }

  func warnings(_ result: Classification) -> [String] {
    let confidence =
      (result.confidence == .low ? [self["result.lowConfidence"]] : [])
      + (result.isMultiLabel ? [self["result.severalClasses"]] : [])
    if language == .en { return confidence + result.warningSentences }
    return confidence
      + result.warnings.map { warning in
        self["warnings.\(warning.rawValue)", values: ["detail": result.warningDetails[warning] ?? "?"]]
      }
  }

  /// What a map shows; in English also how it was made.
  func caption(_ explanation: Explanation, map: ActivationMap) -> String {
    let label = explanation.label(of: map)
    if language == .en {
      return map.status.sentence ?? explanation.sentence(on: map)
    }
    let key =
      switch map.status {
      case .ok: "caption"
      case .allNegative: "all_negative"
      case .flat: "flat"
      }
    return self["heatmap.\(key)", values: ["name": name(label)]]
  }

  /// How many images there are, of which risks, and how many have no answer.
  func counts(_ summary: BatchSummary) -> String {
    if language == .en { return summary.sentences.joined(separator: " ") }
    var sentences = [self["reportFile.images", count: Double(summary.count)] + "."]
    if !summary.riskCounts.isEmpty {
      let count = { (risk: RiskLevel) in "\(summary.riskCounts[risk, default: 0])" }
      sentences.append(
        self[
          "reportFile.risks",
          values: ["high": count(.high), "moderate": count(.moderate), "low": count(.low)]])
    } else if summary.count > summary.abstainedCount {
      sentences.append(self["risk.unknown.sentence"])
    }
    for (key, count) in [("abstained", summary.abstainedCount), ("failed", summary.failedCount)]
    where count > 0 {
      sentences.append(self["reportFile.\(key)", count: Double(count)])
    }
    return sentences.joined(separator: " ")
  }
}
