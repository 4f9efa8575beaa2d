import SystemModule

/// A bias for each class and a temperature: probabilities are softmax((logits + bias) / temperature).
///
/// The definition is `Scripts/dermafusion_training/evaluation/calibration.py`, with the same constants.
package struct CalibrationFit: Sendable, Equatable {
  /// What is added to each class's logit; adds up to 0.
  package let bias: [Double]
  /// Above 0.
  package let temperature: Double

  /// Temperatures that are tried, evenly by their logarithm.
  private static let temperatures: [Double] = {
    let (first, last, count) = (Mathematics.log(0.4), Mathematics.log(2.5), 181)
    return (0..<count).map { Mathematics.exp(first + (last - first) * Double($0) / Double(count - 1)) }
  }()
  /// Of the negative log-likelihood; a smaller gain is noise on a thousand lesions.
  private static let worthFitting = 0.002
  /// Weight of an image of melanoma beside one of another class: a missed melanoma costs more than a false alarm.
  private static let missedMelanoma = 2.0
  /// Weight of the mean square of the biases, which keeps them small.
  private static let smallBias = 0.02

  package init(bias: [Double], temperature: Double) {
    self.bias = bias
    self.temperature = temperature
  }

  /// Fits both to images whose classes are known: the bias first, with a temperature of 1, then the temperature.
  ///
  /// - Parameters:
  ///   - logits: finite, `[images][classes]`; at least one image.
  ///   - labels: the class of each image.
  ///   - melanoma: the class that is melanoma; nil where none is.
  package init(logits: [[Double]], labels: [Int], melanoma: Int?) {
    precondition(
      !logits.isEmpty && logits.count == labels.count, "\(logits.count) logits, \(labels.count) labels")
    let bias = Self.bias(logits, labels, melanoma: melanoma)
    self.bias = bias
    temperature = Self.temperature(logits.map { zip($0, bias).map(+) }, labels)
  }

  /// The probabilities of an image's classes.
  package func probabilities(_ logits: [Double]) -> [Double] {
    softmax(zip(logits, bias).map { ($0 + $1) / temperature })
  }

  /// The temperature with the least negative log-likelihood; 1 where none lowers it by more than ``worthFitting``.
  private static func temperature(_ logits: [[Double]], _ labels: [Int]) -> Double {
    let losses = temperatures.map { temperature in
      zip(logits, labels).reduce(0.0) { sum, image in
        sum - Mathematics.log(softmax(image.0.map { $0 / temperature })[image.1] + 1e-12)
      } / Double(labels.count)
    }
    func least(_ values: [Double]) -> Int {
      values.indices.reduce(0) { values[$1] < values[$0] ? $1 : $0 }
    }
    let best = least(losses)
    let atOne = least(temperatures.map { abs($0 - 1) })
    return losses[atOne] - losses[best] > worthFitting ? temperatures[best] : 1
  }

  /// The biases with the least negative log-likelihood. An image weighs one by the square root of its class's images, so
  /// that the rare classes are not given up for the common ones, and ``missedMelanoma`` times that where it shows melanoma.
  /// The problem is convex; Newton's method solves it in a few steps.
  private static func bias(_ logits: [[Double]], _ labels: [Int], melanoma: Int?) -> [Double] {
    let count = logits[0].count
    var sizes = [Double](repeating: 0, count: count)
    for label in labels { sizes[label] += 1 }
    var weights = labels.map { ($0 == melanoma ? missedMelanoma : 1) / sizes[$0].squareRoot() }
    let mean = weights.reduce(0, +) / Double(weights.count)
    for index in weights.indices { weights[index] /= mean }

    func loss(_ bias: [Double]) -> Double {
      var sum = 0.0
      for (image, label) in labels.enumerated() {
        sum -= weights[image] * Mathematics.log(softmax(zip(logits[image], bias).map(+))[label] + 1e-12)
      }
      return sum / Double(labels.count) + smallBias * bias.reduce(0) { $0 + $1 * $1 } / Double(count)
    }

    var bias = [Double](repeating: 0, count: count)
    var present = loss(bias)
    for _ in 0..<stepLimit {
      let step = newtonStep(bias, logits: logits, labels: labels, weights: weights)
      // The whole step, or a part of it where it goes too far.
      var share = 1.0
      var next = bias
      var value = present
      repeat {
        next = zip(bias, step).map { $0 - share * $1 }
        value = loss(next)
        share /= 2
      } while value > present && share > 1e-9
      guard value < present else { break }
      (bias, present) = (next, value)
    }
    let centre = bias.reduce(0, +) / Double(count)
    return bias.map { $0 - centre }
  }

  /// More than are ever needed: the steps end where none lowers the loss.
  private static let stepLimit = 100

  /// The inverse of the loss's second derivative times its slope.
  private static func newtonStep(
    _ bias: [Double], logits: [[Double]], labels: [Int], weights: [Double]
  ) -> [Double] {
    let count = bias.count
    var slope = [Double](repeating: 0, count: count)
    var curvature = [[Double]](repeating: slope, count: count)
    for (image, label) in labels.enumerated() {
      let probabilities = softmax(zip(logits[image], bias).map(+))
      for row in 0..<count {
        let weighted = weights[image] * probabilities[row]
        slope[row] += weighted
        curvature[row][row] += weighted
        for column in 0..<count { curvature[row][column] -= weighted * probabilities[column] }
      }
      slope[label] -= weights[image]
    }
    let ridge = 2 * smallBias / Double(count)
    for row in 0..<count {
      slope[row] = slope[row] / Double(labels.count) + ridge * bias[row]
      for column in 0..<count { curvature[row][column] /= Double(labels.count) }
      curvature[row][row] += ridge
    }
    return solution(curvature, slope)
  }

  /// Solves `matrix` x = `side` by Cholesky's factors.
  ///
  /// - Parameter matrix: symmetric and positive definite.
  private static func solution(_ matrix: [[Double]], _ side: [Double]) -> [Double] {
    let count = side.count
    var lower = matrix
    for row in 0..<count {
      for column in 0...row {
        var sum = matrix[row][column]
        for inner in 0..<column { sum -= lower[row][inner] * lower[column][inner] }
        lower[row][column] = row == column ? sum.squareRoot() : sum / lower[column][column]
      }
    }
    var solution = side
    for row in 0..<count {
      for column in 0..<row { solution[row] -= lower[row][column] * solution[column] }
      solution[row] /= lower[row][row]
    }
    for row in stride(from: count - 1, through: 0, by: -1) {
      for column in row + 1..<max(count, row + 1) { solution[row] -= lower[column][row] * solution[column] }
      solution[row] /= lower[row][row]
    }
    return solution
  }
}

private func softmax(_ values: [Double]) -> [Double] {
  let greatest = values.reduce(-.infinity, max)
  let exponentials = values.map { Mathematics.exp($0 - greatest) }
  let sum = exponentials.reduce(0, +)
  return exponentials.map { $0 / sum }
}
