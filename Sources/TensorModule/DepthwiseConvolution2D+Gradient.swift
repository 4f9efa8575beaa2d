import KernelInterface

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
    precondition(
      stride == 1 || window.dilation == 1, "a window of stride \(stride) and dilation \(window.dilation)")
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
  /// - Parameters:
  ///   - outputGradient: With respect to the sums, before the layer's activation.
  ///   - below: The activation that made the layer's input; the result is then the gradient at its argument.
  package func callAsFunction(
    _ outputGradient: FeatureMap, below: ActivationBelow? = nil, into inputGradient: FeatureMap,
    pool: ThreadPool
  ) {
    let input = inputGradient.shape
    let output = outputGradient.shape
    precondition(
      output == window.outputShape(input, channels: channels) && input.channels == channels,
      "gradient of a depthwise convolution from \(output) to \(input)")
    below?.requireLayout(of: inputGradient)
    let resolved = window.resolve(height: input.height, width: input.width)
    let stride = window.stride
    pool.run(taskCount: input.height) { y, _ in
      withUnsafeTemporaryAllocation(of: UnsafePointer<Float>?.self, capacity: taps) { rows in
        let (last, remainder) = (y + resolved.top).quotientAndRemainder(dividingBy: stride)
        for i in 0..<taps {
          let row = last - (taps - 1 - i) * window.dilation
          let isMet =
            (0..<output.height).contains(row)
            && Self.tap(remainder * taps + i, taps, stride) < window.kernelSize
          rows[i] =
            isMet
            ? UnsafePointer(outputGradient.pointer + row * output.width * outputGradient.pixelStride) : nil
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
              output: inputGradient.pointer + (y * input.width + x) * inputGradient.pixelStride,
              outputPixelStride: stride * inputGradient.pixelStride,
              outputWidth: (input.width - x + stride - 1) / stride,
              weight: UnsafePointer(weight.pointer + set * taps * taps * bias.count),
              weightStride: bias.count, bias: UnsafePointer(bias.pointer), sums: nil, kernelSize: taps,
              stride: 1, dilation: window.dilation, padLeft: (taps - 1) * window.dilation - lastColumn,
              channelCount: bias.count, activation: .identity))
        }
      }
      below?.apply(to: inputGradient, pixels: y * input.width..<(y + 1) * input.width, kernels: kernels)
    }
  }
}

extension DepthwiseConvolution2D {
  /// Computes the sums of all output pixels, before the activation.
  package func preActivation(_ input: FeatureMap, into output: FeatureMap, pool: ThreadPool) {
    precondition(
      output.shape == window.outputShape(input.shape, channels: channels) && input.shape.channels == channels,
      "depthwise convolution of \(channels) channels from \(input.shape) to \(output.shape)")
    let resolved = window.resolve(height: input.shape.height, width: input.shape.width)
    pool.run(taskCount: output.shape.height) { y, _ in
      withUnsafeTemporaryAllocation(of: UnsafePointer<Float>?.self, capacity: window.kernelSize) { rows in
        for ky in 0..<window.kernelSize {
          let row = y * window.stride - resolved.top + ky * window.dilation
          let isInside = (0..<input.shape.height).contains(row)
          rows[ky] =
            isInside ? UnsafePointer(input.pointer + row * input.shape.width * input.pixelStride) : nil
        }
        computeRow(
          rows: rows.baseAddress!, inputPixelStride: input.pixelStride, inputWidth: input.shape.width,
          padLeft: resolved.left, channelRange: 0..<paddedChannels,
          output: output.pointer + y * output.shape.width * output.pixelStride,
          outputPixelStride: output.pixelStride, outputWidth: output.shape.width, sums: nil,
          activation: .identity)
      }
    }
  }
}
