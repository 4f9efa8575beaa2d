import ImagePipeline
import TestModels
import Testing

@testable import DermaFusion
@testable import Files

/// Results in the languages of the engine.
@Suite struct LanguageTests {
  private static let space: [Language: String] = [.english: "", .german: "\u{A0}", .french: "\u{202F}"]

  private func summary(_ probabilities: ClassScores, _ language: Language) -> String {
    Wording.summary(of: .answer(Classification.Answer(probabilities)), in: language)
  }

  @Test func aResultIsWordedInThreeLanguages() {
    let both = probabilities([.nv: 0.51, .mel: 0.46, .bcc: 0.03])
    #expect(
      summary(both, .german)
        == "Die Klassifikation legt nahe: Melanozytäre Nävi (51\u{A0}% Konfidenz); Melanom ist nicht auszuschließen "
        + "(46\u{A0}%). Das ist keine Diagnose. Bitte gehen Sie zu einer Hautärztin oder einem Hautarzt.")
    #expect(
      summary(both, .french)
        == "La classification suggère\u{A0}: Nævus mélanocytaires (confiance 51\u{202F}%)\u{A0}; à ne pas exclure\u{A0}: "
        + "Mélanome (46\u{202F}%). Ceci n’est pas un diagnostic. Veuillez consulter un ou une dermatologue.")
    let urgent = probabilities([.mel: 0.97, .nv: 0.03])
    #expect(
      summary(urgent, .german).hasSuffix(" Eine dringende ärztliche Untersuchung wird empfohlen."))
    #expect(
      summary(urgent, .french).hasSuffix(
        " Une consultation urgente chez un ou une dermatologue est conseillée."))
    for language in Language.allCases {
      let sentence = summary(probabilities([.mel: 0.95, .nv: 0.05]), language)
      #expect(!sentence.contains(language["result.urgent"]), "\(sentence)")
    }
  }

  /// A class that no language knows keeps the model's name, braces and all.
  @Test func aClassOfAnotherModelKeepsItsName() {
    let labels = Labels((0..<256).map { .init(id: "n\($0)", name: "{percent} \($0)", malignancy: nil) })
    let equal = ClassScores([Float](repeating: 1 / 256, count: 256), labels: labels)
    let words = [
      Language.english: "suggests {percent} 0 (less than 1% confidence)",
      .german: "legt nahe: {percent} 0 (weniger als 1\u{A0}% Konfidenz)",
      .french: "suggère\u{A0}: {percent} 0 (confiance inférieure à 1\u{202F}%)",
    ]
    for language in Language.allCases {
      #expect(summary(equal, language).contains(words[language] ?? "?"), "\(summary(equal, language))")
    }
  }

  @Test(arguments: Language.allCases) func whatAResultSaysHasWords(language: Language) {
    for reason in AbstentionReason.allCases {
      let text = Wording.summary(of: .abstained([reason]), in: language)
      #expect(
        text.hasPrefix(language["result.noClassification"]) && text.contains(reason.sentence(in: language)))
      #expect(!language["table.reasons.\(reason.rawValue)"].isEmpty)
    }
    for warning in ClassificationWarning.allCases {
      #expect(!warning.sentence(nil, in: language).contains("{"), "\(warning)")
      #expect(!warning.sentence("4", in: language).contains("{"))
      #expect(!language["table.warnings.\(warning.rawValue)"].isEmpty)
    }
    #expect(ClassificationWarning.severalPictures.sentence("256+", in: language).contains(" 256+ "))
    for risk in RiskLevel.allCases { #expect(!Wording.sentence(for: risk, in: language).isEmpty) }
    for site in BodySite.allCases {
      let metadata = PatientMetadata(sex: .female, site: site)
      #expect(metadata.description(in: language).hasPrefix(language["text.ageMissing"]))
    }
    for share in [Float(0), 0.0006, 0.4854, 1] {
      let text = Wording.percentage(share, in: language)
      #expect(text.hasSuffix("\(Self.space[language] ?? "?")%"))
      #expect(text.contains(language == .english ? "." : ","))
    }
  }

  /// Every path and every value of English is in the other languages.
  @Test(arguments: Language.allCases) func noLanguageLacksAText(language: Language) {
    func values(_ text: String) -> Set<String> {
      Set(
        text.split(separator: "{", omittingEmptySubsequences: false).dropFirst().map {
          String($0.prefix { $0 != "}" })
        })
    }
    #expect(language.paths == Language.english.paths)
    for path in Language.english.paths {
      #expect(
        values(language.text(path) ?? "") == values(Language.english.text(path) ?? ""), "\(path)")
    }
  }

  /// The English wording stands beside every translation, and no language promises more than it.
  @Test(arguments: Language.allCases) func theEnglishDisclaimerStands(language: Language) {
    #expect(language.disclaimer.hasSuffix(Wording.disclaimer))
    #expect((language.disclaimerTranslation == nil) == (language == .english))
    let forbidden = [
      "sicher gutartig", "ungefährlich", "diagnostiziert", "sans danger", "diagnostiqu", "vous avez un",
      "sie haben ein", "definitely", "you have",
    ]
    for path in language.paths {
      let text = (language.text(path) ?? "").lowercased()
      for words in forbidden { #expect(!text.contains(words), "\(path): \(text)") }
    }
  }

  @Test func aLanguageIsKnownByItsCode() throws {
    #expect(Language(rawValue: "de") == .german && Language(rawValue: "DE") == nil)
    let request = try ImageRequest(json: Array(#"{"language":"fr"}"#.utf8))
    #expect(request.language == .french && ImageRequest().language == .english)
    let error = #expect(throws: DermaFusionError.self) {
      try ImageRequest(json: Array(#"{"language":"deutsch"}"#.utf8))
    }
    #expect(error?.message == "language \"deutsch\" is not one of en, de, fr")
  }
}
