package import KernelInterface
package import SystemModule

/// A convolution that filters each channel by a window of its own.
package struct DepthwiseConvolution2D: Sendable {
  /// Channels of the input and of the output.
  package let channels: Int
  package let window: Window
  /// Applied to each output.
  package let activation: Activation
  /// The kernels the weights are laid out for.
  package let kernels: KernelSet

  let weight: AlignedBuffer
  private let bias: AlignedBuffer
  /// The kernels for words of four levels, where the rows hold these; nil where they hold floats.
  let windows: ProductKernels.Windows?

  /// - Parameters:
  ///   - weight: `[channels, 1, kernelSize, kernelSize]`, PyTorch's layout.
  ///   - bias: `[channels]`.
  package init(weight: [Float], bias: [Float], window: Window, activation: Activation, kernels: KernelSet) {
    let taps = window.kernelSize * window.kernelSize
    precondition(
      weight.count == bias.count * taps, "\(weight.count) weights for \(bias.count) channels of \(taps) taps")
    channels = bias.count
    self.window = window
    self.activation = activation
    self.kernels = kernels
    windows = nil
    let stride = kernels.padded(channels)
    self.weight = AlignedBuffer(count: taps * stride, lasts: true)
    self.bias = AlignedBuffer(count: stride)
    for channel in 0..<channels {
      self.bias.pointer[channel] = bias[channel]
      for tap in 0..<taps { self.weight.pointer[tap * stride + channel] = weight[channel * taps + tap] }
    }
  }

  /// A convolution of levels from 0 to 255, whose outputs are the sums. The rows of its input are words of four levels, see
  /// ``ProductKernels/Windows``.
  ///
  /// - Parameters:
  ///   - levels: `[channels, kernelSize * kernelSize]`.
  ///   - bias: `[channels]`. No sum leaves the whole numbers that a float holds.
  ///   - window: One that the kernels take.
  init(
    levels: [Int8], bias: [Int32], window: Window, windows: ProductKernels.Windows, kernels: KernelSet
  ) {
    let (size, stride) = (window.kernelSize, window.stride)
    precondition(
      levels.count == bias.count * size * size
        && ProductKernels.Windows.takes(kernelSize: size, stride: stride),
      "\(levels.count) levels for \(bias.count) channels of \(size)x\(size) taps, stride \(stride)")
    channels = bias.count
    self.window = window
    activation = .identity
    self.kernels = kernels
    self.windows = windows
    let padded = kernels.padded(channels)
    let outputs = 4 / stride
    weight = AlignedBuffer(count: size * outputs * 2 * padded, lasts: true)
    self.bias = AlignedBuffer(count: padded)
    let bytes = UnsafeMutableRawPointer(weight.pointer)
    for channel in 0..<channels {
      UnsafeMutableRawPointer(self.bias.pointer + channel).storeBytes(of: bias[channel], as: Int32.self)
      for row in 0..<size {
        for output in 0..<outputs {
          for column in 0..<size {
            let (part, byte) = (output * stride + column).quotientAndRemainder(dividingBy: 4)
            let word = ((row * outputs + output) * 2 + part) * padded + channel
            bytes.storeBytes(
              of: levels[(channel * size + row) * size + column], toByteOffset: 4 * word + byte,
              as: Int8.self)
          }
        }
      }
    }
  }

  /// Channels rounded up to whole vectors.
  package var paddedChannels: Int { kernels.padded(channels) }

  /// Computes one output row of some channels.
  ///
  /// - Parameters:
  ///   - rows: The input rows under the window at the first of the channels; nil outside the image.
  ///   - channelRange: Whole vectors.
  ///   - output: The row's first pixel at the first of the channels.
  ///   - sums: When not nil, the row's sum is added, from the first of the channels on.
  ///   - arguments: When not nil, what the activation gets is written there too.
  package func computeRow(
    rows: UnsafePointer<UnsafePointer<Float>?>, inputPixelStride: Int, inputWidth: Int, padLeft: Int,
    channelRange: Range<Int>, output: UnsafeMutablePointer<Float>, outputPixelStride: Int,
    outputWidth: Int, sums: UnsafeMutablePointer<Float>?,
    arguments: (first: UnsafeMutablePointer<Float>, pixelStride: Int)? = nil
  ) {
    let row = DepthwiseRow(
      rows: rows, inputPixelStride: inputPixelStride, inputWidth: inputWidth, output: output,
      outputPixelStride: outputPixelStride, outputWidth: outputWidth, arguments: arguments?.first,
      argumentStride: arguments?.pixelStride ?? 0,
      weight: UnsafePointer(weight.pointer + channelRange.lowerBound), weightStride: paddedChannels,
      bias: UnsafePointer(bias.pointer + channelRange.lowerBound), sums: sums,
      kernelSize: window.kernelSize, stride: window.stride, padLeft: padLeft,
      channelCount: channelRange.count, activation: activation)
    if let windows {
      precondition(padLeft == 0 && sums == nil, "words of levels with \(padLeft) pixels of padding left out")
      windows.computeRow(row)
    } else {
      kernels.depthwiseRow(row)
    }
  }
}

