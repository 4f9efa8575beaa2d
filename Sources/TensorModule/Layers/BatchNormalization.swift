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

  /// What turns a convolution without bias into one that does the same as both.
  package struct Fold: Sendable {
    /// Multiplies each channel's weights.
    package let gains: [Double]
    /// The convolution's bias.
    package let bias: [Float]

    /// Multiplies weights of one channel, each rounded once.
    package func apply(to weights: UnsafeMutableBufferPointer<Float>, channel: Int) {
      let gain = gains[channel]
      for i in weights.indices { weights[i] = Float(Double(weights[i]) * gain) }
    }
  }

  /// What this does to the convolution before it, worked out in Double.
  package var fold: Fold {
    let gains = scale.indices.map { Double(scale[$0]) / (Double(variance[$0]) + epsilon).squareRoot() }
    let bias = offset.indices.map { Float(Double(offset[$0]) - Double(mean[$0]) * gains[$0]) }
    return Fold(gains: gains, bias: bias)
  }

  /// The first channel whose gain or bias is not finite as Float, as with a variance below minus ``epsilon``; nil: none.
  package var firstNonFiniteChannel: Int? {
    let fold = fold
    return scale.indices.first { !Float(fold.gains[$0]).isFinite || !fold.bias[$0].isFinite }
  }

  /// The convolution that does the same as a convolution without bias followed by this.
  ///
  /// - Parameter weight: `[channels, ...]`, the same number of values for each channel.
  /// - Returns: The weight and the bias, worked out in Double and rounded once.
  package func folded(into weight: [Float]) -> (weight: [Float], bias: [Float]) {
    precondition(
      weight.count % scale.count == 0, "\(weight.count) weights for \(scale.count) channels")
    let perChannel = weight.count / scale.count
    let fold = fold
    var folded = weight
    folded.withUnsafeMutableBufferPointer { folded in
      for channel in scale.indices {
        fold.apply(
          to: UnsafeMutableBufferPointer(rebasing: folded[channel * perChannel..<(channel + 1) * perChannel]),
          channel: channel)
      }
    }
    return (folded, fold.bias)
  }
}
