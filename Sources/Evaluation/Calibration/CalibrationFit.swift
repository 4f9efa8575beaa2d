import SystemModule

/// The function that makes probabilities of a model's logits: softmax((logits + change x features + bias) / temperature).
///
/// The definition is `Scripts/dermafusion_training/evaluation/calibration.py`, with the same constants.
package struct CalibrationFit: Sendable, Equatable {
  /// The addition to each class's logit; 0 for a class that no image shows.
  package let bias: [Double]
  /// Above 0.
  package let temperature: Double
  /// The addition to the weights of the last layer, `[classes][features]`; nil where they stay.
  package var change: [[Double]]?

  /// The image's logits with the changed weights of the last layer, before the bias.
  package func changed(_ logits: [Double], features: [Double]?) -> [Double] {
    guard let change, let features else { return logits }
    return zip(logits, change).map { logit, weights in
      zip(weights, features).reduce(logit) { $0 + $1.0 * $1.1 }
    }
  }

  /// The probabilities of an image's classes.
  package func probabilities(_ logits: [Double], features: [Double]? = nil) -> [Double] {
    softmax(zip(changed(logits, features: features), bias).map { ($0 + $1) / temperature })
  }
}

// MARK: - Maximum likelihood

extension CalibrationFit {
  /// Weights of the squares of the biases and of the relative change of the scale, beside the sum of the images' negative
  /// log-likelihoods. They were chosen on the validation lesions of five sources: with less, a fit to a hundred lesions
  /// follows chance.
  private static let (biasPenalty, scalePenalty) = (10.0, 40.0)
  /// The same for the last layer's weights, where the features have a mean square of 1.
  private static let changePenalty = 1000.0

  /// The temperature is at most so many times the present one, and at least the same part of it: beyond that all classes are
  /// equally probable, or each answer is certain, whatever the image shows.
  private static let temperatureFactor = 10.0

  /// True if the fit would go beyond the greatest temperature: it does best without the logits, so the labels have nothing to do
  /// with the model's classes.
  package func ignoresLogits(of present: CalibrationFit) -> Bool {
    temperature > 0.99 * Self.temperatureFactor * present.temperature
  }

  /// The most likely temperature and biases, every image weighing the same, with a preference for those of the present model.
  ///
  /// - Parameters:
  ///   - logits: finite, `[images][classes]`; at least one image.
  ///   - features: what the last layer takes of each image, `[images][features]`, where its weights are to be fitted too.
  package init(logits: [[Double]], labels: [Int], temperature: Double, features: [[Double]]? = nil) {
    Self.require(logits, labels)
    let objective = LikelihoodObjective(
      logits: logits.flatMap { $0 }, labels: labels, features: features ?? labels.map { _ in [] },
      scale: 1 / temperature, scaleFactors: 1 / Self.temperatureFactor...Self.temperatureFactor,
      penalties: (Self.scalePenalty, Self.biasPenalty, Self.changePenalty))
    let place = Minimizer.minimum(
      from: [Double](repeating: 0, count: objective.parameterCount), objective.callAsFunction)
    let scale = objective.scale * (1 + place[0])
    let classCount = logits[0].count
    bias = place[1...classCount].map { $0 / scale }
    self.temperature = 1 / scale
    change = features.map { features in
      (0..<classCount).map { label in
        features[0].indices.map {
          place[1 + classCount + label * features[0].count + $0] * objective.featureScale / scale
        }
      }
    }
  }

  fileprivate static func require(_ logits: [[Double]], _ labels: [Int]) {
    precondition(
      !logits.isEmpty && logits.count == labels.count, "\(logits.count) logits, \(labels.count) labels")
  }
}

/// The mean negative log-likelihood of softmax(scale x (1 + p0) x logits + p1... + changes x features), with penalties.
private struct LikelihoodObjective {
  let logits: [Double]
  let labels: [Int]
  /// `[images][features]`, with a mean square of 1.
  let features: [Double]
  let featureCount: Int
  /// The factor of the features.
  let featureScale: Double
  let classCount: Int
  let scale: Double
  /// The bounds of 1 + p0.
  let scaleFactors: ClosedRange<Double>
  let penalties: (scale: Double, bias: Double, change: Double)
  /// True if an image shows the class; the bias and the weights of another one stay.
  let isShown: [Bool]

  init(
    logits: [Double], labels: [Int], features: [[Double]], scale: Double,
    scaleFactors: ClosedRange<Double>, penalties: (scale: Double, bias: Double, change: Double)
  ) {
    self.logits = logits
    self.labels = labels
    self.scale = scale
    self.scaleFactors = scaleFactors
    self.penalties = penalties
    let classCount = logits.count / labels.count
    self.classCount = classCount
    isShown = (0..<classCount).map(labels.contains)
    featureCount = features[0].count
    let values = features.flatMap { $0 }
    let meanSquare = values.reduce(0) { $0 + $1 * $1 } / Double(max(values.count, 1))
    let featureScale = meanSquare > 0 ? 1 / meanSquare.squareRoot() : 1
    self.featureScale = featureScale
    self.features = values.map { $0 * featureScale }
  }

