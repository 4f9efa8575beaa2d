/// The gradient of a ``PointwiseConvolution`` with respect to its input: a product with the transposed weight.
package struct PointwiseConvolutionGradient: Sendable {
  /// `[output channels, input channels]`, packed.
  private let transposed: PackedMatrix

  /// Packs the transposed weight, which takes as much memory as the layer.
  package init(_ layer: PointwiseConvolution) { transposed = layer.matrix.transposed() }

  /// Computes the gradient of all input pixels.
  ///
  /// - Parameters:
  ///   - outputGradient: With respect to the sums, before the layer's activation.
  ///   - residual: Added to the result, or nil; the result's shape and stride.
  ///   - below: The activation that made the layer's input; the result is then the gradient at its argument.
  package func callAsFunction(
    _ outputGradient: FeatureMap, residual: FeatureMap? = nil, below: ActivationBelow? = nil,
    into inputGradient: FeatureMap, pool: ThreadPool
  ) {
    precondition(
      outputGradient.shape.channels == transposed.depth
        && inputGradient.shape.channels == transposed.columnCount
        && inputGradient.shape.pixelCount == outputGradient.shape.pixelCount,
      "gradient of a 1x1 convolution from \(outputGradient.shape) to \(inputGradient.shape)")
    precondition(
      residual == nil || residual?.pixelStride == inputGradient.pixelStride, "a residual of another stride")
    below?.requireLayout(of: inputGradient)
    let grid = ProductGrid(rowCount: inputGradient.shape.pixelCount, matrix: transposed)
    pool.run(taskCount: grid.blockCount) { task, _ in
      let rows = grid.rows(ofBlock: task)
      let offset = rows.lowerBound * inputGradient.pixelStride
      transposed.multiply(
        a: outputGradient.pointer + rows.lowerBound * outputGradient.pixelStride,
        aStride: outputGradient.pixelStride, rowCount: rows.count, into: inputGradient.pointer + offset,
        cStride: inputGradient.pixelStride, residual: residual.map { UnsafePointer($0.pointer + offset) })
      below?.apply(to: inputGradient, pixels: rows, kernels: transposed.kernels)
    }
  }
}

extension PointwiseConvolution {
  /// Computes the sums of all output pixels, before the activation.
  package func preActivation(_ input: FeatureMap, into output: FeatureMap, pool: ThreadPool) {
    precondition(
      input.shape.channels == matrix.depth && output.shape.channels == matrix.columnCount
        && input.shape.pixelCount == output.shape.pixelCount,
      "1x1 convolution [\(matrix.depth), \(matrix.columnCount)] from \(input.shape) to \(output.shape)")
    let grid = ProductGrid(rowCount: input.shape.pixelCount, matrix: matrix)
    pool.run(taskCount: grid.blockCount) { task, _ in
      let rows = grid.rows(ofBlock: task)
      matrix.multiply(
        a: input.pointer + rows.lowerBound * input.pixelStride, aStride: input.pixelStride,
        rowCount: rows.count, into: output.pointer + rows.lowerBound * output.pixelStride,
        cStride: output.pixelStride)
    }
  }
}
