/// How many zeros a convolution or a pooling puts around its input.
package enum Padding: Sendable, Equatable {
  /// TensorFlow's SAME: the output has `ceil(input / stride)` pixels; an odd zero goes after.
  case same
  /// So many zeros on each side, at most so many that each window meets the input; `kernelSize / 2` is PyTorch's usual
  /// choice.
  case symmetric(Int)

  /// Zeros before the input, and pixels in the output, along one dimension.
  package func resolve(input: Int, kernelSize: Int, stride: Int) -> (before: Int, output: Int) {
    switch self {
    case .same:
      let output = (input + stride - 1) / stride
      return (max((output - 1) * stride + kernelSize - input, 0) / 2, output)
    case .symmetric(let zeros):
      precondition(
        (0..<kernelSize).contains(zeros),
        "a window of \(kernelSize) at the edge lies in \(zeros) zeros altogether")
      precondition(
        input + 2 * zeros >= kernelSize,
        "a window of \(kernelSize) does not fit into \(input) with \(zeros) zeros around")
      return (zeros, (input + 2 * zeros - kernelSize) / stride + 1)
    }
  }
}

/// A window that slides over an input, the same in both directions.
package struct Window: Sendable, Equatable {
  /// Taps down and across.
  package let kernelSize: Int
  /// Input pixels from one output to the next.
  package let stride: Int
  /// Zeros around the input.
  package let padding: Padding

  /// A window of `kernelSize` by `kernelSize` taps.
  package init(kernelSize: Int, stride: Int = 1, padding: Padding) {
    precondition(
      kernelSize > 0 && stride > 0, "kernel size \(kernelSize) and stride \(stride) must be positive")
    self.kernelSize = kernelSize
    self.stride = stride
    self.padding = padding
  }

  /// Zeros above and to the left of an input, and the pixels of the output.
  package func resolve(height: Int, width: Int) -> (top: Int, left: Int, height: Int, width: Int) {
    let (top, outputHeight) = padding.resolve(input: height, kernelSize: kernelSize, stride: stride)
    let (left, outputWidth) = padding.resolve(input: width, kernelSize: kernelSize, stride: stride)
    return (top, left, outputHeight, outputWidth)
  }

  /// The shape of the output with so many channels.
  package func outputShape(_ input: FeatureShape, channels: Int) -> FeatureShape {
    let resolved = resolve(height: input.height, width: input.width)
    return FeatureShape(height: resolved.height, width: resolved.width, channels: channels)
  }
}
