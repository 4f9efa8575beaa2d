package import KernelInterface

/// A convolution with any window, stride, padding, dilation and number of groups.
///
/// The pixels under each output's window are gathered into a row (im2col, one output row at a time), then multiplied by
/// the packed weight. A 1x1 window of stride 1 without padding belongs to ``PointwiseConvolution``, one channel in a
/// group to ``DepthwiseConvolution2D``: both are faster there.
package struct Convolution2D: Sendable {
  /// Channels of the input.
  package let inputChannels: Int
  /// Channels of the output.
  package let outputChannels: Int
  /// Parts that the channels are cut into; each sees only its own part of the input.
  package let groups: Int
  /// The window.
  package let window: Window
  /// Applied to each output.
  package let activation: Activation

  private let matrices: [PackedMatrix]

  /// - Parameters:
  ///   - weight: `OIHW`: `[outputChannels, inputChannels / groups, kernelSize, kernelSize]`.
  ///   - bias: `[outputChannels]`.
  package init(
    weight: [Float], bias: [Float], inputChannels: Int, groups: Int = 1, window: Window,
    activation: Activation, kernels: KernelSet
  ) {
    let outputChannels = bias.count
    precondition(
      inputChannels % groups == 0 && outputChannels % groups == 0,
      "\(inputChannels) and \(outputChannels) channels in \(groups) groups")
    let taps = window.kernelSize * window.kernelSize
    let perGroup = inputChannels / groups
    precondition(
      weight.count == outputChannels * perGroup * taps,
      "\(weight.count) weights for [\(outputChannels), \(perGroup), \(window.kernelSize), \(window.kernelSize)]"
    )
    self.inputChannels = inputChannels
    self.outputChannels = outputChannels
    self.groups = groups
    self.window = window
    self.activation = activation
    let columns = outputChannels / groups
    matrices = (0..<groups).map { group in
      var rows = [Float](repeating: 0, count: columns * taps * perGroup)
      for column in 0..<columns {
        for channel in 0..<perGroup {
          for tap in 0..<taps {
            rows[(column * taps + tap) * perGroup + channel] =
              weight[((group * columns + column) * perGroup + channel) * taps + tap]
          }
        }
      }
      return PackedMatrix(
        weight: rows, columnCount: columns, depth: taps * perGroup,
        bias: Array(bias[group * columns..<(group + 1) * columns]), kernels: kernels)
    }
  }

  /// Floats of scratch memory for each thread.
  package func scratchCountPerThread(_ input: FeatureShape) -> Int {
    let width = window.outputShape(input, channels: outputChannels).width
    return width * (matrices[0].depth + (groups == 1 ? 0 : paddedGroupColumns))
  }

  private var paddedGroupColumns: Int {
    matrices[0].columnCount.roundedUp(toMultipleOf: matrices[0].kernels.vectorWidth)
  }

  /// Computes the output.
  ///
  /// - Parameter scratch: ``scratchCountPerThread(_:)`` floats for each thread of the pool.
  package func callAsFunction(
    _ input: FeatureMap, into output: FeatureMap, scratch: UnsafeMutablePointer<Float>, pool: ThreadPool
  ) {
    precondition(
      input.shape.channels == inputChannels
        && output.shape == window.outputShape(input.shape, channels: outputChannels),
      "convolution of \(inputChannels) to \(outputChannels) channels from \(input.shape) to \(output.shape)")
    let perThread = scratchCountPerThread(input.shape)
    let width = output.shape.width
    pool.run(taskCount: output.shape.height) { y, thread in
      let gathered = scratch + thread * perThread
      let c = output.pointer + y * width * output.pixelStride
      for (group, matrix) in matrices.enumerated() {
        gather(input, y: y, group: group, outputWidth: width, into: gathered)
        if groups == 1 {
          matrix.multiply(
            a: gathered, aStride: matrix.depth, rowCount: width, into: c, cStride: output.pixelStride,
            activation: activation)
          continue
        }
        // The kernels store whole vectors, which would run over the neighbouring group.
        let product = gathered + width * matrix.depth
        matrix.multiply(
          a: gathered, aStride: matrix.depth, rowCount: width, into: product, cStride: paddedGroupColumns,
          activation: activation)
        for x in 0..<width {
          (c + (x * output.pixelStride + group * matrix.columnCount)).update(
            from: product + x * paddedGroupColumns, count: matrix.columnCount)
        }
      }
    }
  }

  /// Writes `[outputWidth, kernelSize, kernelSize, inputChannels / groups]`, zeros where the window leaves the input.
  private func gather(
    _ input: FeatureMap, y: Int, group: Int, outputWidth: Int, into target: UnsafeMutablePointer<Float>
  ) {
    let channels = inputChannels / groups
    let resolved = window.resolve(height: input.shape.height, width: input.shape.width)
    let isDense = input.pixelStride == channels && window.dilation == 1
    let rowLength = window.kernelSize * channels
    for x in 0..<outputWidth {
      let left = x * window.stride - resolved.left
      let isInside = left >= 0 && left + (window.kernelSize - 1) * window.dilation < input.shape.width
      for ky in 0..<window.kernelSize {
        let row = y * window.stride - resolved.top + ky * window.dilation
        let place = target + (x * window.kernelSize + ky) * rowLength
        guard (0..<input.shape.height).contains(row) else {
          place.update(repeating: 0, count: rowLength)
          continue
        }
        let source = input.pointer + (row * input.shape.width * input.pixelStride + group * channels)
        if isDense && isInside {
          place.update(from: source + left * channels, count: rowLength)
          continue
        }
        for kx in 0..<window.kernelSize {
          let column = left + kx * window.dilation
          if (0..<input.shape.width).contains(column) {
            (place + kx * channels).update(from: source + column * input.pixelStride, count: channels)
          } else {
            (place + kx * channels).update(repeating: 0, count: channels)
          }
        }
      }
    }
  }
}
