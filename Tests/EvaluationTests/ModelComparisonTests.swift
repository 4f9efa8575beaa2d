import Testing

@testable import DermaFusion
@testable import Evaluation
@testable import Files

@Suite struct ModelComparisonTests {
  static func answer(_ values: [Float], abstains: Bool = false) -> ModelComparison.Answer {
    ModelComparison.Answer(probabilities: ClassScores(values), abstains: abstains)
  }

  static func image(
    _ name: String, _ first: ModelComparison.Answer, _ second: ModelComparison.Answer
  ) -> ModelComparison.Image {
    ModelComparison.Image(name: name, first: first, second: second, truth: nil)
  }

  @Test func agreementAbstentionsAndGreatestChanges() throws {
    let mole: [Float] = [0, 0, 0, 0, 0.25, 0.75, 0]
    let doubtful: [Float] = [0, 0, 0, 0, 0.5, 0.375, 0.125]
    let comparison = ModelComparison([
      Self.image("a", Self.answer(mole), Self.answer(mole)),
      Self.image("b", Self.answer(mole), Self.answer(doubtful)),
      Self.image("c", Self.answer(doubtful, abstains: true), Self.answer(mole)),
      Self.image("d", Self.answer(mole, abstains: true), Self.answer(mole, abstains: true)),
      Self.image("e", Self.answer([0, 0, 0, 0, 0, 1, 0]), Self.answer(mole)),
    ])
    #expect(comparison.agreeingCount == 3)
    #expect(comparison.answeredCount == 3)
    #expect(comparison.answeredAgreeingCount == 2)
    let changes = comparison.changes
    #expect(changes.map(\.label) == Array(Labels.ham10000))
    // The first image's among equal changes; without its sign.
    #expect(changes.map(\.image) == ["a", "a", "a", "a", "b", "b", "b"])
    #expect(changes.map(\.size) == [0, 0, 0, 0, 0.25, 0.375, 0.125])
    #expect(changes[5].first == 0.75 && changes[5].second == 0.375)
    #expect(comparison.measurement == nil)
    let json = JSONText.of(comparison)
    #expect(
      json.hasPrefix(
        #"{"n":5,"agreement":{"n":3,"share":0.6,"answered":3,"answeredAgreeing":2,"answeredShare":0.66"#),
      "\(json)")
    #expect(
      json.contains(#""abstained":{"model":2,"against":1,"both":1},"greatestChanges":{"akiec":{"change":0"#))
    #expect(
      json.contains(#""vasc":{"change":0.125,"image":"b","model":0.0,"against":0.125}},"labelled":null}"#))
  }

  @Test func anAbstentionFromEveryImageLeavesNoShare() {
    let mole = Self.answer([0, 0, 0, 0, 0.25, 0.75, 0], abstains: true)
    #expect(
      JSONText.of(ModelComparison([Self.image("a", mole, mole)]))
        .contains(#""answered":0,"answeredAgreeing":0,"answeredShare":null"#))
  }

  /// Random images with two models' answers: the second's probabilities are those of other random images with the labels.
  static func labelled(_ count: Int) -> [ModelComparison.Image] {
    let (first, second) = (randomImages(count, seed: 5), randomImages(count, seed: 5))
    var generator = SplitMix64(seed: 77)
    return zip(first, second).enumerated().map { index, pair in
      let noise = pair.1.probabilities.values.map { $0 + Float(generator.index(below: 1000)) / 2500 }
      let sum = noise.reduce(0, +)
      return ModelComparison.Image(
        name: "\(index)", first: answer(pair.0.probabilities.values), second: answer(noise.map { $0 / sum }),
        truth: ModelComparison.Truth(label: pair.0.label, lesion: pair.0.lesion, unit: pair.0.unit))
    }
  }

  /// Draws lesions, repeats their images as often as they were drawn, and measures both models on the list that this makes.
  @Test func pairedIntervalsAreThoseOfAPlainRecomputation() throws {
    let images = Self.labelled(60)
    let measurement = try #require(ModelComparison(images).measurement)
    #expect(measurement.imageCount == 60)
    let imagesOfLesion = Dictionary(grouping: images.indices) { images[$0].truth!.lesion }
    let lesions = imagesOfLesion.keys.sorted()
    #expect(measurement.lesionCount == lesions.count)

    func evaluated(_ answer: (ModelComparison.Image) -> ModelComparison.Answer) -> [EvaluatedImage] {
      images.map {
        EvaluatedImage(
          lesion: $0.truth!.lesion, label: $0.truth!.label, probabilities: answer($0).probabilities)
      }
    }
    let (first, second) = (evaluated(\.first), evaluated(\.second))
    var differences: [Metric: [Double]] = [:]
    var accuracies: [Double] = []
    var generator = SplitMix64(seed: 2018)
    for _ in 0..<1000 {
      let drawn = lesions.map { _ in lesions[generator.index(below: lesions.count)] }
      let resample = drawn.flatMap { imagesOfLesion[$0]! }
      let before = EvaluationSet(resample.map { first[$0] }).values()
      let after = EvaluationSet(resample.map { second[$0] }).values()
      for metric in Metric.overall {
        if let first = before[metric], let second = after[metric] {
          differences[metric, default: []].append(second - first)
        }
      }
      let hits = resample.reduce(0) { sum, index in
        let (image, label) = (images[index], images[index].truth!.label)
        return sum + (image.second.probabilities.highest == label ? 1 : 0)
          - (image.first.probabilities.highest == label ? 1 : 0)
      }
      accuracies.append(Double(hits) / Double(resample.count))
    }
    func quantile(_ values: [Double], _ share: Double) -> Double {
      let sorted = values.sorted()
      let place = share * Double(values.count - 1)
      let part = place - place.rounded(.down)
      return sorted[Int(place)] * (1 - part) + sorted[Int(place) + 1] * part
    }
    for metric in Metric.overall {
      let interval = try #require(measurement.intervals[metric], "\(metric.key)")
      let values = try #require(differences[metric])
      #expect(abs(interval.lowerBound - quantile(values, 0.025)) < 1e-9, "\(metric.key)")
      #expect(abs(interval.upperBound - quantile(values, 0.975)) < 1e-9, "\(metric.key)")
      #expect(interval.lowerBound < interval.upperBound, "\(metric.key)")
      let difference = try #require(measurement.difference(metric))
      let expected = EvaluationSet(second).values()[metric]! - EvaluationSet(first).values()[metric]!
      #expect(abs(difference - expected) < 1e-12, "\(metric.key)")
    }
    let interval = try #require(measurement.intervals[.accuracy])
    #expect(abs(interval.lowerBound - quantile(accuracies, 0.025)) < 1e-9)
    #expect(abs(interval.upperBound - quantile(accuracies, 0.975)) < 1e-9)
  }

  @Test func aModelAgainstItselfDiffersByNothing() throws {
    let images = Self.labelled(60).map {
      ModelComparison.Image(name: $0.name, first: $0.first, second: $0.first, truth: $0.truth)
    }
    let comparison = ModelComparison(images)
    #expect(comparison.agreeingCount == 60)
    #expect(comparison.changes.allSatisfy { $0.size == 0 })
    let measurement = try #require(comparison.measurement)
    for metric in Metric.overall {
      #expect(measurement.difference(metric) == 0, "\(metric.key)")
      #expect(measurement.intervals[metric] == 0...0, "\(metric.key)")
    }
  }

  /// Two images of one lesion tell nothing of others; one class has no areas.
  @Test func oneLesionHasNoIntervalAndWhatIsUndefinedIsNull() throws {
    let mole = Self.answer([0, 0, 0, 0, 0.25, 0.75, 0])
    let truth = ModelComparison.Truth(label: .nv, lesion: "L", unit: ChanceUnit(.lesions, "L"))
    let comparison = ModelComparison(
      ["a", "b"].map { ModelComparison.Image(name: $0, first: mole, second: mole, truth: truth) })
    let json = JSONText.of(comparison)
    #expect(
      json.contains(
        """
        "labelled":{"n":2,"lesions":1,"absentClasses":["akiec","bcc","bkl","df","mel","vasc"],\
        "accuracy":{"model":1,"against":1,"difference":0,"differenceCI":null}
        """), "\(json)")
    #expect(
      json.contains(
        #""macroAUROC":{"model":null,"against":null,"difference":null,"differenceCI":null}"#), "\(json)")
  }

  @Test func classesInAnotherOrderAreTheSame() throws {
    let other = try #require(ClassScores([0, 0, 0, 0, 0.25, 0.75, 0]).ordered(as: .ham10000))
    #expect(other.values == [0, 0, 0, 0, 0.25, 0.75, 0])
    let turned = Labels(Labels.ham10000.reversed().map { .init(id: $0.id, name: "x", malignancy: nil) })
    let ordered = try #require(ClassScores([1, 2, 3, 4, 5, 6, 7], labels: turned).ordered(as: .ham10000))
    #expect(ordered.values == [7, 6, 5, 4, 3, 2, 1])
    #expect(ordered.labels == .ham10000)
    let two = Labels([
      .init(id: "nv", name: "nv", malignancy: nil), .init(id: "mel", name: "mel", malignancy: nil),
    ])
    #expect(ClassScores([1, 2], labels: two).ordered(as: .ham10000) == nil)
  }
}

private enum JSONText {
  static func of(_ comparison: ModelComparison) -> String { JSONValue.object(comparison.members).text }
}
