import KernelInterface
import ModelFiles
import SystemModule
import TensorModule

/// A network as a list of blocks and what follows their pooled output.
package struct Architecture: Sendable, Equatable {
  /// A block that is yet to be prepared.
  package struct Place: Sendable, Equatable {
    /// timm's name of the block.
    package let name: String
    /// The stage that it belongs to, from 0; nil before the first and after the last.
    package var stage: Int?
    package let configuration: BlockConfiguration
  }

  /// A dense layer between the pooling and the classifier, which timm keeps as a 1x1 convolution with a bias.
  package struct Hidden: Sendable, Equatable {
    package let name: String
    package let channels: Int
    package let activation: Activation
  }

  package let blocks: [Place]
  package var hidden: Hidden?
  /// timm's name of the last layer, where there is no fusion head in its place.
  package var classifier = "classifier"

  /// The architecture of a timm name; nil for one that is not in the tables.
  package static func named(_ name: String) -> Architecture? {
    efficientNet(name) ?? mobileNetV3(name) ?? resNet(name)
  }
}

/// The kinds of blocks.
package enum BlockConfiguration: Sendable, Equatable {
  case stem(StemBlock.Configuration)
  case mbConv(MBConvBlock.Configuration)
  case pointwise(PointwiseBlock.Configuration)
  case maxPooling(MaxPoolingBlock.Configuration)
  case residual(ResidualBlock.Configuration)

  /// The shape of the block's output.
  func outputShape(_ input: FeatureShape, weights: NetworkWeights) -> FeatureShape {
    switch self {
    case .stem(let stem): stem.window(weights).outputShape(input, channels: stem.channels)
    case .mbConv(let block): block.window(weights).outputShape(input, channels: block.channels)
    case .pointwise(let layer):
      FeatureShape(height: input.height, width: input.width, channels: layer.channels)
    case .maxPooling(let layer): layer.window(weights).outputShape(input, channels: input.channels)
    case .residual(let block):
      weights.window(kernelSize: 3, stride: block.stride).outputShape(input, channels: block.channels)
    }
  }

  /// Prepares the block for an input shape.
  func block(
    name: String, input: FeatureShape, weights: NetworkWeights, pool: ThreadPool
  ) throws(ModelFileError) -> any Block {
    switch self {
    case .stem(let stem): try StemBlock(stem, name: name, input: input, weights: weights)
    // A block without an expansion has few weights and stays as it is.
    case .mbConv(let block) where weights.precision == .int8 && block.expandedChannels != nil:
      try QuantizedMBConvBlock(block, name: name, input: input, weights: weights)
    case .mbConv(let block): try MBConvBlock(block, name: name, input: input, weights: weights)
    case .pointwise(let layer) where weights.precision == .int8:
      try QuantizedPointwiseBlock(layer, name: name, input: input, weights: weights)
    case .pointwise(let layer): try PointwiseBlock(layer, name: name, input: input, weights: weights)
    case .maxPooling(let layer):
      MaxPoolingBlock(name: name, input: input, window: layer.window(weights), kernels: weights.kernels)
    case .residual(let block):
      try ResidualBlock(block, name: name, input: input, weights: weights, pool: pool)
    }
  }
}
