import DermaFusion
import SystemModule
import Testing

@testable import Evaluation

/// The judgement of each part of a calibration by its own figure.
@Suite struct CalibrationVerdictTests {
  /// Logits of a model with labels that are drawn from its probabilities at some temperature.
  static func images(
    _ count: Int, temperature: Double = 1, seed: UInt64 = 5, photographs: Int = 1,
    distance: (Int) -> Double? = { _ in nil }
  ) -> [ModelCalibration.Image] {
    var generator = SplitMix64(seed: seed)
    func share() -> Double { Double(generator.index(below: 1 << 20)) / Double(1 << 20) }
    return (0..<count).flatMap { lesion in
      let logits = Labels.ham10000.map { _ in Float(share() + share() + share() - 1.5) * 4 }
      let probabilities = CalibrationFit(bias: [Double](repeating: 0, count: 7), temperature: temperature)
        .probabilities(logits.map { Double($0) })
      var rest = share()
      let label = Labels.ham10000.first { label in
        rest -= probabilities[label.index]
        return rest < 0
      }
      return (0..<photographs).map { _ in
        ModelCalibration.Image(
          lesion: "L\(lesion)", label: label ?? .nv, logits: ClassScores(logits),
          distance: distance(lesion), reasons: [])
      }
    }
  }

  static func model(
    temperature: Double = 1, thresholds: [Double]? = nil, distance: Double = 2
  ) -> ModelCalibration {
    ModelCalibration(
      fit: CalibrationFit(bias: [Double](repeating: 0, count: 7), temperature: temperature),
      limits: thresholds.map {
        .init(
          coverage: 0.9, thresholds: $0, coverageByClass: $0.map { _ in 0.9 }, distance: distance,
          outerTenth: distance / 2)
      })
  }

  @Test func aTemperatureThatIsWrongIsFoundAndKept() throws {
    let images = Self.images(120, temperature: 4)
    let comparison = CalibrationComparison(images, by: CalibrationMethod(from: Self.model()))
    let verdict = try #require(comparison.verdicts.first)
    #expect(comparison.verdicts.map(\.part) == [.probabilities] && comparison.kept == [.probabilities])
    #expect(verdict.isBetter && verdict.figure == .negativeLogLikelihood)
    let bound = try #require(verdict.upperBound)
    let interval = try #require(verdict.difference.interval)
    // One-sided: below the upper end of the interval of both sides, above the difference.
    #expect(bound < 0 && bound < interval.upperBound && bound > interval.lowerBound)
    #expect(verdict.decidingUnitCount == nil)
    let row = try #require(comparison.rows.first { $0.metric == .negativeLogLikelihood })
    #expect(row.before.value == verdict.before.value && row.after.value == verdict.after.value)
  }

  @Test func aModelThatIsRightIsLeftAsItIs() {
    let images = Self.images(120)
    let comparison = CalibrationComparison(images, by: CalibrationMethod(from: Self.model()))
    #expect(comparison.kept.isEmpty && comparison.fittedParts == [.probabilities])
    let forced = CalibrationComparison(
      images, by: CalibrationMethod(from: Self.model()), keepsAll: true)
    #expect(forced.verdicts.allSatisfy { !$0.isBetter } && forced.kept == [.probabilities])
    #expect(forced.verdicts[0].difference.value == comparison.verdicts[0].difference.value)
  }

  /// The probabilities are right, and the sets hold too little and the limit is far too near.
  @Test func eachPartIsJudgedByItsOwnFigure() throws {
    let present = Self.model(thresholds: [Double](repeating: 0.6, count: 7), distance: 1)
    let images = Self.images(600, distance: { Double($0 % 200) / 100 })
    let comparison = CalibrationComparison(images, by: CalibrationMethod(from: present))
    #expect(comparison.verdicts.map(\.part) == [.probabilities, .sets, .distance])
    #expect(comparison.verdicts.map(\.isLower) == [false, true, true])
    #expect(
      comparison.verdicts.map(\.figure.key) == [
        "negativeLogLikelihood", "coverageDistance", "falseAlarmDistance",
      ])
    // Nearer to 0.9, at the price of larger sets.
    let sets = comparison.verdicts[1]
    #expect(try #require(sets.growth) > CalibrationVerdict.mostGrowth && !sets.isBetter)
    #expect(comparison.kept == [.distance])
    func value(_ key: String) throws -> (before: Double, after: Double) {
      let row = try #require(comparison.rows.first { $0.metric.key == key })
      return (try #require(row.before.value), try #require(row.after.value))
    }
    // 99 of 200 distances are above 1; the others keep to it.
    #expect(try value("falseAlarms").before == 99.0 / 200)
    #expect(try abs(value("falseAlarms").after - 0.01) < 0.006)
    #expect(try value("negativeLogLikelihood").before == value("negativeLogLikelihood").after)
    #expect(try value("coverage").before == value("coverage").after)
  }

