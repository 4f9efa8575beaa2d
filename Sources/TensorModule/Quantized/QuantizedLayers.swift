package import KernelInterface
package import SystemModule

/// A 1x1 convolution in 8 bits, from a quantised map to values.
package struct QuantizedPointwise: Sendable {
  /// `[input channels, output channels]`, packed.
  package let matrix: QuantizedMatrix
  /// Applied to each output, in a fixed order.
  package let activation: Activation
  /// One over the input's scale for each input channel, padded.
  private let factors: AlignedBuffer

  /// - Parameter matrix: `[inputChannels, outputChannels]`, packed.
  package init(matrix: QuantizedMatrix, activation: Activation) {
    self.matrix = matrix
    self.activation = activation
    factors = AlignedBuffer(count: matrix.weight.depth.roundedUp(toMultipleOf: matrix.kernels.vectorWidth))
    factors.pointer.update(repeating: 1 / matrix.input.scale, count: factors.count)
  }

  package var inputChannels: Int { matrix.weight.depth }
  package var outputChannels: Int { matrix.weight.bias.count }

  /// The layer with the same weights as floats.
  package var floats: PointwiseConvolution {
    let weight = matrix.weight
    return PointwiseConvolution(
      matrix: PackedMatrix(
        weight: weight.values, columnCount: outputChannels, depth: weight.depth, bias: weight.bias,
        kernels: matrix.kernels),
      activation: activation)
  }

  /// Writes the levels of the layer's input.
  package func quantize(_ input: FeatureMap, into levels: PackedMap, pool: ThreadPool) {
    levels.write(input, factors: factors.pointer, zeroPoint: matrix.input.zeroPoint, pool: pool)
  }

  /// Computes all output pixels.
  ///
  /// - Parameter residual: Added before the activation, or nil; the output's shape and stride.
  package func callAsFunction(
    _ input: PackedMap, residual: FeatureMap? = nil, into output: FeatureMap, pool: ThreadPool
  ) {
    precondition(
      input.shape.channels == inputChannels && output.shape.channels == outputChannels
        && input.shape.pixelCount == output.shape.pixelCount,
      "1x1 convolution [\(inputChannels), \(outputChannels)] from \(input.shape) to \(output.shape)"
    )
    residual?.requireSameLayout(output)
    let grid = ProductGrid(
      rowCount: input.shape.pixelCount, depth: input.pixelStride, columnCount: output.shape.channels,
      rowTile: matrix.kernels.rowTile, threadCount: pool.threadCount)
    pool.run(taskCount: grid.blockCount) { task, _ in
      let rows = grid.rows(ofBlock: task)
      matrix.multiply(
        a: input.words + rows.lowerBound * input.pixelStride, aStride: input.pixelStride,
        rowCount: rows.count,
        into: output.pointer + rows.lowerBound * output.pixelStride, cStride: output.pixelStride,
        activation: activation,
        residual: residual.map { UnsafePointer($0.pointer + rows.lowerBound * $0.pixelStride) })
    }
  }
}

/// Squeeze-excite in 8 bits: its gate and the next layer's levels become one factor for each channel.
package struct QuantizedSqueezeExcite: Sendable {
  /// Channel means to hidden values.
  package let reduce: QuantizedPointwise
  /// Hidden values to the gate.
  package let expand: QuantizedPointwise
  /// A step of the fine levels that are gated.
  package let inputScale: Float

  /// - Precondition: The second layer's inputs and outputs are the first one's outputs and inputs.
  package init(reduce: QuantizedPointwise, expand: QuantizedPointwise, inputScale: Float) {
    precondition(
      reduce.inputChannels == expand.outputChannels && reduce.outputChannels == expand.inputChannels,
      "squeeze-excite from \(reduce.inputChannels) to \(reduce.outputChannels) channels, and from "
        + "\(expand.inputChannels) to \(expand.outputChannels)")
    self.reduce = reduce
    self.expand = expand
    self.inputScale = inputScale
  }

  private var kernels: KernelSet { reduce.matrix.kernels }
  private var wide: FeatureShape { FeatureShape(height: 1, width: 1, channels: reduce.inputChannels) }
  private var narrow: FeatureShape { FeatureShape(height: 1, width: 1, channels: reduce.outputChannels) }

  /// Floats of the factors.
  package var factorCount: Int { FeatureMap.count(wide, kernels: kernels) }
  /// Floats of scratch memory.
  package var scratchCount: Int { factorCount + FeatureMap.count(narrow, kernels: kernels) }

  /// Turns sums of fine levels over pixels into what makes the next layer's levels of those levels.
  ///
  /// - Parameters:
  ///   - sums: `[bandCount, padded channels]`
  ///   - outputScale: A step of the next layer's levels.
  ///   - factors: ``factorCount`` floats.
  ///   - scratch: ``scratchCount`` floats.
  package func callAsFunction(
    sums: UnsafePointer<Int32>, bandCount: Int, pixelCount: Int, outputScale: Float,
    into factors: UnsafeMutablePointer<Float>, scratch: UnsafeMutablePointer<Float>, pool: ThreadPool
  ) {
    let channels = factorCount
    let (step, count) = (Double(inputScale), Double(pixelCount))
    for channel in 0..<channels {
      var total = 0.0
      for band in 0..<bandCount { total += Double(sums[band * channels + channel]) }
      factors[channel] = Float(total * step / count)
    }
    let gate = FeatureMap(factors, wide, kernels: kernels)
    let hidden = FeatureMap(scratch + channels, narrow, kernels: kernels)
    apply(reduce, to: gate, into: hidden, words: scratch, pool: pool)
    apply(expand, to: hidden, into: gate, words: scratch, pool: pool)
    for channel in 0..<channels {
      factors[channel] = Float(Double(factors[channel]) * step / Double(outputScale))
    }
  }

  private func apply(
    _ layer: QuantizedPointwise, to input: FeatureMap, into output: FeatureMap,
    words memory: UnsafeMutablePointer<Float>, pool: ThreadPool
  ) {
    let words = PackedMap(memory, input.shape, .int8, kernels: kernels)
    layer.quantize(input, into: words, pool: pool)
    layer(words, into: output, pool: pool)
  }

  /// The layer with the same weights as floats.
  package var floats: SqueezeExcite {
    SqueezeExcite(
      reduce: reduce.floats.matrix, expand: expand.floats.matrix, activation: reduce.activation,
      gate: expand.activation)
  }
}
