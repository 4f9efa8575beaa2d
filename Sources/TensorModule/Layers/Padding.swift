/// How many zeros a convolution or a pooling puts around its input.
package enum Padding: Sendable, Equatable {
  /// TensorFlow's SAME: the output has `ceil(input / stride)` pixels; an odd zero goes after.
  case same
  /// So many zeros on each side, at most so many that each window meets the input; `(kernelSize - 1) / 2 * dilation` is
  /// PyTorch's usual choice.
  case symmetric(Int)

  /// Zeros before the input, and pixels in the output, along one dimension.
  package func resolve(input: Int, kernelSize: Int, stride: Int, dilation: Int = 1) -> (
    before: Int, output: Int
  ) {
    let reach = (kernelSize - 1) * dilation + 1
    switch self {
    case .same:
      let output = (input + stride - 1) / stride
      return (max((output - 1) * stride + reach - input, 0) / 2, output)
    case .symmetric(let zeros):
      precondition(
        (0..<reach).contains(zeros), "a window of \(reach) at the edge lies in \(zeros) zeros altogether")
      precondition(
        input + 2 * zeros >= reach,
        "a window of \(reach) does not fit into \(input) with \(zeros) zeros around")
      return (zeros, (input + 2 * zeros - reach) / stride + 1)
    }
  }
}

/// A window that slides over an input, the same in both directions.
package struct Window: Sendable, Equatable {
  /// Taps down and across.
  package let kernelSize: Int
  /// Input pixels from one output to the next.
  package let stride: Int
  /// Input pixels from one tap to the next.
  package let dilation: Int
  /// Zeros around the input.
  package let padding: Padding

  /// A window of `kernelSize` by `kernelSize` taps.
  package init(kernelSize: Int, stride: Int = 1, dilation: Int = 1, padding: Padding) {
    precondition(
      kernelSize > 0 && stride > 0 && dilation > 0,
      "kernel size \(kernelSize), stride \(stride) and dilation \(dilation) must be positive")
    self.kernelSize = kernelSize
    self.stride = stride
    self.dilation = dilation
    self.padding = padding
  }

  /// Zeros above and to the left of an input, and the pixels of the output.
  package func resolve(height: Int, width: Int) -> (top: Int, left: Int, height: Int, width: Int) {
    let (top, outputHeight) = padding.resolve(
      input: height, kernelSize: kernelSize, stride: stride, dilation: dilation)
    let (left, outputWidth) = padding.resolve(
      input: width, kernelSize: kernelSize, stride: stride, dilation: dilation)
    return (top, left, outputHeight, outputWidth)
  }

  /// The shape of the output with so many channels.
  package func outputShape(_ input: FeatureShape, channels: Int) -> FeatureShape {
    let resolved = resolve(height: input.height, width: input.width)
    return FeatureShape(height: resolved.height, width: resolved.width, channels: channels)
  }
}
