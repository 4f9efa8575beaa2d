import DermaFusion
import SystemModule
import Testing

@testable import Evaluation

/// The values that are fitted, one by one: the likeliest probabilities, the thresholds of the sets and the limits of the
/// distance.
@Suite struct CalibrationLimitTests {
  /// The penalties stand here as numbers: with others, a fit follows chance or nothing.
  @Test func theFitIsTheLikeliestOneWithItsPenalties() {
    var generator = SplitMix64(seed: 9)
    func noise() -> Double { Double(generator.index(below: 2001)) / 1000 - 1 }
    let labels = (0..<90).map { $0 % 3 }
    let logits = labels.map { [$0 == 0 ? 1.5 : 0, noise(), noise()] }
    let features = labels.map { [2 * noise(), $0 == 2 ? 3.0 : -3.0, noise()] }
    let present = 0.4
    let fit = CalibrationFit(logits: logits, labels: labels, temperature: present, features: features)
    let squares = features.joined().reduce(0) { $0 + $1 * $1 } / Double(labels.count * 3)
    func loss(_ fit: CalibrationFit) -> Double {
      let likelihood = zip(labels, zip(logits, features)).reduce(0) {
        $0 - Mathematics.log(fit.probabilities($1.1.0, features: $1.1.1)[$1.0])
      }
      let factor = present / fit.temperature - 1
      let bias = fit.bias.reduce(0) { $0 + $1 * $1 } / (fit.temperature * fit.temperature)
      let change =
        fit.change!.joined().reduce(0) { $0 + $1 * $1 } * squares / (fit.temperature * fit.temperature)
      return likelihood + 40 / 2 * factor * factor + 10 / 2 * bias + 1000 / 2 * change
    }
    let least = loss(fit)
    for scale in [0.97, 1.03] {
      #expect(
        loss(CalibrationFit(bias: fit.bias, temperature: fit.temperature * scale, change: fit.change)) > least
      )
      #expect(
        loss(
          CalibrationFit(bias: fit.bias.map { $0 * scale }, temperature: fit.temperature, change: fit.change))
          > least)
      #expect(
        loss(
          CalibrationFit(
            bias: fit.bias, temperature: fit.temperature, change: fit.change!.map { $0.map { $0 * scale } }))
          > least, "\(scale)")
    }
  }

  /// Labels that are always the least likely class make the likeliest temperature infinite.
  @Test func aFitIsBoundedAndOneThatIgnoresTheLogitsIsKnown() {
    let logits = (0..<80).map { image in (0..<4).map { Double(($0 * 7 + image * 5) % 11) } }
    let present = CalibrationFit(bias: [0, 0, 0, 0], temperature: 0.8)
    func fit(_ labels: [Int]) -> CalibrationFit {
      CalibrationFit(logits: logits, labels: labels, temperature: present.temperature)
    }
    let least = fit(logits.map { $0.indices.min { [values = $0] in values[$0] < values[$1] }! })
    #expect(least.temperature <= 8 && least.temperature > 7.9 && least.ignoresLogits(of: present))
    #expect(least.bias.allSatisfy { abs($0) < 100 })
    let most = fit(logits.map { $0.indices.max { [values = $0] in values[$0] < values[$1] }! })
    #expect(most.temperature >= 0.08 && most.temperature < 0.8 && !most.ignoresLogits(of: present))
    // Labels that are right in two of three images.
    let some = fit(
      logits.enumerated().map { image, values in
        image % 3 == 0 ? image % 4 : values.indices.max { values[$0] < values[$1] }!
      })
    #expect(!some.ignoresLogits(of: present), "\(some.temperature)")
  }

  private static let labels = Labels.ham10000

  /// Nevi of rising probability, each of a lesion of its own and photographed so often.
  private static func nevi(_ photographs: [Int]) -> [ModelCalibration.Image] {
    photographs.enumerated().flatMap { lesion, count in
      (0..<count).map { _ in
        var logits = [Float](repeating: 0, count: 7)
        logits[5] = Float(lesion) / 10
        return ModelCalibration.Image(
          lesion: "\(lesion)", label: labels[5], logits: ClassScores(logits), distance: 1, reasons: [])
      }
    }
  }

  private static func threshold(_ images: [ModelCalibration.Image]) -> Double? {
    ClassUnits(images).thresholds(of: images.map { $0.logits.values.map { Double($0) } })[5]
  }

  @Test func aLesionCountsOnceHoweverOftenItWasPhotographed() {
    let once = [Int](repeating: 1, count: 9)
    #expect(Self.threshold(Self.nevi(once)) == 0)
    #expect(Self.threshold(Self.nevi([Int](repeating: 1, count: 8))) == nil)
    #expect(Self.threshold(Self.nevi([30, 1, 1, 1, 1, 1, 1, 1])) == nil)
    // One of 19 lesions may be left out, whichever was photographed often.
    var counts = [Int](repeating: 1, count: 19)
    for place in [0, 1, 2, 18] {
      counts[place] = 40
      #expect(Self.threshold(Self.nevi(counts)) == Double(Float(1) / 10), "\(place)")
      counts[place] = 1
    }
    #expect(ClassUnits(Self.nevi(counts)).counts == [0, 0, 0, 0, 0, 19, 0])
  }

  @Test func theLimitsAreThoseOfTheirShares() throws {
    let present = ModelCalibration(
      fit: CalibrationFit(bias: [Double](repeating: 0, count: 7), temperature: 1),
      limits: .init(
        coverage: 0.8, thresholds: [Double](repeating: 0.5, count: 7),
        coverageByClass: [0.8, 0.8, nil, 0.8, 0.8, 0.8, 0.8], distance: 9, outerTenth: nil))
    var generator = SplitMix64(seed: 4)
    let images = (0..<201).map { index in
      let logits = Self.labels.map { _ in Float(generator.index(below: 1000)) / 300 }
      return ModelCalibration.Image(
        lesion: "\(index)", label: Self.labels[index % 3 == 0 ? 4 : 5], logits: ClassScores(logits),
        distance: Double(index), reasons: [])
    }
    let method = CalibrationMethod(from: present)
    let limits = try #require(method.fitted([.sets, .distance], to: images).limits)
    #expect(limits.distance == 198 && limits.outerTenth == 180)
    #expect(limits.coverage == 0.9)
    #expect(limits.coverageByClass == [nil, nil, nil, nil, 0.9, 0.9, nil])
    // Rounded down: the photograph that a threshold was read off is in its own set.
    for label in [4, 5] {
      let own = images.filter { $0.label.index == label }
      let probabilities = own.map { present.fit.probabilities(of: $0)[label] }.sorted()
      let threshold = limits.thresholds[label]
      let nearest = try #require(probabilities.min { abs($0 - threshold) < abs($1 - threshold) })
      #expect(threshold <= nearest && nearest - threshold < 1e-6)
      #expect(Double(probabilities.count { $0 < threshold }) <= 0.1 * Double(own.count + 1) - 1)
    }
    // What is not fitted stays, and promises what it promised.
    let distance = try #require(method.fitted([.distance], to: images).limits)
    #expect(distance.thresholds == present.limits?.thresholds && distance.coverage == 0.8)
    #expect(distance.coverageByClass == present.limits?.coverageByClass)
    // New probabilities below old thresholds: what the images show takes the place of the old promise.
    let probabilities = try #require(method.fitted([.probabilities], to: images).limits)
    #expect(probabilities.thresholds == present.limits?.thresholds)
    let fitted = method.fitted([.probabilities], to: images)
    let shares = [4, 5].map { label in
      let own = images.filter { $0.label.index == label }
      let held = own.count { fitted.evaluated($0).abstention.conformalSet!.classes.contains($0.label) }
      return (Double(held) / Double(own.count) * 1e4).rounded() / 1e4
    }
    #expect(shares[0] != shares[1] && !shares.contains(0.8), "\(shares)")
    #expect(probabilities.coverageByClass == [nil, nil, nil, nil, shares[0], shares[1], nil])
    #expect(probabilities.distance == 9 && probabilities.outerTenth == nil)
  }

  @Test func anImageBeyondTheLimitIsFarAndOneAtItIsNot() {
    let present = CalibrationVerdictTests.model(thresholds: [Double](repeating: 0.1, count: 7), distance: 2)
    let reasons = [1.9, 2, 2.1].map { distance in
      present.evaluated(
        ModelCalibration.Image(
          lesion: "", label: .nv, logits: ClassScores([0, 0, 0, 0, 0, 1, 0]), distance: distance,
          reasons: [.blurred, .outOfDistribution])
      ).abstention.reasons
    }
    #expect(reasons == [[.blurred], [.blurred], [.blurred, .outOfDistribution]])
  }
}
