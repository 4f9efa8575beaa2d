package import KernelInterface
package import SystemModule

/// A convolution over the few channels of an image.
///
/// The input rows under a row of outputs are copied with the zeros beside them; the pixels under each window are then
/// pieces of those copies, which the packed weight is multiplied by where they lie. ``Convolution2D`` is faster where there
/// are many channels.
package struct ImageConvolution2D: Sendable {
  package let inputChannels: Int
  package let window: Window
  /// Applied to each output.
  package let activation: Activation

  private let matrix: PackedMatrix

  /// - Parameters:
  ///   - weight: `OIHW`: `[outputChannels, inputChannels, kernelSize, kernelSize]`.
  ///   - bias: `[outputChannels]`.
  package init(
    weight: [Float], bias: [Float], inputChannels: Int, window: Window, activation: Activation,
    kernels: KernelSet
  ) {
    self.inputChannels = inputChannels
    self.window = window
    self.activation = activation
    matrix = PackedMatrix(
      convolutionWeight: weight, bias: bias, inputChannels: inputChannels, kernelSize: window.kernelSize,
      kernels: kernels)
  }

  package var outputChannels: Int { matrix.columnCount }

  package var multiplyAddsPerPixel: Int { matrix.depth * matrix.columnCount }

  /// Floats of scratch memory for each task.
  package func scratchCount(_ input: FeatureShape) -> Int {
    let width = window.outputShape(input, channels: outputChannels).width
    return window.kernelSize * rowLength(outputWidth: width)
  }

  /// Floats of a copied row.
  private func rowLength(outputWidth: Int) -> Int {
    ((outputWidth - 1) * window.stride + window.kernelSize) * inputChannels
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
    let rowLength = rowLength(outputWidth: width)
    pool.run(taskCount: output.shape.height, scratch: scratch, scratchCount: scratchCount(input.shape)) {
      y, copies in
      copyRows(input, y: y, rowLength: rowLength, into: copies)
      matrix.multiply(
        a: copies, aStride: window.stride * inputChannels, segmentCount: window.kernelSize,
        segmentStride: rowLength, rowCount: width, into: output.pointer + y * width * output.pixelStride,
        cStride: output.pixelStride, activation: activation)
    }
  }

  /// Writes the input rows under output row `y`, zeros where they leave the input.
  private func copyRows(
    _ input: FeatureMap, y: Int, rowLength: Int, into target: UnsafeMutablePointer<Float>
  ) {
    let resolved = window.resolve(height: input.shape.height, width: input.shape.width)
    let pixelCount = rowLength / inputChannels
    let first = -resolved.left
    let inside = max(first, 0)..<max(min(first + pixelCount, input.shape.width), max(first, 0))
    for ky in 0..<window.kernelSize {
      let copy = target + ky * rowLength
      let row = y * window.stride - resolved.top + ky
      guard (0..<input.shape.height).contains(row), !inside.isEmpty else {
        copy.update(repeating: 0, count: rowLength)
        continue
      }
      copy.update(repeating: 0, count: (inside.lowerBound - first) * inputChannels)
      let source = input.pointer + row * input.shape.width * input.pixelStride
      let start = copy + (inside.lowerBound - first) * inputChannels
      if input.pixelStride == inputChannels {
        start.update(from: source + inside.lowerBound * inputChannels, count: inside.count * inputChannels)
      } else {
        for (i, pixel) in inside.enumerated() {
          (start + i * inputChannels).update(from: source + pixel * input.pixelStride, count: inputChannels)
        }
      }
      (start + inside.count * inputChannels).update(
        repeating: 0, count: (first + pixelCount - inside.upperBound) * inputChannels)
    }
  }
}
