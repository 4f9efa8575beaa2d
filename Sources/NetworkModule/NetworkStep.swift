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
