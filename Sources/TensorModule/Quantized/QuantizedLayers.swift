import KernelInterface
package import SystemModule

/// Squeeze-excite in 8 bits: its gate and the next layer's levels become one factor for each channel.
package struct QuantizedSqueezeExcite: Sendable {
  /// Channel means to hidden values.
  package let reduce: Convolution2D
  /// Hidden values to the gate.
  package let expand: Convolution2D
  /// A step of the fine levels that are gated.
  package let inputScale: Float

  /// - Precondition: The second layer's inputs and outputs are the first one's outputs and inputs.
  package init(reduce: Convolution2D, expand: Convolution2D, inputScale: Float) {
    precondition(
      reduce.inputChannels == expand.outputChannels && reduce.outputChannels == expand.inputChannels,
      "squeeze-excite from \(reduce.inputChannels) to \(reduce.outputChannels) channels, and from "
        + "\(expand.inputChannels) to \(expand.outputChannels)")
    self.reduce = reduce
    self.expand = expand
    self.inputScale = inputScale
  }

  private var kernels: KernelSet { reduce.kernels }
  private var wide: FeatureShape { FeatureShape(height: 1, width: 1, channels: reduce.inputChannels) }
  private var narrow: FeatureShape { FeatureShape(height: 1, width: 1, channels: reduce.outputChannels) }

  /// Floats of the factors.
  package var factorCount: Int { FeatureMap.count(wide, kernels: kernels) }
  /// Floats of scratch memory.
  package var scratchCount: Int { factorCount + FeatureMap.count(narrow, kernels: kernels) }

  /// Turns sums of fine levels over pixels into what makes the next layer's levels of those levels.
  ///
  /// - Parameters:
  ///   - sums: `[sumCount, padded channels]`
  ///   - outputScale: A step of the next layer's levels.
  ///   - factors: ``factorCount`` floats.
  ///   - scratch: ``scratchCount`` floats.
  package func callAsFunction(
    sums: UnsafePointer<Int32>, sumCount: Int, pixelCount: Int, outputScale: Float,
    into factors: UnsafeMutablePointer<Float>, scratch: UnsafeMutablePointer<Float>, pool: ThreadPool
  ) {
    let channels = factorCount
    let (step, count) = (Double(inputScale), Double(pixelCount))
    for channel in 0..<channels {
      var total = 0.0
      for row in 0..<sumCount { total += Double(sums[row * channels + channel]) }
      factors[channel] = Float(total * step / count)
    }
    let gate = FeatureMap(factors, wide, kernels: kernels)
    let hidden = FeatureMap(scratch + channels, narrow, kernels: kernels)
    reduce(gate, into: hidden, scratch: scratch, pool: pool)
    expand(hidden, into: gate, scratch: scratch, pool: pool)
    for channel in 0..<channels {
      factors[channel] = Float(Double(factors[channel]) * step / Double(outputScale))
    }
  }

  /// The layer with the same weights as floats.
  package var floats: SqueezeExcite {
    SqueezeExcite(
      reduce: reduce.floats.matrix, expand: expand.floats.matrix, activation: reduce.activation,
      gate: expand.activation)
  }
}
