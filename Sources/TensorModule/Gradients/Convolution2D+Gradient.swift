package import SystemModule

/// The gradient of a ``Convolution2D`` with respect to its input: a product of the outputs whose windows cover a pixel with
/// the transposed weight. With a stride, the places between the outputs are zeros, which are multiplied all the same: a
/// network has few such layers.
package struct Convolution2DGradient: Sendable {
  private let layer: Convolution2D
  /// `[kernelSize, kernelSize, output channels] x [input channels]`, packed.
  private let transposed: PackedMatrix

  /// Packs the transposed weight, which takes as much memory as the layer.
  package init(_ layer: Convolution2D) {
    self.layer = layer
    let (inputs, outputs) = (layer.inputChannels, layer.outputChannels)
    let weight = layer.unpackedWeight()
    transposed = PackedMatrix(
      columnCount: inputs, depth: weight.count / inputs, bias: nil, kernels: layer.kernels
    ) { column, start, target in
      weight.withUnsafeBufferPointer { weight in
        for i in target.indices {
          let (tap, output) = (start + i).quotientAndRemainder(dividingBy: outputs)
          target[i] = weight[(tap * inputs + column) * outputs + output]
        }
      }
    }
  }

  private func grid(_ input: FeatureShape, _ pool: ThreadPool) -> ProductGrid {
    ProductGrid(rowCount: input.pixelCount, matrix: transposed, threadCount: pool.threadCount)
  }

  /// Floats of scratch memory for each task.
  package func scratchCount(_ input: FeatureShape, pool: ThreadPool) -> Int {
    layer.readsInPlace ? 0 : grid(input, pool).rowsPerBlock * transposed.depth
  }

  /// Computes the gradient of all input pixels.
  ///
  /// - Parameters:
  ///   - outputGradient: With respect to the sums, before the layer's activation.
  ///   - residual: Added to the result, or nil; the result's shape and stride.
  ///   - below: The activation that made the layer's input; the result is then the gradient at its argument.
  ///   - scratch: ``scratchCount(_:pool:)`` floats.
  package func callAsFunction(
    _ outputGradient: FeatureMap, residual: FeatureMap? = nil, below: ActivationBelow? = nil,
    into inputGradient: FeatureMap, scratch: UnsafeMutablePointer<Float>, pool: ThreadPool
  ) {
    let input = inputGradient.shape
    precondition(
      outputGradient.shape == layer.outputShape(input) && input.channels == layer.inputChannels,
      "gradient of a convolution from \(outputGradient.shape) to \(input)")
    residual?.requireSameLayout(inputGradient)
    below?.requireLayout(of: inputGradient)
    let grid = grid(input, pool)
    pool.run(taskCount: grid.blockCount, scratch: scratch, scratchCount: scratchCount(input, pool: pool)) {
      task, scratch in
      let pixels = grid.rows(ofBlock: task)
      let offset = pixels.lowerBound * inputGradient.pixelStride
      let isInPlace = layer.readsInPlace
      if !isInPlace { gather(pixels, of: input, from: outputGradient, into: scratch) }
      transposed.multiply(
        a: isInPlace ? outputGradient.pointer + pixels.lowerBound * outputGradient.pixelStride : scratch,
        aStride: isInPlace ? outputGradient.pixelStride : transposed.depth, rowCount: pixels.count,
        into: inputGradient.pointer + offset, cStride: inputGradient.pixelStride,
        residual: residual.map { UnsafePointer($0.pointer + offset) })
      below?.apply(to: inputGradient.pointer + offset, pixels: pixels, kernels: transposed.kernels)
    }
  }

  /// Writes the gradients of the outputs that read some input pixels by each tap, zeros where there is none:
  /// `[pixels, kernelSize, kernelSize, output channels]`.
  private func gather(
    _ pixels: Range<Int>, of input: FeatureShape, from outputGradient: FeatureMap,
    into target: UnsafeMutablePointer<Float>
  ) {
    let (output, window) = (outputGradient.shape, layer.window)
    let resolved = window.resolve(height: input.height, width: input.width)
    var target = target
    for pixel in pixels {
      let (y, x) = pixel.quotientAndRemainder(dividingBy: input.width)
      for ky in 0..<window.kernelSize {
        let row = Self.output(y + resolved.top - ky, stride: window.stride, count: output.height)
        for kx in 0..<window.kernelSize {
          let column = Self.output(x + resolved.left - kx, stride: window.stride, count: output.width)
          if let row, let column {
            target.update(
              from: outputGradient.pointer + (row * output.width + column) * outputGradient.pixelStride,
              count: output.channels)
          } else {
            target.update(repeating: 0, count: output.channels)
          }
          target += output.channels
        }
      }
    }
  }

  /// The output whose window begins at a place, counted from the first window's beginning.
  private static func output(_ place: Int, stride: Int, count: Int) -> Int? {
    place >= 0 && place % stride == 0 && place / stride < count ? place / stride : nil
  }
}
