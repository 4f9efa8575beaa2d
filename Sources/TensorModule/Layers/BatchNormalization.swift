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

  /// The gains and bias that turn a convolution without bias into one that does the same as both.
  package struct Fold: Sendable {
    /// Multiplies each channel's weights.
    package let gains: [Double]
    /// The convolution's bias.
    package let bias: [Float]

    package init(gains: [Double], bias: [Float]) {
      self.gains = gains
      self.bias = bias
    }

    /// The first channel whose gain or bias is not finite as Float, as with a variance below minus its epsilon; nil: none.
    package var firstNonFiniteChannel: Int? {
      gains.indices.first { !Float(gains[$0]).isFinite || !bias[$0].isFinite }
    }

    /// The weights of the convolution before the batch norm times the gains, each rounded once.
    ///
    /// - Parameter weight: `[channels, ...]`, the same number of values for each channel.
    package func applied(to weight: [Float]) -> [Float] {
      precondition(
        weight.count % gains.count == 0, "\(weight.count) weights for \(gains.count) channels")
      let perChannel = weight.count / gains.count
      var folded = weight
      folded.withUnsafeMutableBufferPointer { folded in
        for channel in gains.indices {
          apply(
            to: UnsafeMutableBufferPointer(
              rebasing: folded[channel * perChannel..<(channel + 1) * perChannel]),
            channel: channel)
        }
      }
      return folded
    }

    /// Multiplies weights of one channel, each rounded once.
    package func apply(to weights: UnsafeMutableBufferPointer<Float>, channel: Int) {
      let gain = gains[channel]
      for i in weights.indices { weights[i] = Float(Double(weights[i]) * gain) }
    }
  }

  /// The change to the convolution before it, worked out in Double.
  package var fold: Fold {
    let gains = scale.indices.map { Double(scale[$0]) / (Double(variance[$0]) + epsilon).squareRoot() }
    let bias = offset.indices.map { Float(Double(offset[$0]) - Double(mean[$0]) * gains[$0]) }
    return Fold(gains: gains, bias: bias)
  }
}
