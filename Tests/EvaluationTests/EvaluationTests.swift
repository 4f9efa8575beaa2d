import Files
import TestModels
import Testing

@testable import DermaFusion
@testable import Evaluation

extension Metric {
  static func recall(_ label: LesionLabel) -> Self { .recall(label.index) }
  static func precision(_ label: LesionLabel) -> Self { .precision(label.index) }
  static func auroc(_ label: LesionLabel) -> Self { .auroc(label.index) }
  static func meanProbability(_ label: LesionLabel) -> Self { .meanProbability(label.index) }
}

/// An image whose probabilities are `confidence` for the prediction and equal shares for the rest.
func evaluatedImage(
  _ label: LesionLabel, as prediction: LesionLabel, confidence: Float = 0.7, lesion: String,
  age: Double? = nil, sex: Sex = .unknown, site: BodySite = .unknown, source: String = "a",
  confirmation: String? = nil, unit: ChanceUnit? = nil
) -> EvaluatedImage {
  let values = Labels.ham10000.map { $0 == prediction ? confidence : (1 - confidence) / 6 }
  return EvaluatedImage(
    lesion: lesion, label: label, probabilities: ClassScores(values),
    metadata: try! PatientMetadata(ageInYears: age, sex: sex, site: site), source: source, unit: unit,
    cells: confirmation.map { ["confirmation": $0] } ?? [:])
}

/// Random images of all classes, about two a lesion, right more often than not.
func randomImages(_ count: Int, seed: UInt64, classes: [LesionLabel] = Array(Labels.ham10000))
  -> [EvaluatedImage]
{
  var generator = SplitMix64(seed: seed)
  return (0..<count).map { _ in
    let label = classes[generator.index(below: classes.count)]
    let logits = Labels.ham10000.map {
      Float(generator.index(below: 1000)) / 400 - 1 + ($0 == label ? 1.2 : 0)
    }
    return EvaluatedImage(
      lesion: "\(label)-\(generator.index(below: max(count / 12, 1)))", label: label,
      probabilities: ClassScores(logits).softmax(temperature: 1), metadata: .unknown, source: "a")
  }
}

@Suite struct EvaluationSetTests {
  @Test func countsAndRates() throws {
    let set = EvaluationSet([
      evaluatedImage(.nv, as: .nv, lesion: "1"), evaluatedImage(.nv, as: .nv, lesion: "2"),
      evaluatedImage(.nv, as: .mel, lesion: "3"), evaluatedImage(.mel, as: .mel, lesion: "4"),
      evaluatedImage(.mel, as: .bkl, lesion: "5"), evaluatedImage(.bcc, as: .bcc, lesion: "6"),
    ])
    let values = set.values()
    let twoThirds: Double = 2.0 / 3
    #expect(values[.accuracy] == twoThirds)
    #expect(values[.recall(.nv)] == twoThirds)
    #expect(values[.recall(.mel)] == 0.5)
    #expect(values[.recall(.bcc)] == 1)
    #expect(values[.precision(.nv)] == 1)
    #expect(values[.precision(.mel)] == 0.5)
    #expect(values[.precision(.bkl)] == 0)
    // The mean over nv, mel and bcc: the classes that occur.
    let meanRecall: Double = (2.0 / 3 + 0.5 + 1) / 3
    let balanced = try #require(values[.balancedAccuracy])
    #expect(abs(balanced - meanRecall) < 1e-15)
    let matrix = set.confusionMatrix()
    #expect(matrix[5] == [0, 0, 0, 0, 1, 2, 0])
    #expect(matrix[4] == [0, 0, 1, 0, 1, 0, 0])
    #expect(matrix.joined().reduce(0, +) == 6)
  }

  /// A melanoma of 0.30 is at high risk, one of 0.12 at moderate risk; so are moles that look like them.
  @Test func risksAreCountedByLabel() {
    func image(_ label: LesionLabel, melanoma: Float, lesion: String) -> EvaluatedImage {
      let values = Labels.ham10000.map { $0 == .mel ? melanoma : $0 == .nv ? 1 - melanoma : 0 }
      return EvaluatedImage(
        lesion: lesion, label: label, probabilities: ClassScores(values))
    }
    let images = [
      image(.mel, melanoma: 0.3, lesion: "1"), image(.mel, melanoma: 0.12, lesion: "2"),
      image(.mel, melanoma: 0.09, lesion: "3"), image(.bcc, melanoma: 0.31, lesion: "4"),
      image(.nv, melanoma: 0.1, lesion: "5"), image(.nv, melanoma: 0.02, lesion: "6"),
    ]
    let values = EvaluationSet(images).values()
    let twoThirds: Double = 2.0 / 3
    #expect(values[.risk(.moderate, of: .label(LesionLabel.mel.index))] == twoThirds)
    #expect(values[.risk(.high, of: .label(LesionLabel.mel.index))] == 1.0 / 3)
    #expect(values[.risk(.moderate, of: .malignant)] == 0.75)
    #expect(values[.risk(.high, of: .malignant)] == 0.5)
    #expect(values[.risk(.moderate, of: .benign)] == 0.5)
    #expect(values[.risk(.high, of: .benign)] == 0)
    #expect(values[.risk(.moderate, of: .label(LesionLabel.df.index))] == nil)
    let benign = Labels.ham10000.filter(Metric.RiskGroup.benign.holds)
    #expect(benign == [.bkl, .df, .nv, .vasc])
  }

