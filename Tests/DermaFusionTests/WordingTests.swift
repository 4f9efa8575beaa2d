import Testing

@testable import DermaFusion

@Suite struct WordingTests {
  @Test func disclaimerIsWordForWord() {
    #expect(
      Wording.disclaimer
        == "DermaFusion is a research and educational tool. It is NOT a medical device and has NOT been "
        + "approved by the FDA or any regulatory authority. Results should NOT be used for self-diagnosis. "
        + "Always consult a qualified dermatologist for skin concerns.")
  }

  @Test func summarySuggestsAndSendsToADermatologist() {
    #expect(
      Wording.summary(probabilities: probabilities([.nv: 0.874, .mel: 0.126]))
        == "Classification suggests Melanocytic nevi (87% confidence). This is not a diagnosis. "
        + "Please consult a dermatologist.")
  }

  @Test(
    arguments: [
      (0, 2, "0.00"), (-0.004, 2, "0.00"), (-0.006, 2, "-0.01"), (12.345678, 3, "12.346"), (-7.5, 0, "-8"),
      (0.96, 1, "1.0"), (9_007_199_254_740, 3, "9007199254740.000"), (1e17, 3, "1e+17"), (-3e38, 3, "-3e+38"),
      (.infinity, 1, "inf"), (.nan, 1, "nan"),
    ] as [(Double, Int, String)])
  func decimalsHaveTheirDigitsWhateverTheirSize(value: Double, digits: Int, text: String) {
    #expect(value.fixed(digits: digits) == text)
  }

  @Test(
    arguments: [
      (0, "<0.1%"), (0.00049, "<0.1%"), (0.0006, "0.1%"), (0.4854, "48.5%"), (0.9994, "99.9%"),
      (0.9996, ">99.9%"),
      (1, ">99.9%"),
    ] as [(Float, String)])
  func nothingIsSaidToBeCertain(probability: Float, text: String) {
    #expect(Wording.percentage(probability) == text)
  }

  @Test func melanomaAboveThresholdIsUrgentAndAtItIsNot() {
    let urgent = " An urgent consultation with a dermatologist is advised."
    #expect(!Wording.summary(probabilities: probabilities([.mel: 0.95])).hasSuffix(urgent))
    #expect(Wording.summary(probabilities: probabilities([.mel: Float(0.95).nextUp])).hasSuffix(urgent))
    #expect(!Wording.summary(probabilities: probabilities([.bcc: 0.99])).hasSuffix(urgent))
  }

  @Test func certaintyIsNeverClaimed() {
    #expect(Wording.summary(probabilities: probabilities([.vasc: 1])).contains("(99% confidence)"))
    #expect(Wording.summary(probabilities: probabilities([.nv: 0.994])).contains("(99% confidence)"))
  }

  /// Every sentence that the library can print about a result.
  static let sentences: [String] =
    LesionClass.allCases.flatMap { lesionClass in
      [0.15, 0.5, 0.96, 1].map { Wording.summary(probabilities: probabilities([lesionClass: $0])) }
    }
    + RiskLevel.allCases.map(Wording.sentence)
    + ConfidenceLevel.allCases.compactMap(Wording.sentence)
    + ClassificationWarning.allCases.map(\.sentence)

  @Test(arguments: sentences)
  func forbiddenPhrasesNeverAppear(sentence: String) {
    let text = sentence.lowercased().replacing("this is not a diagnosis", with: "")
    for phrase in [
      "you have", "this is", "diagnosed", "diagnosis", "definitely", "benign lesion", "safe",
      "nothing to worry", "certain", "no need", "healthy",
    ] {
      #expect(!text.contains(phrase), "\(phrase)")
    }
  }
}
