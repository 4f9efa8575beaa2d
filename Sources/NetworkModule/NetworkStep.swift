import TensorModule

/// A step of a run, for a profile.
package struct NetworkStep: Sendable, Equatable {
  /// What a step computes.
  package enum Operation: Sendable, Equatable {
    /// A convolution over all channels.
    case convolution(kernelSize: Int, stride: Int)
    /// A depthwise convolution, after an expansion where the block has one.
    case filter(kernelSize: Int, stride: Int, isExpanded: Bool)
    /// The levels of a map.
    case quantization
    /// The gate of squeeze-excite.
    case squeezeExcite
    case maxPooling(kernelSize: Int, stride: Int)
    /// The means of the last feature map.
    case pooling
    /// Pooled features to logits.
    case head
  }

  /// The layer or block, by timm's name.
  package let layer: String
  /// What is computed.
  package let operation: Operation
  /// The input's shape; nil for vectors.
  package var input: FeatureShape?
  /// The output's shape; nil for vectors.
  package var output: FeatureShape?
  /// Multiply-adds, rows computed twice at the seams of bands not counted.
  package var multiplyAdds = 0

  package init(
    layer: String, operation: Operation, input: FeatureShape? = nil, output: FeatureShape? = nil,
    multiplyAdds: Int = 0
  ) {
    self.layer = layer
    self.operation = operation
    self.input = input
    self.output = output
    self.multiplyAdds = multiplyAdds
  }
}

extension NetworkStep {
  /// A 1x1 convolution.
  static func pointwise(_ layer: String, from input: FeatureShape, to output: FeatureShape) -> NetworkStep {
    NetworkStep(
      layer: layer, operation: .convolution(kernelSize: 1, stride: 1), input: input, output: output,
      multiplyAdds: output.pixelCount * output.channels * input.channels)
  }

  /// A depthwise convolution, and the expansion before it where there is one.
  static func filter(
    _ layer: String, from input: FeatureShape, to output: FeatureShape, window: Window, isExpanded: Bool
  ) -> NetworkStep {
    let taps = window.kernelSize * window.kernelSize
    let expansion = isExpanded ? input.pixelCount * input.channels : 0
    return NetworkStep(
      layer: layer,
      operation: .filter(kernelSize: window.kernelSize, stride: window.stride, isExpanded: isExpanded),
      input: input, output: output, multiplyAdds: (expansion + output.pixelCount * taps) * output.channels)
  }

  /// The gate of squeeze-excite.
  static func squeezeExcite(_ layer: String, on map: FeatureShape, hiddenChannels: Int) -> NetworkStep {
    NetworkStep(
      layer: layer, operation: .squeezeExcite, input: map, multiplyAdds: 2 * hiddenChannels * map.channels)
  }
}
