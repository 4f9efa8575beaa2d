package import KernelInterface
import SystemModule

/// A convolution that filters each channel by a window of its own.
package struct DepthwiseConvolution2D: Sendable {
  /// Channels of the input and of the output.
  package let channels: Int
  /// The window.
  package let window: Window
  /// Applied to each output.
  package let activation: Activation
  /// The kernels the weights are laid out for.
  package let kernels: KernelSet

  let weight: AlignedBuffer
  private let bias: AlignedBuffer

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
    let stride = channels.roundedUp(toMultipleOf: kernels.vectorWidth)
    self.weight = AlignedBuffer(count: taps * stride)
    self.bias = AlignedBuffer(count: stride)
    for channel in 0..<channels {
      self.bias.pointer[channel] = bias[channel]
      for tap in 0..<taps { self.weight.pointer[tap * stride + channel] = weight[channel * taps + tap] }
    }
  }

  /// Channels rounded up to whole vectors.
  package var paddedChannels: Int { channels.roundedUp(toMultipleOf: kernels.vectorWidth) }

  /// Computes one output row of some channels.
  ///
  /// - Parameters:
  ///   - rows: The input rows under the window at the first of the channels; nil outside the image.
  ///   - channelRange: Whole vectors.
  ///   - output: The row's first pixel at the first of the channels.
  ///   - sums: When not nil, the row's sum is added, from the first of the channels on.
  ///   - activation: In the place of the layer's own.
  package func computeRow(
    rows: UnsafePointer<UnsafePointer<Float>?>, inputPixelStride: Int, inputWidth: Int, padLeft: Int,
    channelRange: Range<Int>, output: UnsafeMutablePointer<Float>, outputPixelStride: Int,
    outputWidth: Int, sums: UnsafeMutablePointer<Float>?, activation: Activation? = nil
  ) {
    kernels.depthwiseRow(
      DepthwiseRow(
        rows: rows, inputPixelStride: inputPixelStride, inputWidth: inputWidth, output: output,
        outputPixelStride: outputPixelStride, outputWidth: outputWidth,
        weight: UnsafePointer(weight.pointer + channelRange.lowerBound), weightStride: paddedChannels,
        bias: UnsafePointer(bias.pointer + channelRange.lowerBound), sums: sums,
        kernelSize: window.kernelSize, stride: window.stride, padLeft: padLeft,
        channelCount: channelRange.count, activation: activation ?? self.activation))
  }
}
