/// Batch normalisation with fixed statistics: `(x - mean) / sqrt(variance + epsilon) * scale + offset`, per channel.
package struct BatchNormalization: Sendable {
  /// Multiplies the normalised value (PyTorch's `weight`).
  package let scale: [Float]
  /// Added last (PyTorch's `bias`).
  package let offset: [Float]
  /// The running mean.
  package let mean: [Float]
  /// The running variance.
  package let variance: [Float]
  /// Added to the variance.
  package let epsilon: Double

  /// Parameters of as many channels as the arrays, all of one length, hold.
  package init(scale: [Float], offset: [Float], mean: [Float], variance: [Float], epsilon: Double) {
    precondition(
      scale.count == offset.count && scale.count == mean.count && scale.count == variance.count,
      "batch norm arrays of \(scale.count), \(offset.count), \(mean.count) and \(variance.count)")
    self.scale = scale
    self.offset = offset
    self.mean = mean
    self.variance = variance
    self.epsilon = epsilon
  }

  /// The convolution that does the same as a convolution without bias followed by this.
  ///
  /// - Parameter weight: `[channels, ...]`, the same number of values for each channel.
  /// - Returns: The weight and the bias, worked out in Double and rounded once.
  package func folded(into weight: [Float]) -> (weight: [Float], bias: [Float]) {
    precondition(
      weight.count % scale.count == 0, "\(weight.count) weights for \(scale.count) channels")
    let perChannel = weight.count / scale.count
    var bias = [Float](repeating: 0, count: scale.count)
    let folded = [Float](unsafeUninitializedCapacity: weight.count) { result, count in
      for channel in scale.indices {
        let gain = Double(scale[channel]) / (Double(variance[channel]) + epsilon).squareRoot()
        bias[channel] = Float(Double(offset[channel]) - Double(mean[channel]) * gain)
        for i in channel * perChannel..<(channel + 1) * perChannel {
          result[i] = Float(Double(weight[i]) * gain)
        }
      }
      count = weight.count
    }
    return (folded, bias)
  }
}
