package import KernelInterface
package import SystemModule

/// The greatest value of each channel under a window that slides over the input; what lies outside the input is left out.
package struct MaxPooling2D: Sendable {
  /// The window.
  package let window: Window
  private let kernels: KernelSet

  package init(window: Window, kernels: KernelSet) {
    self.window = window
    self.kernels = kernels
  }

  /// Computes the output, of the input's channels.
  package func callAsFunction(_ input: FeatureMap, into output: FeatureMap, pool: ThreadPool) {
    requireShapes(input.shape, output.shape)
    let resolved = window.resolve(height: input.shape.height, width: input.shape.width)
    let (width, size) = (output.shape.width, window.kernelSize)
    let channels = input.shape.channels.roundedUp(toMultipleOf: kernels.vectorWidth)
    pool.run(taskCount: output.shape.height) { y, _ in
      withUnsafeTemporaryAllocation(of: UnsafePointer<Float>?.self, capacity: size) { rows in
        for ky in 0..<size {
          let row = y * window.stride - resolved.top + ky
          rows[ky] =
            (0..<input.shape.height).contains(row)
            ? UnsafePointer(input.pointer + row * input.shape.width * input.pixelStride) : nil
        }
        kernels.maxPoolingRow(
          MaxPoolingRow(
            rows: rows.baseAddress!, inputPixelStride: input.pixelStride, inputWidth: input.shape.width,
            output: output.pointer + y * width * output.pixelStride, outputPixelStride: output.pixelStride,
            outputWidth: width, kernelSize: size, stride: window.stride, padLeft: resolved.left,
            channelCount: channels))
      }
    }
  }

  /// Computes the gradient with respect to the input: each output's goes to the first of the greatest values, row by row,
  /// as in PyTorch.
  ///
  /// - Parameter inputGradient: Overwritten, its padded channels with zeros.
  package func inputGradient(
    _ outputGradient: FeatureMap, at input: FeatureMap, into inputGradient: FeatureMap
  ) {
    requireShapes(input.shape, outputGradient.shape)
    inputGradient.requireSameLayout(input)
    let (height, width, stride) = (input.shape.height, input.shape.width, input.pixelStride)
    let resolved = window.resolve(height: height, width: width)
    inputGradient.pointer.update(repeating: 0, count: input.shape.pixelCount * stride)
    for y in 0..<outputGradient.shape.height {
      let top = y * window.stride - resolved.top
      let rows = max(top, 0)..<min(top + window.kernelSize, height)
      for x in 0..<outputGradient.shape.width {
        let left = x * window.stride - resolved.left
        let columns = max(left, 0)..<min(left + window.kernelSize, width)
        let gradient =
          outputGradient.pointer + (y * outputGradient.shape.width + x) * outputGradient.pixelStride
        for channel in 0..<input.shape.channels {
          var best = (rows.lowerBound * width + columns.lowerBound) * stride + channel
          for row in rows {
            for column in columns {
              let place = (row * width + column) * stride + channel
              if input.pointer[place] > input.pointer[best] { best = place }
            }
          }
          inputGradient.pointer[best] += gradient[channel]
        }
      }
    }
  }

  private func requireShapes(_ input: FeatureShape, _ output: FeatureShape) {
    precondition(
      output == window.outputShape(input, channels: input.channels), "max pooling from \(input) to \(output)")
  }
}
