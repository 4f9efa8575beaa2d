/// Layer normalisation of one vector: `(x - mean) / sqrt(variance + epsilon) * scale + offset`, as PyTorch's
/// `LayerNorm`: the variance is that of the population. Statistics are summed in Double.
package struct LayerNormalization: Sendable {
  /// Multiplies the normalised values (PyTorch's `weight`).
  package let scale: [Float]
  /// Added last (PyTorch's `bias`).
  package let offset: [Float]
  /// Added to the variance.
  package let epsilon: Double

  /// Parameters for vectors as long as the two arrays.
  package init(scale: [Float], offset: [Float], epsilon: Double) {
    precondition(scale.count == offset.count, "layer norm arrays of \(scale.count) and \(offset.count)")
    self.scale = scale
    self.offset = offset
    self.epsilon = epsilon
  }

  /// The mean and 1 / sqrt(variance + epsilon).
  package func statistics(_ x: [Float]) -> (mean: Double, inverseDeviation: Double) {
    precondition(x.count == scale.count, "\(x.count) values for a layer norm of \(scale.count)")
    let mean = x.reduce(0) { $0 + Double($1) } / Double(x.count)
    let variance = x.reduce(0) { $0 + (Double($1) - mean) * (Double($1) - mean) } / Double(x.count)
    return (mean, 1 / (variance + epsilon).squareRoot())
  }

  /// - Returns: As many values as `x` has.
  package func callAsFunction(_ x: [Float]) -> [Float] {
    let (mean, inverseDeviation) = statistics(x)
    return x.indices.map { i in
      Float((Double(x[i]) - mean) * inverseDeviation * Double(scale[i]) + Double(offset[i]))
    }
  }
}
