import TestModels
import Testing

@testable import DermaFusion
@testable import Files

/// The words on probabilities when the model answers.
func summary(_ probabilities: ClassScores) -> String {
  Wording.summary(of: .answer(Classification.Answer(probabilities)))
}

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
      summary(probabilities([.nv: 0.874, .bkl: 0.126]))
        == "Classification suggests Melanocytic nevi (87% confidence). This is not a diagnosis. "
        + "Please consult a dermatologist.")
  }

  /// A model of a thousand classes that tells none apart still says something of its likeliest class.
  @Test func ofManyEqualClassesTheConfidenceIsBelowOnePercent() {
    let labels = Labels((0..<1000).map { .init(id: "n\($0)", name: "N\($0)", malignancy: nil) })
    let equal = ClassScores([Float](repeating: 0.001, count: 1000), labels: labels)
    #expect(summary(equal).hasPrefix("Classification suggests N0 (less than 1% confidence). This is not"))
    #expect(Wording.wholePercentage(Float(0.005).nextDown) == "less than 1%")
    #expect(Wording.wholePercentage(0.0051) == "1%" && Wording.wholePercentage(1) == "99%")
  }

  private static let caution = " This is not a diagnosis. Please consult a dermatologist."

  @Test(
    arguments: [
      ([.mel: 0.46, .nv: 0.51], "Melanocytic nevi (51% confidence); Melanoma cannot be excluded (46%)."),
      // Both thresholds are inclusive; below the upper one the risk is still moderate.
      ([.mel: 0.30, .nv: 0.70], "Melanocytic nevi (70% confidence); Melanoma cannot be excluded (30%)."),
      (
        [.bcc: 0.10, .nv: 0.90],
        "Melanocytic nevi (90% confidence); Basal cell carcinoma cannot be excluded (10%)."
      ),
      (
        [.akiec: 0.10, .bkl: 0.90],
        "Benign keratosis-like lesions (90% confidence); Actinic keratoses cannot be excluded (10%)."
      ),
      ([.mel: Float(0.10).nextDown, .nv: 0.90], "Melanocytic nevi (90% confidence)."),
      // The likeliest class makes the risk moderate, and another makes it high.
      ([.akiec: 0.60, .mel: 0.30], "Actinic keratoses (60% confidence); Melanoma cannot be excluded (30%)."),
      ([.akiec: 0.60, .mel: Float(0.30).nextDown], "Actinic keratoses (60% confidence)."),
      ([.bcc: 0.55, .mel: 0.40], "Basal cell carcinoma (55% confidence)."),
      // The likeliest of the classes that make it so is named, the first of equal ones.
      (
        [.bcc: 0.31, .mel: 0.32, .nv: 0.37],
        "Melanocytic nevi (37% confidence); Melanoma cannot be excluded (32%)."
      ),
      (
        [.bcc: 0.31, .mel: 0.31, .nv: 0.38],
        "Melanocytic nevi (38% confidence); Basal cell carcinoma cannot be excluded (31%)."
      ),
      ([.akiec: 0.40, .mel: 0.20, .nv: 0.40], "Actinic keratoses (40% confidence)."),
      (
        [.bkl: 0.45, .mel: 0.45],
        "Benign keratosis-like lesions (45% confidence); Melanoma cannot be excluded (45%)."
      ),
      ([.mel: 0.45, .nv: 0.45], "Melanoma (45% confidence)."),
    ] as [([LesionLabel: Float], String)])
  func aClassThatMakesTheRiskIsNamedBesideTheLikeliest(given: [LesionLabel: Float], sentence: String) {
    let values = Labels.ham10000.map { given[$0] ?? 0 }
    #expect(summary(ClassScores(values)) == "Classification suggests \(sentence)\(Self.caution)", "\(given)")
  }

  @Test func anAbstentionSuggestsNothingAndSaysWhy() {
    for reason in AbstentionReason.allCases {
      let text = Wording.summary(of: .abstained([reason]))
      #expect(
        text == "No classification is suggested: the model abstains. \(reason.sentence)\(Self.caution)")
    }
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

  /// The limits are 0.10 and 0.30 for the risk, and 0.20 for a low confidence.
  @Test(
    arguments: [
      (0.0949, "9%", "9.5%"), (0.0951, "9%", "9.5%"), (0.09949, "9%", "9.9%"), (0.0996, "9%", "9.9%"),
      (0.09999, "9%", "9.9%"), (Float(0.1).nextDown, "9%", "9.9%"), (0.1, "10%", "10.0%"),
      (0.1049, "10%", "10.5%"), (0.1051, "11%", "10.5%"), (0.1996, "19%", "19.9%"),
      (Float(0.2).nextDown, "19%", "19.9%"),
      (0.2, "20%", "20.0%"), (0.2949, "29%", "29.5%"), (0.298, "29%", "29.8%"), (0.2996, "29%", "29.9%"),
      (Float(0.3).nextDown, "29%", "29.9%"), (0.3, "30%", "30.0%"), (0.3051, "31%", "30.5%"),
      // Nothing changes at other tens.
      (0.3996, "40%", "40.0%"), (0.0096, "1%", "1.0%"),
    ] as [(Float, String, String)])
  func noNumberReachesALimitThatItsProbabilityDoesNot(probability: Float, whole: String, tenths: String) {
    #expect(Wording.wholePercentage(probability) == whole)
    #expect(Wording.percentage(probability) == tenths)
  }

  @Test func melanomaAboveThresholdIsUrgentAndAtItIsNot() {
    let urgent = " An urgent consultation with a dermatologist is advised."
    #expect(!summary(probabilities([.mel: 0.95])).hasSuffix(urgent))
    #expect(summary(probabilities([.mel: Float(0.95).nextUp])).hasSuffix(urgent))
    #expect(!summary(probabilities([.bcc: 0.99])).hasSuffix(urgent))
  }

  @Test func certaintyIsNeverClaimed() {
    #expect(summary(probabilities([.vasc: 1])).contains("(99% confidence)"))
    #expect(summary(probabilities([.nv: 0.994])).contains("(99% confidence)"))
  }

  /// Every sentence that the library can print about a result.
  static var sentences: [String] {
    var sentences: [String] = []
    for label in Labels.ham10000 {
      for probability in [0.15, 0.5, 0.96, 1] as [Float] {
        sentences.append(summary(probabilities([label: probability])))
      }
    }
    sentences += AbstentionReason.allCases.map { Wording.summary(of: .abstained([$0])) }
    sentences += RiskLevel.allCases.map { Wording.sentence(for: $0) }
    sentences += ConfidenceLevel.allCases.compactMap { Wording.sentence(for: $0) }
    return sentences + ClassificationWarning.allCases.map(\.sentence)
  }

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
