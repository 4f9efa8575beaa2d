import TensorModule

/// A step of a run, for a profile.
package struct NetworkStep: Sendable, Equatable {
  /// What a step computes.
  package enum Operation: Sendable, Equatable {
    /// The stem: a convolution over all channels.
    case convolution
    /// A depthwise convolution, after an expansion where the block has one.
    case filter(kernelSize: Int, stride: Int, isExpanded: Bool)
    /// The gate of squeeze-excite.
    case squeezeExcite
    /// A 1x1 convolution.
    case projection
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

extension MBConvBlock {
  func filterStep(input: FeatureShape, output: FeatureShape) -> NetworkStep {
    let window = filter.depthwise.window
    let expansion = filter.expansion.map { input.pixelCount * input.channels * $0.matrix.columnCount } ?? 0
    return NetworkStep(
      layer: name,
      operation: .filter(
        kernelSize: window.kernelSize, stride: window.stride, isExpanded: filter.expansion != nil),
      input: input, output: output,
      multiplyAdds: expansion + output.pixelCount * output.channels * window.kernelSize * window.kernelSize)
  }

  func squeezeStep(_ input: FeatureShape) -> NetworkStep {
    let reduced = squeezeExcite?.reduce.columnCount ?? 0
    return NetworkStep(
      layer: name, operation: .squeezeExcite, input: input, multiplyAdds: 2 * reduced * input.channels)
  }

  func projectionStep(input: FeatureShape, output: FeatureShape) -> NetworkStep {
    NetworkStep(
      layer: name, operation: .projection, input: input, output: output,
      multiplyAdds: output.pixelCount * output.channels * input.channels)
  }
}