  @Test func absentClassesAreUndefinedNotZero() {
    let values = EvaluationSet([
      evaluatedImage(.nv, as: .nv, lesion: "1"), evaluatedImage(.mel, as: .mel, lesion: "2"),
    ]).values()
    for absent in [LesionLabel.akiec, .bcc, .bkl, .df, .vasc] {
      #expect(values[.recall(absent)] == nil, "\(absent)")
      #expect(values[.auroc(absent)] == nil, "\(absent)")
      #expect(values[.precision(absent)] == nil, "\(absent)")
    }
    #expect(values[.balancedAccuracy] == 1)
    #expect(values[.macroAUROC] == 1)
  }

  @Test func oneImageHasNoAreas() {
    let values = EvaluationSet([evaluatedImage(.mel, as: .nv, confidence: 0.75, lesion: "1")]).values()
    #expect(values[.accuracy] == 0)
    #expect(values[.balancedAccuracy] == 0)
    #expect(values[.recall(.mel)] == 0)
    #expect(values[.precision(.nv)] == 0)
    #expect(values[.expectedCalibrationError] == 0.75)
    for metric in [
      Metric.macroAUROC, .melanomaSensitivityAt90Specificity, .malignantAUROC, .precision(.mel),
      .recall(.nv),
    ] {
      #expect(values[metric] == nil, "\(metric.key) \(metric.subject)")
    }
  }

  @Test func equalProbabilitiesAreTheFirstClassAndHalfAnArea() {
    let equal = ClassScores([Float](repeating: 1 / 7, count: 7))
    let values = EvaluationSet(
      [LesionLabel.nv, .mel, .akiec].enumerated().map { index, label in
        EvaluatedImage(
          lesion: "\(index)", label: label, probabilities: equal)
      }
    ).values()
    #expect(values[.macroAUROC] == 0.5)
    #expect(values[.malignantAUROC] == 0.5)
    #expect(values[.melanomaSensitivityAt90Specificity] == 0)
    #expect(values[.recall(.akiec)] == 1)
    #expect(values[.recall(.nv)] == 0)
  }

  @Test func calibrationErrorIsTheWeightedGap() throws {
    // Bin 10 of 15 (0.667 to 0.733): three at 0.7, two right. The last bin: one at 1, wrong.
    let set = EvaluationSet([
      evaluatedImage(.nv, as: .nv, lesion: "1"), evaluatedImage(.nv, as: .nv, lesion: "2"),
      evaluatedImage(.mel, as: .nv, lesion: "3"), evaluatedImage(.mel, as: .nv, confidence: 1, lesion: "4"),
    ])
    let bins = set.calibrationBins()
    #expect(bins.count == 15)
    #expect(bins[10].imageCount == 3)
    #expect(bins[10].correctWeight == 2)
    #expect(bins[14].imageCount == 1)
    #expect(bins[14].confidenceSum == 1)
    let seventy = Double(Float(0.7))
    let expected: Double = (abs(2 - 3 * seventy) + 1) / 4
    let error = try #require(set.values()[.expectedCalibrationError])
    #expect(abs(error - expected) < 1e-12)
  }

