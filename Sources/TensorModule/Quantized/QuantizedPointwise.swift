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