/// The gradient of a ``DepthwiseConvolution2D`` with respect to its input.
///
/// An input pixel is read by the outputs whose window covers it, so its gradient is a depthwise convolution of theirs by
/// the window turned round. With a stride, only every so many-th tap meets an output, and which ones depends on the
/// remainder of the pixel's row and column: each remainder has a small window of its own, and no zeros are multiplied.
package struct DepthwiseConvolution2DGradient: Sendable {
  private let window: Window
  private let channels: Int
  private let kernels: KernelSet
  /// Taps down and across of the window of one remainder.
  private let taps: Int
  /// `[stride, stride, taps, taps, padded channels]`: for each remainder down and across, the taps turned round.
  private let weight: AlignedBuffer
  private let bias: AlignedBuffer

  /// Turns the layer's weight round.
  package init(_ layer: DepthwiseConvolution2D) {
    window = layer.window
    channels = layer.channels
    kernels = layer.kernels
    let (size, stride) = (window.kernelSize, window.stride)
    // The kernels are made for windows of 3 and 5.
    taps = max((size + stride - 1) / stride, min(size, 3))
    let padded = layer.paddedChannels
    weight = AlignedBuffer(count: stride * stride * taps * taps * padded)
    bias = AlignedBuffer(count: padded)
    for row in 0..<stride * taps {
      for column in 0..<stride * taps {
        let tap = (Self.tap(row, taps, stride), Self.tap(column, taps, stride))
        guard tap.0 < size, tap.1 < size else { continue }
        let set = row / taps * stride + column / taps
        let place = (set * taps + row % taps) * taps + column % taps
        (weight.pointer + place * padded).update(
          from: layer.weight.pointer + (tap.0 * size + tap.1) * padded, count: padded)
      }
    }
  }

  /// The layer's tap that stands at a place, counted through all remainders, of the windows that are turned round.
  private static func tap(_ place: Int, _ taps: Int, _ stride: Int) -> Int {
    place / taps + stride * (taps - 1 - place % taps)
  }

  /// Computes the gradient of all input pixels.
  ///
  /// - Parameter outputGradient: With respect to the sums, before the layer's activation.
  package func callAsFunction(
    _ outputGradient: FeatureMap, into inputGradient: FeatureMap, pool: ThreadPool
  ) {
    let input = inputGradient.shape
    requireShapes(outputGradient.shape, input)
    pool.run(taskCount: input.height) { y, _ in
      computeRow(
        y, of: input, outputGradient,
        into: inputGradient.pointer + y * input.width * inputGradient.pixelStride,
        pixelStride: inputGradient.pixelStride)
    }
  }

  /// Computes the gradient of all input pixels and leads it on through the 1x1 convolution that made them, some rows at a
  /// time: the gradient of the expanded tensor is never whole in memory.
  ///
  /// - Parameters:
  ///   - outputGradient: With respect to the sums, before the layer's activation.
  ///   - below: The activation that made the layer's input.
  ///   - expansion: The 1x1 convolution before that.
  ///   - residual: Added to the result, or nil; the result's shape and stride.
  ///   - inputGradient: With respect to the input of the 1x1 convolution.
  ///   - scratch: ``scratchCount(_:)`` floats.
  package func callAsFunction(
    _ outputGradient: FeatureMap, below: ActivationBelow, expansion: Convolution2DGradient,
    residual: FeatureMap?, into inputGradient: FeatureMap, scratch: UnsafeMutablePointer<Float>,
    pool: ThreadPool
  ) {
    let input = below.shape
    requireShapes(outputGradient.shape, input)
    expansion.requireShapes(input, inputGradient.shape)
    residual?.requireSameLayout(inputGradient)
    precondition(
      below.pixelStride == bias.count,
      "arguments of stride \(below.pixelStride) for \(bias.count) channels")
    let rowCount = rowsPerTask(input)
    pool.run(
      taskCount: (input.height + rowCount - 1) / rowCount, scratch: scratch, scratchCount: scratchCount(input)
    ) { task, expanded in
      let rows = task * rowCount..<min((task + 1) * rowCount, input.height)
      let pixels = rows.lowerBound * input.width..<rows.upperBound * input.width
      for y in rows {
        computeRow(
          y, of: input, outputGradient, into: expanded + (y - rows.lowerBound) * input.width * bias.count,
          pixelStride: bias.count)
      }
      below.apply(to: expanded, pixels: pixels, kernels: kernels)
      expansion.computePixels(
        pixels, UnsafePointer(expanded), stride: bias.count, residual: residual, into: inputGradient)
    }
  }

  /// Floats of scratch memory for each task that leads a gradient on.
  package func scratchCount(_ input: FeatureShape) -> Int {
    rowsPerTask(input) * input.width * bias.count
  }

  /// Pixels that a product must have to be worth reading its matrix for.
  private static let leastPixelCount = 24

  /// As many rows as stay in the second-level cache.
  private func rowsPerTask(_ input: FeatureShape) -> Int {
    let least = (Self.leastPixelCount + input.width - 1) / input.width
    return min(max(ProductGrid.cachedFloats / (input.width * bias.count), least), input.height)
  }

  private func requireShapes(_ output: FeatureShape, _ input: FeatureShape) {
    precondition(
      output == window.outputShape(input, channels: channels) && input.channels == channels,
      "gradient of a depthwise convolution from \(output) to \(input)")
  }

  /// Computes the gradient of one row of input pixels.
  private func computeRow(
    _ y: Int, of input: FeatureShape, _ outputGradient: FeatureMap, into row: UnsafeMutablePointer<Float>,
    pixelStride: Int
  ) {
    let output = outputGradient.shape
    let resolved = window.resolve(height: input.height, width: input.width)
    let stride = window.stride
    withUnsafeTemporaryAllocation(of: UnsafePointer<Float>?.self, capacity: taps) { rows in
      let (last, remainder) = (y + resolved.top).quotientAndRemainder(dividingBy: stride)
      for i in 0..<taps {
        let outputRow = last - (taps - 1 - i)
        let isMet =
          (0..<output.height).contains(outputRow)
          && Self.tap(remainder * taps + i, taps, stride) < window.kernelSize
        rows[i] =
          isMet
          ? UnsafePointer(outputGradient.pointer + outputRow * output.width * outputGradient.pixelStride)
          : nil
      }
      for columnRemainder in 0..<stride {
        // The first pixel of that remainder, and the last output whose window covers it.
        let x = (columnRemainder - resolved.left % stride + stride) % stride
        if x >= input.width { continue }
        let lastColumn = (x + resolved.left) / stride
        let set = remainder * stride + columnRemainder
        kernels.depthwiseRow(
          DepthwiseRow(
            rows: rows.baseAddress!, inputPixelStride: outputGradient.pixelStride, inputWidth: output.width,
            output: row + x * pixelStride, outputPixelStride: stride * pixelStride,
            outputWidth: (input.width - x + stride - 1) / stride,
            weight: UnsafePointer(weight.pointer + set * taps * taps * bias.count),
            weightStride: bias.count, bias: UnsafePointer(bias.pointer), sums: nil, kernelSize: taps,
            stride: 1, padLeft: taps - 1 - lastColumn,
            channelCount: bias.count, activation: .identity))
      }
    }
  }
}
