/// The scores of images for one question with two answers, ranked once so that its ROC curve can be had under any
/// weights, which say how much each image counts, in one pass. Images with equal scores share a rank: no threshold can
/// tell them apart.
package struct RankedScores: Sendable {
  /// A point of the ROC curve.
  package struct Point: Sendable, Equatable {
    package let falsePositiveRate: Double
    package let truePositiveRate: Double
  }

  /// Images by falling score, those with the same score together.
  private let ranks: [[Int]]
  private let isPositive: [Bool]

  /// - Parameters:
  ///   - scores: one an image, finite.
  ///   - isPositive: the true answer, one an image.
  package init(scores: [Double], isPositive: [Bool]) {
    precondition(scores.count == isPositive.count, "\(scores.count) scores, \(isPositive.count) answers")
    var ranks: [[Int]] = []
    var lastScore: Double?
    for image in scores.indices.sorted(by: { (-scores[$0], $0) < (-scores[$1], $1) }) {
      if scores[image] == lastScore {
        ranks[ranks.count - 1].append(image)
      } else {
        ranks.append([image])
      }
      lastScore = scores[image]
    }
    self.ranks = ranks
    self.isPositive = isPositive
  }

  /// The probability that a positive image scores above a negative one, a tie counting half; `nil` without at
  /// least one of each.
  package func areaUnderCurve(weights: [Double]) -> Double? {
    // Pairs won count two and ties one, so that with whole weights all sums are whole and the order of images cannot show.
    var twicePairsWon = 0.0
    var positivesAbove = 0.0
    var negatives = 0.0
    for rank in ranks {
      let (positive, negative) = counts(rank, weights)
      twicePairsWon += negative * (2 * positivesAbove + positive)
      positivesAbove += positive
      negatives += negative
    }
    guard positivesAbove > 0, negatives > 0 else { return nil }
    return twicePairsWon / (2 * positivesAbove * negatives)
  }

  /// The greatest share of positives at or above any threshold that at most `percent` of a hundred negatives
  /// reach; `nil` without at least one of each.
  package func sensitivity(falsePositivePercent percent: Int, weights: [Double]) -> Double? {
    let (positives, negatives) = totals(weights)
    guard positives > 0, negatives > 0 else { return nil }
    var found = 0.0
    var falsePositives = 0.0
    for rank in ranks {
      let (positive, negative) = counts(rank, weights)
      falsePositives += negative
      if falsePositives * 100 > Double(percent) * negatives { break }
      found += positive
    }
    return found / positives
  }

  /// The ROC curve from (0, 0) to (1, 1); empty without at least one of each answer.
  package func curve(weights: [Double]) -> [Point] {
    let (positives, negatives) = totals(weights)
    guard positives > 0, negatives > 0 else { return [] }
    var found = 0.0
    var falsePositives = 0.0
    var points = [Point(falsePositiveRate: 0, truePositiveRate: 0)]
    for rank in ranks {
      let (positive, negative) = counts(rank, weights)
      found += positive
      falsePositives += negative
      points.append(
        Point(falsePositiveRate: falsePositives / negatives, truePositiveRate: found / positives))
    }
    return points
  }

  /// The mean precision over the positives, each at the highest threshold that finds it: the area under the curve of precision and
  /// recall without interpolation, as `sklearn.metrics.average_precision_score` has it. Nil without a positive image.
  package func averagePrecision(weights: [Double]) -> Double? {
    var (sum, found, chosen) = (0.0, 0.0, 0.0)
    for rank in ranks {
      let (positive, negative) = counts(rank, weights)
      found += positive
      chosen += positive + negative
      if positive > 0 { sum += positive * (found / chosen) }
    }
    return found > 0 ? sum / found : nil
  }

  /// The precision at each recall, 0...1, at the highest threshold that reaches it; nil without a positive image.
  ///
  /// - Parameter recalls: rising.
  package func precisions(atRecalls recalls: [Double], weights: [Double]) -> [Double?] {
    let (positives, _) = totals(weights)
    var precisions: [Double?] = []
    var found = 0.0
    var chosen = 0.0
    for rank in ranks where positives > 0 {
      let (positive, negative) = counts(rank, weights)
      found += positive
      chosen += positive + negative
      while precisions.count < recalls.count, found > 0,
        found >= recalls[precisions.count] * positives
      {
        precisions.append(found / chosen)
      }
    }
    return precisions + [Double?](repeating: nil, count: recalls.count - precisions.count)
  }

  /// The weights of all images of each answer.
  func totals(_ weights: [Double]) -> (positive: Double, negative: Double) {
    counts(Array(isPositive.indices), weights)
  }

  private func counts(_ images: [Int], _ weights: [Double]) -> (positive: Double, negative: Double) {
    var positive = 0.0
    var negative = 0.0
    for image in images {
      if isPositive[image] { positive += weights[image] } else { negative += weights[image] }
    }
    return (positive, negative)
  }
}
