import KernelInterface
package import SystemModule

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
    requireShapes(outputGradient.shape, residual: residual, inputGradient)
    below?.requireLayout(of: inputGradient)
    let grid = ProductGrid(
      rowCount: inputGradient.shape.pixelCount, matrix: transposed, threadCount: pool.threadCount)
    pool.run(taskCount: grid.blockCount) { task, _ in
      let pixels = grid.rows(ofBlock: task)
      computePixels(
        pixels, outputGradient.pointer + pixels.lowerBound * outputGradient.pixelStride,
        stride: outputGradient.pixelStride, residual: residual, into: inputGradient)
      below?.apply(
        to: inputGradient.pointer + pixels.lowerBound * inputGradient.pixelStride, pixels: pixels,
        kernels: transposed.kernels)
    }
  }

  /// Computes the gradient of all input pixels, and on the way the sum over all pixels of its products with the input,
  /// channel by channel: the gradient with respect to factors that multiply the input.
  ///
  /// - Parameter below: The activation that made the input.
  /// - Returns: Padded channels.
  package func productSums(
    _ outputGradient: FeatureMap, below: ActivationBelow, into inputGradient: FeatureMap, pool: ThreadPool
  ) -> [Float] {
    requireShapes(outputGradient.shape, residual: nil, inputGradient)
    below.requireLayout(of: inputGradient)
    let stride = inputGradient.pixelStride
    let kernels = transposed.kernels
    let grid = ProductGrid(rowCount: inputGradient.shape.pixelCount, matrix: transposed)
    // Blocks are summed first and then their sums, which keeps the rounding error of a large map small and does not
    // depend on the number of threads.
    let blocks = AlignedBuffer(count: grid.blockCount * stride)
    pool.run(taskCount: grid.blockCount) { task, _ in
      let pixels = grid.rows(ofBlock: task)
      computePixels(
        pixels, outputGradient.pointer + pixels.lowerBound * outputGradient.pixelStride,
        stride: outputGradient.pixelStride, residual: nil, into: inputGradient)
      below.addProducts(
        with: inputGradient.pointer + pixels.lowerBound * stride, pixels: pixels,
        to: blocks.pointer + task * stride, kernels: kernels)
    }
    return blocks.summed(rowCount: grid.blockCount, columnCount: stride, kernels: kernels)
  }

  /// Precondition: The gradients are of this layer's output and input, of one size.
  func requireShapes(_ output: FeatureShape, residual: FeatureMap?, _ inputGradient: FeatureMap) {
    precondition(
      output.channels == transposed.depth && inputGradient.shape.channels == transposed.columnCount
        && inputGradient.shape.pixelCount == output.pixelCount,
      "gradient of a 1x1 convolution from \(output) to \(inputGradient.shape)")
    precondition(
      residual == nil || residual?.pixelStride == inputGradient.pixelStride, "a residual of another stride")
  }

  /// Computes the gradient of some input pixels, whose shapes were looked at.
  ///
  /// - Parameter outputGradient: The first of those pixels, the next `stride` floats on.
  func computePixels(
    _ pixels: Range<Int>, _ outputGradient: UnsafePointer<Float>, stride: Int, residual: FeatureMap?,
    into inputGradient: FeatureMap
  ) {
    let offset = pixels.lowerBound * inputGradient.pixelStride
    transposed.multiply(
      a: outputGradient, aStride: stride, rowCount: pixels.count, into: inputGradient.pointer + offset,
      cStride: inputGradient.pixelStride, residual: residual.map { UnsafePointer($0.pointer + offset) })
  }
}

extension PointwiseConvolution {
  /// Computes the sums of all output pixels, before the activation.
  ///
  /// - Parameter activated: What the activation gives too, or nil; the output's shape and stride.
  package func preActivation(
    _ input: FeatureMap, into output: FeatureMap, activated: FeatureMap? = nil, pool: ThreadPool
  ) {
    activated?.requireSameLayout(output)
    precondition(
      input.shape.channels == matrix.depth && output.shape.channels == matrix.columnCount
        && input.shape.pixelCount == output.shape.pixelCount,
      "1x1 convolution [\(matrix.depth), \(matrix.columnCount)] from \(input.shape) to \(output.shape)")
    let grid = ProductGrid(
      rowCount: input.shape.pixelCount, matrix: matrix, threadCount: pool.threadCount)
    pool.run(taskCount: grid.blockCount) { task, _ in
      let rows = grid.rows(ofBlock: task)
      let first = output.pointer + rows.lowerBound * output.pixelStride
      matrix.multiply(
        a: input.pointer + rows.lowerBound * input.pixelStride, aStride: input.pixelStride,
        rowCount: rows.count, into: first, cStride: output.pixelStride)
      if let activated {
        let count = rows.count * output.pixelStride
        let target = activated.pointer + rows.lowerBound * output.pixelStride
        target.update(from: first, count: count)
        matrix.kernels.activate(ActivationPass(values: target, count: count, activation: activation))
      }
    }
  }
}
