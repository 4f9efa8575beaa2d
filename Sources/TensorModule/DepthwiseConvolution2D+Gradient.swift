import KernelInterface

/// The gradient of a ``DepthwiseConvolution2D`` with respect to its input.
///
/// An input pixel is read by the outputs whose window covers it, so its gradient is a depthwise convolution of theirs by
/// the window turned round. With a stride, the outputs' gradients are first spread out, zeros between them; rows of
/// zeros need no memory, because the kernel skips rows that are nil.
package struct DepthwiseConvolution2DGradient: Sendable {
  private let window: Window
  private let channels: Int
  private let kernels: KernelSet
  /// `[kernelSize, kernelSize, padded channels]`, turned round in both directions.
  private let weight: AlignedBuffer
  private let bias: AlignedBuffer

  /// Turns the layer's weight round.
  package init(_ layer: DepthwiseConvolution2D) {
    window = layer.window
    channels = layer.channels
    kernels = layer.kernels
    let padded = layer.paddedChannels
    let taps = layer.window.kernelSize * layer.window.kernelSize
    weight = AlignedBuffer(count: taps * padded)
    bias = AlignedBuffer(count: padded)
    for tap in 0..<taps {
      (weight.pointer + tap * padded).update(
        from: layer.weight.pointer + (taps - 1 - tap) * padded, count: padded)
    }
  }

  /// Floats of scratch memory for gradients of the output of the given shape.
  package func scratchCount(output: FeatureShape) -> Int {
    window.stride == 1 ? 0 : output.height * spreadWidth(output) * bias.count
  }

  /// Pixels in a row of the output when it is spread out.
  private func spreadWidth(_ output: FeatureShape) -> Int { (output.width - 1) * window.stride + 1 }

  /// Computes the gradient of all input pixels.
  ///
  /// - Parameters:
  ///   - outputGradient: With respect to the sums, before the layer's activation.
  ///   - below: The activation that made the layer's input; the result is then the gradient at its argument.
  ///   - scratch: ``scratchCount(output:)`` floats.
  package func callAsFunction(
    _ outputGradient: FeatureMap, below: ActivationBelow? = nil, into inputGradient: FeatureMap,
    scratch: UnsafeMutablePointer<Float>, pool: ThreadPool
  ) {
    let input = inputGradient.shape
    let output = outputGradient.shape
    precondition(
      output == window.outputShape(input, channels: channels) && input.channels == channels,
      "gradient of a depthwise convolution from \(output) to \(input)")
    below?.requireLayout(of: inputGradient)
    let spread = spreadOut(outputGradient, scratch: scratch, pool: pool)
    let resolved = window.resolve(height: input.height, width: input.width)
    let reach = (window.kernelSize - 1) * window.dilation
    pool.run(taskCount: input.height) { y, _ in
      withUnsafeTemporaryAllocation(of: UnsafePointer<Float>?.self, capacity: window.kernelSize) { rows in
        for ky in 0..<window.kernelSize {
          let (row, gap) = (y + resolved.top - reach + ky * window.dilation)
            .quotientAndRemainder(dividingBy: window.stride)
          let isOutput = gap == 0 && (0..<output.height).contains(row)
          rows[ky] =
            isOutput ? UnsafePointer(spread.pointer + row * spread.shape.width * spread.pixelStride) : nil
        }
        kernels.depthwiseRow(
          DepthwiseRow(
            rows: rows.baseAddress!, inputPixelStride: spread.pixelStride, inputWidth: spread.shape.width,
            output: inputGradient.pointer + y * input.width * inputGradient.pixelStride,
            outputPixelStride: inputGradient.pixelStride, outputWidth: input.width,
            weight: UnsafePointer(weight.pointer), weightStride: bias.count,
            bias: UnsafePointer(bias.pointer),
            sums: nil, kernelSize: window.kernelSize, stride: 1, dilation: window.dilation,
            padLeft: reach - resolved.left, channelCount: bias.count, activation: .identity))
      }
      below?.apply(to: inputGradient, pixels: y * input.width..<(y + 1) * input.width, kernels: kernels)
    }
  }

  /// The rows with `stride - 1` zeros between their pixels.
  private func spreadOut(
    _ map: FeatureMap, scratch: UnsafeMutablePointer<Float>, pool: ThreadPool
  ) -> FeatureMap {
    if window.stride == 1 { return map }
    let padded = bias.count
    let shape = FeatureShape(height: map.shape.height, width: spreadWidth(map.shape), channels: channels)
    pool.run(taskCount: shape.height) { y, _ in
      let row = scratch + y * shape.width * padded
      row.update(repeating: 0, count: shape.width * padded)
      for x in 0..<map.shape.width {
        (row + x * window.stride * padded).update(
          from: map.pointer + (y * map.shape.width + x) * map.pixelStride, count: padded)
      }
    }
    return FeatureMap(scratch, shape: shape, pixelStride: padded)
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