  var parameterCount: Int { 1 + classCount * (1 + featureCount) }

  func callAsFunction(_ place: [Double]) -> (value: Double, slope: [Double]) {
    var slope = [Double](repeating: 0, count: place.count)
    guard scaleFactors.contains(1 + place[0]) else { return (.infinity, slope) }
    let weight = { (index: Int) in
      index == 0 ? penalties.scale : index <= classCount ? penalties.bias : penalties.change
    }
    var sum = 0.0
    for index in place.indices {
      sum += weight(index) / 2 * place[index] * place[index]
      slope[index] = weight(index) * place[index]
    }
    let present = scale * (1 + place[0])
    var values = [Double](repeating: 0, count: classCount)
    for (image, label) in labels.enumerated() {
      let inputs = image * featureCount
      for index in 0..<classCount {
        values[index] = present * logits[image * classCount + index] + place[1 + index]
        let weights = 1 + classCount + index * featureCount
        for offset in 0..<featureCount {
          values[index] += place[weights + offset] * features[inputs + offset]
        }
      }
      let greatest = values.reduce(-.infinity, max)
      let total = values.reduce(0) { $0 + Mathematics.exp($1 - greatest) }
      sum += greatest + Mathematics.log(total) - values[label]
      for index in 0..<classCount {
        let error = Mathematics.exp(values[index] - greatest) / total - (index == label ? 1 : 0)
        slope[0] += error * scale * logits[image * classCount + index]
        guard isShown[index] else { continue }
        slope[1 + index] += error
        let weights = 1 + classCount + index * featureCount
        for offset in 0..<featureCount { slope[weights + offset] += error * features[inputs + offset] }
      }
    }
    let count = Double(labels.count)
    return (sum / count, slope.map { $0 / count })
  }
}

// MARK: - Weighted classes

extension CalibrationFit {
  /// Temperatures that are tried, evenly by their logarithm.
  private static let temperatures: [Double] = {
    let (first, last, count) = (Mathematics.log(0.4), Mathematics.log(2.5), 181)
    return (0..<count).map { Mathematics.exp(first + (last - first) * Double($0) / Double(count - 1)) }
  }()
  /// The gain in negative log-likelihood that is worth a fit; a smaller one is noise on a thousand lesions.
  private static let worthFitting = 0.002
  /// Weight of the mean square of the biases, which keeps them small.
  private static let smallBias = 0.02

  /// Fits the bias first, with a temperature of 1, then the temperature. An image weighs one by the square root of its class's
  /// images, so that the rare classes are not given up for the common ones, and a melanoma weighs more.
  ///
  /// - Parameters:
  ///   - logits: finite, `[images][classes]`; at least one image.
  ///   - melanoma: the class that is melanoma; nil where none is.
  ///   - melanomaWeight: of an image of melanoma beside one of another class.
  package init(logits: [[Double]], labels: [Int], melanoma: Int?, melanomaWeight: Double) {
    Self.require(logits, labels)
    bias = Self.bias(logits, labels) { $0 == melanoma ? melanomaWeight : 1 }
    let biased = logits.map { [bias] in zip($0, bias).map(+) }
    temperature = Self.temperature(biased, labels)
    change = nil
  }

  /// True if the temperature is the first or the last that the weighted fit tries.
  package var isAtLimit: Bool {
    [Self.temperatures[0], Self.temperatures[Self.temperatures.count - 1]].contains {
      abs($0 - temperature) < 1e-3
    }
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

  private static func bias(
    _ logits: [[Double]], _ labels: [Int], classWeight: (Int) -> Double
  ) -> [Double] {
    let classCount = logits[0].count
    var sizes = [Double](repeating: 0, count: classCount)
    for label in labels { sizes[label] += 1 }
    let weights = labels.map { classWeight($0) / sizes[$0].squareRoot() }
    let total = weights.reduce(0, +)
    return Minimizer.minimum(from: [Double](repeating: 0, count: classCount)) { bias in
      var value = smallBias * bias.reduce(0) { $0 + $1 * $1 } / Double(classCount)
      var slope = bias.map { 2 * smallBias * $0 / Double(classCount) }
      for (image, label) in labels.enumerated() {
        let probabilities = softmax(zip(logits[image], bias).map(+))
        let weight = weights[image] / total
        value -= weight * Mathematics.log(probabilities[label] + 1e-12)
        for index in slope.indices where sizes[index] > 0 {
          slope[index] += weight * (probabilities[index] - (index == label ? 1 : 0))
        }
      }
      return (value, slope)
    }
  }
}

private func softmax(_ values: [Double]) -> [Double] {
  let greatest = values.reduce(-.infinity, max)
  let exponentials = values.map { Mathematics.exp($0 - greatest) }
  let sum = exponentials.reduce(0, +)
  return exponentials.map { $0 / sum }
}