  @Test func logLikelihoodAndMeanProbabilitiesLookAtAllOfTheProbabilities() throws {
    let images: [(LesionLabel, [Float])] = [
      (.mel, [0, 0, 0.25, 0, 0.5, 0.25, 0]), (.nv, [0.125, 0, 0, 0, 0, 0.875, 0]),
      (.bcc, [0, 0, 0, 0, 0, 1, 0]),
    ]
    let values = EvaluationSet(
      images.enumerated().map { index, image in
        EvaluatedImage(
          lesion: "\(index)", label: image.0, probabilities: ClassScores(image.1))
      }
    ).values()
    // ln 2, ln 8/7 and, of a label that was held impossible, ln 1e12.
    let expected: Double = (0.6931471805599453 + 0.13353139262452263 + 27.631021115928547) / 3
    let loss = try #require(values[.negativeLogLikelihood])
    #expect(abs(loss - expected) < 1e-9, "\(loss)")
    let nevi: Double = (0.25 + 0.875 + 1) / 3
    let found = try #require(values[.meanProbability(.nv)])
    #expect(abs(found - nevi) < 1e-12, "\(found)")
    #expect(values[.meanProbability(.df)] == 0)
    let sum = Labels.ham10000.reduce(0) { $0 + (values[.meanProbability($1)] ?? 0) }
    #expect(abs(sum - 1) < 1e-12, "\(sum)")
  }

  @Test func malignantIsTheSumOfThreeClasses() {
    // Each of the three alone is below nv, their sum ranks the melanoma above both nevi.
    let spread = ClassScores([0.25, 0.2, 0, 0, 0.2, 0.35, 0])
    let mole = ClassScores([0, 0.3, 0.1, 0, 0.25, 0.35, 0])
    let calm = ClassScores([0, 0, 0.1, 0, 0, 0.9, 0])
    let images = [(LesionLabel.mel, spread), (.nv, mole), (.nv, calm)].enumerated().map { index, pair in
      EvaluatedImage(
        lesion: "\(index)", label: pair.0, probabilities: pair.1)
    }
    #expect(EvaluationSet(images).values()[.malignantAUROC] == 1)
    #expect(EvaluationSet(images).values()[.auroc(.mel)] == 0.5)
  }

  @Test func orderDoesNotShow() {
    let images = randomImages(80, seed: 3)
    let values = EvaluationSet(images).values()
    let reversed = EvaluationSet(images.reversed()).values()
    for metric in Metric.all(.ham10000) {
      let difference = abs((values[metric] ?? -1) - (reversed[metric] ?? -1))
      #expect(difference < 1e-12, "\(metric.key) \(metric.subject): \(difference)")
    }
  }

  @Test func evaluationCountsWhatWasAnsweredAndWhatTheSetsHold() {
    func image(
      _ label: LesionLabel, _ set: [LesionLabel], _ reasons: [AbstentionReason] = [], stated: Double? = 0.9
    )
      -> EvaluatedImage
    {
      EvaluatedImage(
        lesion: "l", label: label, probabilities: ClassScores([0, 0, 0, 0, 0, 1, 0]),
        abstention: Abstention(
          reasons: reasons, conformalSet: Abstention.ConformalSet(classes: set, coverage: stated)))
    }
    let values = EvaluationSet([
      image(.nv, [.nv]), image(.mel, [.nv, .mel, .bkl]), image(.bcc, [.nv, .mel], [.blurred]),
      image(.nv, [.nv, .mel]),
    ]).values(of: Metric.abstention)
    #expect(values[.abstainedShare] == 0.25)
    #expect(values[.answeredBalancedAccuracy] == 0.5)
    #expect(values[.statedCoverage] == 0.9)
    let mixed = [0.75, nil, 1].map { image(.nv, [.nv], stated: $0) }
    #expect(EvaluationSet(mixed).values(of: [.statedCoverage])[.statedCoverage] == 0.875)
    #expect(values[.coverage] == 0.75)
    #expect(values[.meanSetSize] == 2)
    let alone = EvaluatedImage(
      lesion: "l", label: .nv, probabilities: ClassScores([0, 0, 0, 0, 0, 1, 0]))
    let without = EvaluationSet([alone]).values(of: Metric.abstention)
    #expect(without == [.abstainedShare: 0, .answeredBalancedAccuracy: 1])
  }

  @Test func weightsAreRepetitions() {
    let images = randomImages(50, seed: 8)
    var generator = SplitMix64(seed: 9)
    let weights = images.map { _ in generator.index(below: 3) }
    let repeated = images.indices.flatMap { [EvaluatedImage](repeating: images[$0], count: weights[$0]) }
    let weighted = EvaluationSet(images).values(weights: weights)
    let expected = EvaluationSet(repeated).values()
    for metric in Metric.all(.ham10000) {
      let difference = abs((weighted[metric] ?? -1) - (expected[metric] ?? -1))
      #expect(difference < 1e-12, "\(metric.key) \(metric.subject): \(difference)")
    }
  }
}

@Suite struct BootstrapTests {
  @Test func quantilesLieBetweenValuesInProportion() {
    #expect(Bootstrap.quantile([0, 1, 2, 3], 0.5) == 1.5)
    #expect(Bootstrap.quantile([5], 0.975) == 5)
    let low = Bootstrap.quantile([0, 10], 0.025)
    #expect(abs(low - 0.25) < 1e-15)
  }