  @Test func setsOfTheRightSizeAreKept() throws {
    // Thresholds of 0.02 hold nearly every class.
    let present = Self.model(thresholds: [Double](repeating: 0.02, count: 7))
    let images = Self.images(400, distance: { _ in 1 })
    let comparison = CalibrationComparison(images, by: CalibrationMethod(from: present))
    #expect(comparison.kept.contains(.sets) && !comparison.kept.contains(.probabilities))
    let sets = try #require(comparison.verdicts.first { $0.part == .sets })
    #expect(try #require(sets.growth) < 0)
    #expect(try #require(sets.after.value) < 0.03)
    let fitted = CalibrationMethod(from: present).fitted(comparison.kept, to: images)
    #expect(fitted.fit == present.fit && fitted.limits?.distance == present.limits?.distance)
    #expect(fitted.limits?.thresholds != present.limits?.thresholds)
  }

  /// 70 lesions of one patient, or 4 photographs of each of 30 lesions, are no more than one patient or 30 lesions.
  @Test func unitsAreCountedAndNotPhotographs() throws {
    let once = CalibrationComparison(
      Self.images(60, temperature: 1.6), by: CalibrationMethod(from: Self.model()))
    let thrice = CalibrationComparison(
      Self.images(60, temperature: 1.6, photographs: 9), by: CalibrationMethod(from: Self.model()))
    let widths = try [once, thrice].map { comparison in
      let interval = try #require(comparison.rows[0].before.interval)
      return interval.upperBound - interval.lowerBound
    }
    #expect(abs(widths[0] - widths[1]) < 1e-9, "\(widths)")
  }

  @Test func anEstimateSaysHowManyUnitsWouldDecide() throws {
    // So little is wrong that 60 lesions seldom show it.
    let verdicts = (1...12).lazy.map { seed in
      CalibrationComparison(
        Self.images(60, temperature: 1.3, seed: seed), by: CalibrationMethod(from: Self.model())
      ).verdicts[0]
    }
    let verdict = try #require(verdicts.first { $0.decidingUnitCount != nil })
    let deciding = try #require(verdict.decidingUnitCount)
    let (value, bound) = (try #require(verdict.difference.value), try #require(verdict.upperBound))
    #expect(!verdict.isBetter && value < 0 && bound >= 0)
    let exact = 60 * ((bound - value) / value) * ((bound - value) / value)
    #expect(Double(deciding) >= exact && Double(deciding) <= exact * 1.1 && deciding > 60)
  }

  /// A fit that follows the most common class costs the others their recall, whatever it gains in likelihood.
  @Test func whatMakesAnotherFigureWorseIsNotKept() throws {
    // 570 nevi that the model takes for melanomas by a hair, and 30 melanomas that it finds by as little.
    let labels = Labels.ham10000
    let images = (0..<600).map { index in
      let label = index % 20 == 0 ? labels[4] : labels[5]
      var logits = [Float](repeating: -6, count: 7)
      logits[4] = label.index == 4 ? 1 : index % 3 == 0 ? 0.4 : -0.4
      logits[5] = 0
      return ModelCalibration.Image(
        lesion: "\(index)", label: label, logits: ClassScores(logits), distance: nil, reasons: [])
    }
    let comparison = CalibrationComparison(images, by: CalibrationMethod(from: Self.model()))
    let verdict = comparison.verdicts[0]
    #expect(verdict.isLower)
    #expect(verdict.worse == [.balancedAccuracy] && !verdict.isBetter && comparison.kept.isEmpty)
  }
}
