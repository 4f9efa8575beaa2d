package import KernelInterface
package import SystemModule

/// The greatest value of each channel under a window that slides over the input; what lies outside the input is left out.
package struct MaxPooling2D: Sendable {
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
    let channels = kernels.padded(input.shape.channels)
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
    let (width, stride) = (input.shape.width, input.pixelStride)
    inputGradient.pointer.update(repeating: 0, count: input.shape.pixelCount * stride)
    for y in 0..<outputGradient.shape.height {
      for x in 0..<outputGradient.shape.width {
        let (rows, columns) = window.inside(input.shape, y: y, x: x)
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

/// The mean of each channel under a window that slides over the input; what lies outside the input is not counted.
package struct AveragePooling2D: Sendable {
  package let window: Window
  private let kernels: KernelSet

  package init(window: Window, kernels: KernelSet) {
    self.window = window
    self.kernels = kernels
  }

  /// Computes the output, of the input's channels.
  package func callAsFunction(_ input: FeatureMap, into output: FeatureMap, pool: ThreadPool) {
    requireShapes(input.shape, output.shape)
    let stride = output.pixelStride
    pool.run(taskCount: output.shape.height) { y, _ in
      withUnsafeTemporaryAllocation(of: Float.self, capacity: stride) { factors in
        for x in 0..<output.shape.width {
          let (rows, columns) = window.inside(input.shape, y: y, x: x)
          let target = output.pointer + (y * output.shape.width + x) * stride
          target.update(repeating: 0, count: stride)
          for row in rows {
            kernels.addRows(
              RowSum(
                sums: target, matrix: input.pointer + (row * input.shape.width + columns.lowerBound) * stride,
                rowCount: columns.count, columnCount: stride, rowStride: stride))
          }
          factors.update(repeating: 1 / Float(rows.count * columns.count))
          kernels.scaleColumns(
            ColumnScaling(
              matrix: target, rowCount: 1, columnCount: stride, rowStride: stride,
              factors: factors.baseAddress!))
        }
      }
    }
  }

  /// Computes the gradient with respect to the input: each output's is shared by the pixels under its window.
  ///
  /// - Parameter inputGradient: Overwritten, its padded channels with zeros.
  package func inputGradient(_ outputGradient: FeatureMap, into inputGradient: FeatureMap) {
    let (input, output, stride) = (inputGradient.shape, outputGradient.shape, inputGradient.pixelStride)
    requireShapes(input, output)
    inputGradient.pointer.update(repeating: 0, count: input.pixelCount * stride)
    for y in 0..<output.height {
      for x in 0..<output.width {
        let (rows, columns) = window.inside(input, y: y, x: x)
        let gradient = outputGradient.pointer + (y * output.width + x) * stride
        let share = 1 / Float(rows.count * columns.count)
        for row in rows {
          for column in columns {
            let target = inputGradient.pointer + (row * input.width + column) * stride
            for channel in 0..<input.channels { target[channel] += gradient[channel] * share }
          }
        }
      }
    }
  }

  private func requireShapes(_ input: FeatureShape, _ output: FeatureShape) {
    precondition(
      output == window.outputShape(input, channels: input.channels),
      "average pooling from \(input) to \(output)")
  }
}

extension Window {
  /// The rows and columns of an input that lie under the window of an output.
  fileprivate func inside(_ input: FeatureShape, y: Int, x: Int) -> (rows: Range<Int>, columns: Range<Int>) {
    let resolved = resolve(height: input.height, width: input.width)
    let (top, left) = (y * stride - resolved.top, x * stride - resolved.left)
    return (
      max(top, 0)..<min(top + kernelSize, input.height), max(left, 0)..<min(left + kernelSize, input.width)
    )
  }
}

/// The mean of each channel over all pixels.
package enum GlobalAveragePooling {
  /// Writes the means, padded channels included.
  ///
  /// Rows of pixels are summed first and then the rows, which keeps the rounding error of a large map small and does
  /// not depend on the number of threads.
  ///
  /// - Parameters:
  ///   - means: Channels rounded up to whole vectors.
  ///   - scratch: As many floats.
  package static func compute(
    _ input: FeatureMap, into means: UnsafeMutablePointer<Float>, scratch: UnsafeMutablePointer<Float>,
    kernels: KernelSet
  ) {
    let channels = kernels.padded(input.shape.channels)
    means.update(repeating: 0, count: channels)
    for y in 0..<input.shape.height {
      scratch.update(repeating: 0, count: channels)
      kernels.addRows(
        RowSum(
          sums: scratch, matrix: input.pointer + y * input.shape.width * input.pixelStride,
          rowCount: input.shape.width, columnCount: channels, rowStride: input.pixelStride))
      kernels.addRows(
        RowSum(sums: means, matrix: scratch, rowCount: 1, columnCount: channels, rowStride: channels))
    }
    let factor = 1 / Float(input.shape.pixelCount)
    for channel in 0..<channels { means[channel] *= factor }
  }
}

extension GlobalAveragePooling {
  /// The gradient with respect to the input: each pixel's is the means' divided by the number of pixels.
  ///
  /// - Parameters:
  ///   - meansGradient: `[channels]`
  ///   - inputGradient: Overwritten, its padded channels with zeros.
  package static func inputGradient(_ meansGradient: [Float], into inputGradient: FeatureMap) {
    let shape = inputGradient.shape
    precondition(
      meansGradient.count == shape.channels, "a gradient of \(meansGradient.count) means for \(shape)")
    let factor = 1 / Float(shape.pixelCount)
    let pixel = meansGradient.map { $0 * factor }
    for index in 0..<shape.pixelCount {
      let target = inputGradient.pointer + index * inputGradient.pixelStride
      target.update(from: pixel, count: shape.channels)
      (target + shape.channels).update(repeating: 0, count: inputGradient.pixelStride - shape.channels)
    }
  }
}
