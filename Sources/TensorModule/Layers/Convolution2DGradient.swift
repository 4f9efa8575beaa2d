import KernelInterface
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
    if layer.algorithm == .pixels {
      transposed = layer.matrix.transposed()
      return
    }
    let (inputs, outputs) = (layer.inputChannels, layer.outputChannels)
    let weight = layer.unpackedWeight()
    transposed = PackedMatrix(
      columnCount: inputs, depth: weight.count / inputs, bias: nil, kernels: layer.kernels, lasts: false
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

  /// Floats of scratch memory.
  package func scratchCount(_ input: FeatureShape, pool: ThreadPool) -> Int {
    scratchCount(grid(input, pool))
  }

  private func scratchCount(_ grid: ProductGrid) -> Int {
    layer.algorithm == .pixels ? 0 : grid.rowsPerBlock * transposed.depth
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
    below?.requireLayout(of: inputGradient)
    compute(
      grid(inputGradient.shape, pool), outputGradient, residual: residual, into: inputGradient,
      scratch: scratch, pool: pool
    ) { pixels, first in
      below?.apply(to: first, pixels: pixels, kernels: transposed.kernels)
    }
  }

  /// Computes the gradient of all input pixels, and on the way the sum over all pixels of its products with the input,
  /// channel by channel: the gradient with respect to factors that multiply the input.
  ///
  /// - Parameters:
  ///   - below: The activation that made the input.
  ///   - scratch: ``scratchCount(_:pool:)`` floats.
  /// - Returns: Padded channels.
  package func productSums(
    _ outputGradient: FeatureMap, below: ActivationBelow, into inputGradient: FeatureMap,
    scratch: UnsafeMutablePointer<Float>, pool: ThreadPool
  ) -> [Float] {
    below.requireLayout(of: inputGradient)
    let stride = inputGradient.pixelStride
    let kernels = transposed.kernels
    // Blocks are summed first and then their sums, which keeps the rounding error of a large map small and does not
    // depend on the number of threads or the width of the vectors: twelve rows are whole tiles of all kernels.
    let grid = ProductGrid(
      rowCount: inputGradient.shape.pixelCount, depth: transposed.depth, columnCount: transposed.columnCount,
      rowTile: 12)
    let blocks = AlignedBuffer(count: grid.blockCount * stride)
    compute(grid, outputGradient, residual: nil, into: inputGradient, scratch: scratch, pool: pool) {
      pixels, first in
      let block = pixels.lowerBound / grid.rowsPerBlock
      below.addProducts(with: first, pixels: pixels, to: blocks.pointer + block * stride, kernels: kernels)
    }
    return blocks.summed(rowCount: grid.blockCount, columnCount: stride, kernels: kernels)
  }

  private func compute(
    _ grid: ProductGrid, _ outputGradient: FeatureMap, residual: FeatureMap?, into inputGradient: FeatureMap,
    scratch: UnsafeMutablePointer<Float>, pool: ThreadPool,
    finish: (_ pixels: Range<Int>, _ first: UnsafeMutablePointer<Float>) -> Void
  ) {
    requireShapes(outputGradient.shape, inputGradient.shape)
    transposed.multiply(
      grid, residual: residual, into: inputGradient, scratch: scratch, scratchCount: scratchCount(grid),
      pool: pool,
      read: { pixels, scratch in
        let stride = outputGradient.pixelStride
        if layer.algorithm == .pixels {
          return (UnsafeRawPointer(outputGradient.pointer + pixels.lowerBound * stride), stride)
        }
        gather(pixels, of: inputGradient.shape, from: outputGradient, into: scratch)
        return (UnsafeRawPointer(scratch), transposed.depth)
      }, finish: finish)
  }

  /// Precondition: The gradients are of this layer's output and input.
  func requireShapes(_ outputGradient: FeatureShape, _ inputGradient: FeatureShape) {
    layer.requireShapes(inputGradient, outputGradient)
  }

  /// Computes the gradient of some input pixels of a 1x1 convolution, whose shapes were looked at.
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