  @Test func theSameImagesGiveTheSameIntervals() {
    let images = randomImages(60, seed: 4)
    #expect(
      EvaluationSet(images).intervals()
        == EvaluationSet(images).intervals())
    let reversed = EvaluationSet(images.reversed()).intervals()
    #expect(EvaluationSet(images).intervals()[.accuracy] == reversed[.accuracy])
  }

  @Test func anIntervalHoldsItsFigure() throws {
    let set = EvaluationSet(randomImages(150, seed: 6))
    let values = set.values()
    let intervals = set.intervals()
    for metric in Metric.all(.ham10000) where metric != .expectedCalibrationError {
      let value = try #require(values[metric])
      let isHeld = intervals[metric].map { $0.contains(value) } ?? (metric.isCounted == nil && value == 1)
      #expect(isHeld, "\(metric.key) \(metric.subject): \(value)")
    }
  }

  /// Half of 100 images right, as 100 lesions and as 10 lesions of ten alike: a binomial standard deviation
  /// of 0.05 and of 0.158.
  @Test func imagesOfOneLesionAreDrawnTogether() throws {
    func width(imagesPerLesion: Int) throws -> Double {
      let images = (0..<100).map { index in
        let lesion = index / imagesPerLesion
        return evaluatedImage(lesion % 2 == 0 ? .nv : .mel, as: .nv, lesion: "\(lesion)")
      }
      let interval = try #require(EvaluationSet(images).intervals()[.accuracy])
      return interval.upperBound - interval.lowerBound
    }
    let apart = try width(imagesPerLesion: 1)
    let together = try width(imagesPerLesion: 10)
    #expect((0.17...0.22).contains(apart), "\(apart)")
    #expect((0.5...0.7).contains(together), "\(together)")
  }

  /// By scipy: binomtest(hits, count).proportion_ci(method="exact").
  @Test(arguments: [
    (3, 3, 0.2924018, 1), (29, 29, 0.8805551, 1), (0, 4, 0, 0.6023646), (1, 1, 0.025, 1),
    (1, 2, 0.01257912, 0.9874209), (8, 10, 0.4439045, 0.9747893), (81, 263, 0.2527367, 0.3676219),
  ])
  func exactIntervalsAreThoseOfClopperAndPearson(hits: Int, count: Int, low: Double, high: Double) {
    let interval = ExactInterval.ofShare(Double(hits) / Double(count), units: count)
    #expect(abs(interval.lowerBound - low) < 1e-6 && abs(interval.upperBound - high) < 1e-6, "\(interval)")
  }

  /// A share of images that no whole number of lesions makes lies between two of theirs.
  @Test func aShareBetweenTwoCountsHasTheWiderInterval() {
    let interval = ExactInterval.ofShare(0.5, units: 3)
    #expect(interval.lowerBound == ExactInterval.ofShare(1.0 / 3, units: 3).lowerBound)
    #expect(interval.upperBound == ExactInterval.ofShare(2.0 / 3, units: 3).upperBound)
  }

  /// The exact interval of images of one lesion is that of one trial.
  @Test func tooFewLesionsGetExactIntervalsOfShares() {
    let one = (0..<5).map { _ in evaluatedImage(.nv, as: .nv, lesion: "only") }
    let alone = EvaluationSet(one).intervals()
    #expect(alone[.accuracy] == ExactInterval.ofShare(1, units: 1))
    #expect(alone[.balancedAccuracy] == nil && alone[.macroAUROC] == nil)
    let rare =
      (0..<30).map { evaluatedImage(.nv, as: .nv, lesion: "\($0)") }
      + [evaluatedImage(.df, as: .df, lesion: "rare")]
    let intervals = EvaluationSet(rare).intervals()
    #expect(intervals[.recall(.df)] == ExactInterval.ofShare(1, units: 1))
    #expect(intervals[.recall(.mel)] == nil, "of no image")
  }

  @Test func aShareThatAllResamplesAgreeOnGetsAnExactInterval() {
    let images =
      (0..<30).map { evaluatedImage(.nv, as: .nv, lesion: "\($0)") }
      + (0..<20).map { evaluatedImage(.mel, as: $0 % 2 == 0 ? .mel : .nv, lesion: "m\($0)") }
    let intervals = EvaluationSet(images).intervals()
    #expect(intervals[.recall(.nv)] == ExactInterval.ofShare(1, units: 30))
    #expect(intervals[.precision(.mel)] == ExactInterval.ofShare(1, units: 10))
    #expect(intervals[.recall(.mel)].map { $0.lowerBound < 0.5 && $0.upperBound > 0.5 } == true)
    #expect(intervals[.accuracy] != nil)
  }
}

