package import KernelInterface

/// A convolution with any window, stride, padding, dilation and number of groups.
///
/// The input rows under a row of outputs are copied with the zeros beside them; the pixels under each window are then
/// pieces of those copies, which the packed weight is multiplied by where they lie. A 1x1 window of stride 1 without padding belongs to ``PointwiseConvolution``, one channel in a
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

  /// Floats of scratch memory for each task.
  package func scratchCount(_ input: FeatureShape) -> Int {
    let width = window.outputShape(input, channels: outputChannels).width
    return segmentCount * segmentStride(outputWidth: width) + (groups == 1 ? 0 : width * paddedGroupColumns)
  }

  private var paddedGroupColumns: Int {
    matrices[0].columnCount.roundedUp(toMultipleOf: matrices[0].kernels.vectorWidth)
  }

  /// Taps of a window that lie side by side in the input.
  private var segmentTaps: Int { window.dilation == 1 ? window.kernelSize : 1 }

  private var segmentCount: Int { window.kernelSize * window.kernelSize / segmentTaps }

  /// Floats of a copied row.
  private func segmentStride(outputWidth: Int) -> Int {
    ((outputWidth - 1) * window.stride + segmentTaps) * (inputChannels / groups)
  }

  /// Computes the output.
  ///
  /// - Parameter scratch: ``scratchCount(_:)`` floats.
  package func callAsFunction(
    _ input: FeatureMap, into output: FeatureMap, scratch: UnsafeMutablePointer<Float>, pool: ThreadPool
  ) {
    precondition(
      input.shape.channels == inputChannels
        && output.shape == window.outputShape(input.shape, channels: outputChannels),
      "convolution of \(inputChannels) to \(outputChannels) channels from \(input.shape) to \(output.shape)")
    let width = output.shape.width
    let segmentStride = segmentStride(outputWidth: width)
    pool.run(taskCount: output.shape.height, scratch: scratch, scratchCount: scratchCount(input.shape)) {
      y, copies in
      let c = output.pointer + y * width * output.pixelStride
      for (group, matrix) in matrices.enumerated() {
        copyRows(input, y: y, group: group, segmentStride: segmentStride, into: copies)
        // The kernels store whole vectors, which would run over the neighbouring group.
        let product = groups == 1 ? c : copies + segmentCount * segmentStride
        let productStride = groups == 1 ? output.pixelStride : paddedGroupColumns
        matrix.multiply(
          a: copies, aStride: window.stride * (inputChannels / groups), segmentCount: segmentCount,
          segmentStride: segmentStride, rowCount: width, into: product, cStride: productStride,
          activation: activation)
        if groups == 1 { continue }
        for x in 0..<width {
          (c + (x * output.pixelStride + group * matrix.columnCount)).update(
            from: product + x * productStride, count: matrix.columnCount)
        }
      }
    }
  }

  /// Writes the input rows under output row `y`, zeros where they leave the input: one for each row of the window, or for
  /// each tap where those are apart.
  private func copyRows(
    _ input: FeatureMap, y: Int, group: Int, segmentStride: Int, into target: UnsafeMutablePointer<Float>
  ) {
    let channels = inputChannels / groups
    let resolved = window.resolve(height: input.shape.height, width: input.shape.width)
    let pixelCount = segmentStride / channels
    for segment in 0..<segmentCount {
      let (ky, kx) = (segment * segmentTaps).quotientAndRemainder(dividingBy: window.kernelSize)
      let copy = target + segment * segmentStride
      let row = y * window.stride - resolved.top + ky * window.dilation
      let first = kx * window.dilation - resolved.left
      let inside = max(first, 0)..<max(min(first + pixelCount, input.shape.width), max(first, 0))
      guard (0..<input.shape.height).contains(row), !inside.isEmpty else {
        copy.update(repeating: 0, count: segmentStride)
        continue
      }
      copy.update(repeating: 0, count: (inside.lowerBound - first) * channels)
      let source = input.pointer + (row * input.shape.width * input.pixelStride + group * channels)
      let start = copy + (inside.lowerBound - first) * channels
      if input.pixelStride == channels {
        start.update(from: source + inside.lowerBound * channels, count: inside.count * channels)
      } else {
        for (i, pixel) in inside.enumerated() {
          (start + i * channels).update(from: source + pixel * input.pixelStride, count: channels)
        }
      }
      (start + inside.count * channels).update(
        repeating: 0, count: (first + pixelCount - inside.upperBound) * channels)
    }
  }
}
