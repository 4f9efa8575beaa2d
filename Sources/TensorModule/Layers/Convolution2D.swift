package import KernelInterface
package import SystemModule

/// A convolution over the channels of a feature map: a product of the pixels under each window with the packed weight, or,
/// where asked for, ``WinogradProduct``.
///
/// Each task takes some output pixels, as many as stay in the second-level cache with what lies under their windows, and
/// copies that side by side; the whole input is never copied. A 1x1 window of stride 1 reads the pixels where they lie.
package struct Convolution2D: Sendable {
  /// How the sums are made.
  package enum Algorithm: Sendable, CaseIterable {
    /// From the pixels under each window, one product after the other.
    case windows
    /// For a window of 3x3 and stride 1: four ninths of the products, for sums that are rounded elsewhere.
    case winograd

    /// The faster one.
    package static func best(for window: Window) -> Algorithm {
      window.kernelSize == 3 && window.stride == 1 ? .winograd : .windows
    }

    /// The multiply-adds for an output of each pair of channels.
    package func productCount(_ output: FeatureShape, _ window: Window) -> Int {
      switch self {
      case .windows: output.pixelCount * window.kernelSize * window.kernelSize
      case .winograd: WinogradProduct.tileCount(output) * 16
      }
    }
  }

  private enum Product: Sendable {
    /// `[kernelSize, kernelSize, input channels] x [output channels]`, packed.
    case windows(PackedMatrix)
    case winograd(WinogradProduct)
  }

  private let product: Product
  package let inputChannels: Int
  package let outputChannels: Int
  package let window: Window
  /// Applied to each output.
  package let activation: Activation
  package let kernels: KernelSet

  /// - Parameters:
  ///   - weight: `OIHW`: `[outputChannels, inputChannels, kernelSize, kernelSize]`.
  ///   - bias: `[outputChannels]`.
  package init(
    weight: [Float], bias: [Float], inputChannels: Int, window: Window, activation: Activation,
    algorithm: Algorithm = .windows, kernels: KernelSet
  ) {
    if algorithm == .winograd {
      precondition(window.kernelSize == 3 && window.stride == 1, "\(window) does not fit Winograd's products")
      let product = WinogradProduct(
        weight: weight, bias: bias, inputChannels: inputChannels, kernels: kernels)
      self.init(.winograd(product), inputChannels, outputChannels: bias.count, window, activation, kernels)
      return
    }
    self.init(
      matrix: PackedMatrix(
        convolutionWeight: weight, bias: bias, inputChannels: inputChannels, kernelSize: window.kernelSize,
        kernels: kernels),
      inputChannels: inputChannels, window: window, activation: activation)
  }

  /// - Parameter matrix: `[kernelSize, kernelSize, inputChannels] x [outputChannels]`, packed.
  package init(matrix: PackedMatrix, inputChannels: Int, window: Window, activation: Activation) {
    precondition(
      matrix.depth == window.kernelSize * window.kernelSize * inputChannels,
      "a matrix of depth \(matrix.depth) for \(inputChannels) channels under \(window)")
    self.init(
      .windows(matrix), inputChannels, outputChannels: matrix.columnCount, window, activation, matrix.kernels)
  }

  private init(
    _ product: Product, _ inputChannels: Int, outputChannels: Int, _ window: Window, _ activation: Activation,
    _ kernels: KernelSet
  ) {
    self.product = product
    self.inputChannels = inputChannels
    self.outputChannels = outputChannels
    self.window = window
    self.activation = activation
    self.kernels = kernels
  }

  /// The weight, `[kernelSize, kernelSize, inputChannels, outputChannels]`; that of Winograd's products but for rounding.
  func unpackedWeight() -> [Float] {
    switch product {
    case .windows(let matrix): matrix.unpacked()
    case .winograd(let product): product.unpacked()
    }
  }

  /// Whether the pixels are read where they lie.
  var readsInPlace: Bool { window.kernelSize == 1 && window.stride == 1 }

  package func outputShape(_ input: FeatureShape) -> FeatureShape {
    window.outputShape(input, channels: outputChannels)
  }

  /// Floats of scratch memory for each task.
  package func scratchCount(_ input: FeatureShape, pool: ThreadPool) -> Int {
    switch product {
    case .windows(let matrix):
      readsInPlace ? 0 : grid(matrix, outputShape(input), pool).rowsPerBlock * matrix.depth
    case .winograd(let product): product.scratchCount(outputShape(input))
    }
  }

  private func grid(_ matrix: PackedMatrix, _ output: FeatureShape, _ pool: ThreadPool) -> ProductGrid {
    ProductGrid(rowCount: output.pixelCount, matrix: matrix, threadCount: pool.threadCount)
  }

  /// Computes the output.
  ///
  /// - Parameters:
  ///   - residual: Added before the activation, or nil; the output's shape and stride.
  ///   - activation: In the place of the layer's own.
  ///   - scratch: ``scratchCount(_:pool:)`` floats.
  package func callAsFunction(
    _ input: FeatureMap, residual: FeatureMap? = nil, activation: Activation? = nil, into output: FeatureMap,
    scratch: UnsafeMutablePointer<Float>, pool: ThreadPool
  ) {
    precondition(
      input.shape.channels == inputChannels && output.shape == outputShape(input.shape),
      "convolution of \(inputChannels) to \(outputChannels) channels from \(input.shape) to \(output.shape)")
    residual?.requireSameLayout(output)
    let activation = activation ?? self.activation
    switch product {
    case .windows(let matrix):
      multiply(
        matrix, input, residual: residual, activation: activation, into: output, scratch: scratch, pool: pool)
    case .winograd(let product):
      let zeros = window.resolve(height: input.shape.height, width: input.shape.width)
      product(
        input, top: zeros.top, left: zeros.left, residual: residual, activation: activation, into: output,
        scratch: scratch, pool: pool)
    }
  }

  private func multiply(
    _ matrix: PackedMatrix, _ input: FeatureMap, residual: FeatureMap?, activation: Activation,
    into output: FeatureMap, scratch: UnsafeMutablePointer<Float>, pool: ThreadPool
  ) {
    let grid = grid(matrix, output.shape, pool)
    pool.run(
      taskCount: grid.blockCount, scratch: scratch, scratchCount: scratchCount(input.shape, pool: pool)
    ) { task, scratch in
      let pixels = grid.rows(ofBlock: task)
      let offset = pixels.lowerBound * output.pixelStride
      if !readsInPlace { gather(pixels, of: output.shape, from: input, into: scratch) }
      matrix.multiply(
        a: readsInPlace ? input.pointer + pixels.lowerBound * input.pixelStride : scratch,
        aStride: readsInPlace ? input.pixelStride : matrix.depth, rowCount: pixels.count,
        into: output.pointer + offset, cStride: output.pixelStride, activation: activation,
        residual: residual.map { UnsafePointer($0.pointer + offset) })
    }
  }

  /// Writes what lies under the windows of some output pixels, zeros outside the input:
  /// `[pixels, kernelSize, kernelSize, input channels]`.
  private func gather(
    _ pixels: Range<Int>, of output: FeatureShape, from input: FeatureMap,
    into target: UnsafeMutablePointer<Float>
  ) {
    let (height, width, size) = (input.shape.height, input.shape.width, window.kernelSize)
    let resolved = window.resolve(height: height, width: width)
    let isDense = input.pixelStride == inputChannels
    let rowLength = size * inputChannels
    var target = target
    for pixel in pixels {
      let (y, x) = pixel.quotientAndRemainder(dividingBy: output.width)
      let top = y * window.stride - resolved.top
      let left = x * window.stride - resolved.left
      let columns = max(left, 0)..<max(min(left + size, width), max(left, 0))
      for row in top..<top + size {
        guard row >= 0, row < height else {
          target.update(repeating: 0, count: rowLength)
          target += rowLength
          continue
        }
        if columns.count < size { target.update(repeating: 0, count: rowLength) }
        let source = input.pointer + (row * width + columns.lowerBound) * input.pixelStride
        let start = target + (columns.lowerBound - left) * inputChannels
        if isDense {
          start.update(from: source, count: columns.count * inputChannels)
        } else {
          for i in 0..<columns.count {
            (start + i * inputChannels).update(from: source + i * input.pixelStride, count: inputChannels)
          }
        }
        target += rowLength
      }
    }
  }
}

extension PackedMatrix {
  /// Packs a convolution's weight, `OIHW`, as `[kernelSize, kernelSize, inputChannels] x [outputChannels]`.
  init(
    convolutionWeight weight: [Float], bias: [Float], inputChannels: Int, kernelSize: Int, kernels: KernelSet
  ) {
    let taps = kernelSize * kernelSize
    precondition(
      weight.count == bias.count * inputChannels * taps,
      "\(weight.count) weights for [\(bias.count), \(inputChannels), \(kernelSize), \(kernelSize)]")
    self.init(columnCount: bias.count, depth: taps * inputChannels, bias: bias, kernels: kernels) {
      column, start, target in
      weight.withUnsafeBufferPointer { weight in
        for i in target.indices {
          let (tap, channel) = (start + i).quotientAndRemainder(dividingBy: inputChannels)
          target[i] = weight[(column * inputChannels + channel) * taps + tap]
        }
      }
    }
  }
}

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