@Suite struct EvaluationReportTests {
  @Test func subgroupsUnderTwentyImagesGetNoFigures() throws {
    let images =
      (0..<20).map { evaluatedImage(.nv, as: .nv, lesion: "\($0)", age: 49.5, sex: .male, site: .back) }
      + (0..<19).map { evaluatedImage(.mel, as: .nv, lesion: "m\($0)", age: 50, sex: .female, source: "b") }
    let report = EvaluationReport(images, sources: ["b", "empty", "a"])
    func groups(_ grouping: EvaluationReport.Grouping) -> [String] {
      report.subgroups.first { $0.grouping == grouping }!.groups
        .map { "\($0.name) \($0.imageCount) \($0.measurement?.values[.accuracy] ?? -1)" }
    }
    #expect(groups(.age) == ["30 to 49 20 1.0", "50 to 69 19 -1.0"])
    #expect(groups(.sex) == ["male 20 1.0", "female 19 -1.0"])
    #expect(groups(.site) == ["back 20 1.0", "unknown 19 -1.0"])
    #expect(groups(.source) == ["b 19 -1.0", "empty 0 -1.0", "a 20 1.0"])
    #expect(report.absentClasses == [.akiec, .bcc, .bkl, .df, .vasc])
    #expect(report.overall.lesionCount == 39)
    #expect(report.overall.classCount == 2)
    #expect(report.overall.labelCounts == [0, 0, 0, 0, 19, 20, 0])
    #expect(!report.subgroups.contains { $0.grouping == .confirmation })
    #expect(report.subgroups[0].groups.map { $0.measurement?.classCount } == [1, nil])
  }

  @Test func labelsAreGroupedByHowTheyWereConfirmed() {
    let images =
      (0..<22).map { evaluatedImage(.nv, as: .nv, lesion: "\($0)", confirmation: "histo") }
      + (0..<20).map { evaluatedImage(.nv, as: .mel, lesion: "f\($0)", confirmation: "follow_up") }
      + [evaluatedImage(.mel, as: .mel, lesion: "m")]
    let report = EvaluationReport(images, sources: ["a"])
    let (grouping, groups) = report.subgroups.last!
    #expect(grouping == .confirmation)
    #expect(
      groups.map { "\($0.name) \($0.imageCount) \($0.measurement?.values[.accuracy] ?? -1)" }
        == ["follow_up 20 0.0", "histo 22 1.0", "missing 1 -1.0"])
    let labels = #""labels":{"akiec":0,"bcc":0,"bkl":0,"df":0,"mel":0,"nv":22,"vasc":0}"#
    #expect(
      JSONValue.object(report.members).text.contains(#""lesions":22,\#(labels),"status":"sufficient""#))
  }

  @Test(
    arguments: [
      (0, "under 30"), (29.9, "under 30"), (30, "30 to 49"), (69.99, "50 to 69"), (70, "70 and over"),
      (130, "70 and over"), (nil, "missing"),
    ] as [(Double?, String)])
  func ageBands(age: Double?, band: String) {
    let report = EvaluationReport([evaluatedImage(.nv, as: .nv, lesion: "1", age: age)], sources: ["a"])
    #expect(report.subgroups[0].groups.map(\.name) == [band])
  }

  @Test func jsonHasTheContractsMembersAndNullForTheUndefined() {
    let report = EvaluationReport(
      (0..<4).map { evaluatedImage($0 < 2 ? .nv : .mel, as: .nv, lesion: "\($0)") }, sources: ["a"])
    let text = JSONValue.object(report.members).text
    #expect(text.hasPrefix(#"{"n":4,"lesions":4,"accuracy":0.5,"accuracyCI":[0,1],"balancedAccuracy":0.5,"#))
    for part in [
      #""macroAUROC":0.5,"#, #""melanomaSensitivityAt90Specificity":0,"#, #""malignantAUROC":0.5,"#,
      #""perClass":{"akiec":{"n":0,"meanProbability":0.0"#, #""negativeLogLikelihood":"#,
      #","recall":null,"recallCI":null,"precision":null,"precisionCI":null,"#,
      #""absentClasses":["akiec","bcc","bkl","df","vasc"]"#, #"[0,0,0,0,0,2,0]"#,
      #""age":[{"name":"missing","n":4,"status":"insufficient"}]"#,
    ] {
      #expect(text.contains(part), "\(part) is not in \(text)")
    }
  }
}
