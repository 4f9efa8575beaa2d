import Testing

@testable import DermaFusion
@testable import Evaluation

@Suite struct RankedScoresTests {
  func area(_ scores: [Double], _ answers: [Bool], weights: [Double]? = nil) -> Double? {
    RankedScores(scores: scores, isPositive: answers)
      .areaUnderCurve(weights: weights ?? [Double](repeating: 1, count: scores.count))
  }

  @Test func areaCountsThePairsWon() {
    let fiveSixths: Double = 5.0 / 6
    // Positives 0.9, 0.4; negatives 0.8, 0.3, 0.1: the pairs won are 3 and 2 of 3 each.
    #expect(area([0.9, 0.8, 0.4, 0.3, 0.1], [true, false, true, false, false]) == fiveSixths)
    #expect(area([0.1, 0.9], [true, false]) == 0)
    #expect(area([-0.1, -0.9], [true, false]) == 1)
  }

  @Test func tiesCountHalf() {
    #expect(area([0.5, 0.5, 0.5], [true, false, false]) == 0.5)
    // 0.7 wins both; 0.4 ties with one and wins none.
    #expect(area([0.7, 0.4, 0.4, 0.6], [true, true, false, false]) == 0.625)
  }

  @Test func areaOfOneAnswerOnlyIsUndefined() {
    #expect(area([0.5, 0.2], [true, true]) == nil)
    #expect(area([0.5, 0.2], [false, false]) == nil)
    #expect(area([], []) == nil)
    #expect(area([0.5, 0.2], [true, false], weights: [3, 0]) == nil)
  }

  @Test(arguments: [1, 2, 3, 4] as [UInt64])
  func weightsAreRepetitions(seed: UInt64) {
    var generator = SplitMix64(seed: seed)
    let count = 40
    // Few different scores, so that there are ties.
    let scores = (0..<count).map { _ in Double(generator.index(below: 9)) - 4 }
    let answers = (0..<count).map { _ in generator.index(below: 3) == 0 }
    let weights = (0..<count).map { _ in Double(generator.index(below: 4)) }
    let repeated = (0..<count).flatMap { [Int](repeating: $0, count: Int(weights[$0])) }
    let ranked = RankedScores(scores: scores, isPositive: answers)
    let expected = RankedScores(scores: repeated.map { scores[$0] }, isPositive: repeated.map { answers[$0] })
    let ones = [Double](repeating: 1, count: repeated.count)
    #expect(ranked.areaUnderCurve(weights: weights) == expected.areaUnderCurve(weights: ones), "seed \(seed)")
    for percent in [0, 10, 35, 100] {
      #expect(
        ranked.sensitivity(falsePositivePercent: percent, weights: weights)
          == expected.sensitivity(falsePositivePercent: percent, weights: ones), "seed \(seed), \(percent) %")
    }
  }

  @Test func areaIsThatUnderTheCurve() throws {
    var generator = SplitMix64(seed: 5)
    let scores = (0..<60).map { _ in Double(generator.index(below: 20)) }
    let answers = scores.map { $0 + Double(generator.index(below: 12)) > 16 }
    let curve = RankedScores(scores: scores, isPositive: answers).curve(
      weights: [Double](repeating: 1, count: 60))
    #expect(curve.first == RankedScores.Point(falsePositiveRate: 0, truePositiveRate: 0))
    #expect(curve.last == RankedScores.Point(falsePositiveRate: 1, truePositiveRate: 1))
    var trapezoids = 0.0
    for (left, right) in zip(curve, curve.dropFirst()) {
      let width = right.falsePositiveRate - left.falsePositiveRate
      trapezoids += width * (right.truePositiveRate + left.truePositiveRate) / 2
    }
    let difference = try abs(trapezoids - #require(area(scores, answers)))
    #expect(difference < 1e-12)
    #expect(RankedScores(scores: [1, 2], isPositive: [true, true]).curve(weights: [1, 1]).isEmpty)
  }

  @Test func sensitivityAllowsATenthOfTheNegatives() {
    // Ten negatives: one may be above the threshold, not two.
    let negatives = (1...10).map { Double($0) }
    func sensitivity(_ positives: [Double]) -> Double? {
      let scores: [Double] = negatives + positives
      return RankedScores(scores: scores, isPositive: scores.indices.map { $0 >= negatives.count })
        .sensitivity(falsePositivePercent: 10, weights: [Double](repeating: 1, count: scores.count))
    }
    #expect(sensitivity([11, 9.5, 8.5, 0]) == 0.5)
    // Tied with the second negative: no threshold takes one without the other.
    #expect(sensitivity([11, 9.5, 9, 9]) == 0.5)
    #expect(sensitivity([10, 10]) == 1)
    #expect(sensitivity([0, 0.5]) == 0)
    #expect(sensitivity([]) == nil)
  }

  @Test func equalScoresFindNothing() {
    #expect(
      RankedScores(scores: [0, 0, 0], isPositive: [true, false, true])
        .sensitivity(falsePositivePercent: 10, weights: [1, 1, 1]) == 0)
  }
}
