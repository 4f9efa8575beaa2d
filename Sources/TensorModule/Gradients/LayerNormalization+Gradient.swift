extension LayerNormalization {
  /// The gradient with respect to the input.
  ///
  /// With `n = (x - mean) / deviation` and `g = outputGradient * scale`:
  /// `(g - mean(g) - n * mean(g * n)) / deviation`, because the mean and the deviation depend on every input.
  ///
  /// - Parameters:
  ///   - outputGradient: As many values as `x` has.
  ///   - x: The input of the layer.
  package func inputGradient(_ outputGradient: [Double], at x: [Float]) -> [Double] {
    precondition(
      outputGradient.count == x.count, "a gradient of \(outputGradient.count) for \(x.count) inputs")
    let (mean, inverseDeviation) = statistics(x)
    let count = Double(x.count)
    let normalized = x.map { (Double($0) - mean) * inverseDeviation }
    let scaled = x.indices.map { outputGradient[$0] * Double(scale[$0]) }
    let scaledMean = scaled.reduce(0, +) / count
    var projection = 0.0
    for i in x.indices { projection += scaled[i] * normalized[i] / count }
    return x.indices.map { (scaled[$0] - scaledMean - normalized[$0] * projection) * inverseDeviation }
  }
}
