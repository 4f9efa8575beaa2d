import Testing

@testable import DermaFusion
@testable import Evaluation
@testable import Files

/// The figures of isic-challenge-scoring 5.6.0 and scikit-learn 1.9.1 for images with weights, ties, and images of weight 0.
@Suite struct ChallengeScoreTests {
  private static let labels = Labels([
    .init(id: "mel", name: "melanoma", malignancy: .malignant),
    .init(id: "nv", name: "nevus", malignancy: .benign),
    .init(id: "bcc", name: "carcinoma", malignancy: .malignant),
  ])

  /// The label, the probabilities, score_weight and validation_weight.
  private static let images: [(label: Int, probabilities: [Float], score: Double, validation: Double)] = [
    (0, [0.875, 0.125, 0.0], 1, 1), (2, [0.375, 0.125, 0.5], 2.5, 0), (2, [0.1875, 0.4375, 0.375], 0.25, 0),
    (1, [0.0625, 0.75, 0.1875], 2.5, 1), (0, [0.3125, 0.5625, 0.125], 2.5, 0),
    (1, [0.0625, 0.0625, 0.875], 0.25, 1), (2, [0.0, 0.875, 0.125], 1, 1), (1, [0.375, 0.5, 0.125], 1, 1),
    (2, [0.0, 0.125, 0.875], 1, 1), (2, [0.125, 0.6875, 0.1875], 1, 0), (0, [1.0, 0.0, 0.0], 0, 1),
    (0, [0.1875, 0.375, 0.4375], 1, 1), (0, [0.125, 0.0, 0.875], 0.25, 0), (1, [0.0625, 0.9375, 0.0], 1, 1),
    (1, [0.125, 0.5625, 0.3125], 1, 1), (2, [0.125, 0.25, 0.625], 0, 1),
  ]

  private static func report(
    _ weights: (_ score: Double, _ validation: Double) -> EvaluatedImage.Weights = {
      .init(score: $0, validation: $1)
    }
  ) -> EvaluationReport {
    EvaluationReport(
      images.enumerated().map { place, image in
        EvaluatedImage(
          lesion: "\(place)", label: labels[image.label],
          probabilities: ClassScores(image.probabilities, labels: labels),
          weights: weights(image.score, image.validation))
      }, sources: [""])
  }

  private func expect(_ found: Double?, _ expected: Double, _ name: String) {
    #expect(
      found.map { abs($0 - expected) < 1e-12 } ?? false, "\(name): \(found as Any), expected \(expected)")
  }

  @Test func figuresAreThoseOfTheScorer() {
    let overall = Self.report().overall.values
    expect(overall[.balancedAccuracy], 0.5919145690312738, "balanced accuracy")
    expect(overall[.macroAUROC], 0.7781773273764121, "macro AUROC")
    expect(overall[.macroAveragePrecision], 0.6683240929021821, "macro average precision")
    expect(overall[.macroF1AboveHalf], 0.4112858824824876, "macro dice")
    expect(overall[.macroF1], 0.5621629592180654, "macro F1")
    let classes: [(f1: Double, area: Double, precision: Double)] = [
      (0.34782608695652173, 0.7517162471395881, 0.612326270221007),
      (0.6875, 0.7877846790890269, 0.7103109903381642),
      (0.6511627906976745, 0.7950310559006212, 0.6823350181473751),
    ]
    for (label, expected) in classes.enumerated() {
      expect(overall[.f1(label)], expected.f1, "F1 of \(label)")
      expect(overall[.auroc(label)], expected.area, "AUROC of \(label)")
      expect(overall[.averagePrecision(label)], expected.precision, "average precision of \(label)")
    }
  }

  /// Also images that the score leaves out.
  @Test func theValidationCountsByItsOwnWeights() throws {
    let report = Self.report()
    let validation = try #require(report.validation)
    #expect(report.overall.imageCount == 14 && report.weightlessCount == 2 && validation.imageCount == 11)
    expect(validation.values[.balancedAccuracy], 0.7111111111111111, "balanced accuracy")
    expect(validation.values[.macroAUROC], 0.8138888888888888, "macro AUROC")
    expect(validation.values[.macroAveragePrecision], 0.7246296296296295, "macro average precision")
    let json = JSONValue.object(report.members).text
    #expect(json.contains(#""weights":{"zero":2,"sum":16.25},"validation":{"n":11,"lesions":11,"#), "\(json)")
  }

  @Test func aListWithoutWeightsHasNone() {
    let report = Self.report { _, _ in .init() }
    #expect(!report.isWeighted && report.validation == nil && report.overall.imageCount == 16)
    #expect(JSONValue.object(report.members).text.contains(#""weights":null,"validation":null"#))
    // A weight that is the same for all changes no figure.
    let twice = Self.report { _, _ in .init(score: 2) }
    for metric in Metric.all(Self.labels) {
      let difference: Double = (report.overall.values[metric] ?? -1) - (twice.overall.values[metric] ?? -1)
      #expect(abs(difference) < 1e-12, "\(metric.key)")
    }
  }

  /// A class that is predicted but never occurs has an F1 of 0; one that does neither has none.
  @Test func f1OfClassesThatDoNotOccur() {
    let set = EvaluationSet([
      evaluatedImage(.nv, as: .nv, lesion: "a"), evaluatedImage(.nv, as: .mel, confidence: 0.4, lesion: "b"),
    ])
    let values = set.values()
    #expect(values[.f1(LesionLabel.mel.index)] == 0 && values[.f1(LesionLabel.df.index)] == nil)
    #expect(values[.f1(LesionLabel.nv.index)] == 2.0 / 3 && values[.macroF1] == 1.0 / 3)
    // No probability of melanoma is above a half.
    #expect(values[.macroF1AboveHalf] == 2.0 / 3)
    #expect(values[.averagePrecision(LesionLabel.mel.index)] == nil)
  }
}
