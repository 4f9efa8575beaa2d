import Files
import KernelInterface
import SystemModule
import TensorModule

/// A mobile inverted bottleneck (MBConv): expand, depthwise, squeeze-excite, project, and the input added where the
/// shapes allow. The blocks of a first stage have no expansion; many have no squeeze-excite.
package final class MBConvBlock: Block {
  /// What an architecture's table says of a block.
  package struct Configuration: Sendable, Equatable {
    /// Taps of the depthwise window, down and across.
    package let kernelSize: Int
    /// Of the depthwise window.
    package let stride: Int
    /// Channels of the depthwise convolution, or nil for those of the input: no expansion.
    package let expandedChannels: Int?
    /// Channels of the output.
    package let channels: Int
    /// After the expansion and after the depthwise convolution.
    package let activation: Activation
    /// nil: no squeeze-excite.
    package let squeeze: Squeeze?
  }

  /// Squeeze-excite's hidden channels and activations.
  package struct Squeeze: Sendable, Equatable {
    package let channels: Int
    package let activation: Activation
    package let gate: Activation
  }

  package let name: String
  package let input: FeatureShape
  package let output: FeatureShape
  let filter: ExpandedDepthwise
  let squeezeExcite: SqueezeExcite?
  let projection: PointwiseConvolution
  /// Whether the input is added to the output.
  let hasSkip: Bool
  let plan: DepthwisePlan
  /// Of the depthwise convolution's output, in a network in 8 bits.
  let grid: ExactGrid?

  init(
    name: String, input: FeatureShape, filter: ExpandedDepthwise, squeezeExcite: SqueezeExcite?,
    projection: PointwiseConvolution, hasSkip: Bool, grid: ExactGrid? = nil
  ) {
    self.grid = grid
    self.name = name
    self.input = input
    self.filter = filter
    self.squeezeExcite = squeezeExcite
    self.projection = projection
    self.hasSkip = hasSkip
    plan = filter.plan(input)
    output = FeatureShape(
      height: plan.output.height, width: plan.output.width, channels: projection.matrix.columnCount)
  }

  /// Binds a block's tensors by timm's names.
  convenience init(
    _ configuration: Configuration, name: String, input: FeatureShape, weights: NetworkWeights
  ) throws(DermaFusionError) {
    let block = weights.scope(name)
    let isExpanded = configuration.expandedChannels != nil
    let expanded = configuration.expandedChannels ?? input.channels
    let (kernelSize, activation) = (configuration.kernelSize, configuration.activation)
    if weights.precision == .int8 {
      try self.init(onGrids: configuration, name: name, input: input, weights: weights)
      return
    }
    var expansion: PointwiseConvolution?
    if isExpanded {
      expansion = try block.pointwise(
        "conv_pw", norm: "bn1", inputs: input.channels, outputs: expanded, activation: activation)
    }
    let (depthwiseWeight, depthwiseBias) = try block.convolution(
      "conv_dw", norm: isExpanded ? "bn2" : "bn1", shape: [expanded, 1, kernelSize, kernelSize])
    let filter = ExpandedDepthwise(
      expansion: expansion,
      depthwise: DepthwiseConvolution2D(
        weight: depthwiseWeight, bias: depthwiseBias, window: configuration.window(weights),
        activation: activation, kernels: weights.kernels))
    var squeezeExcite: SqueezeExcite?
    if let squeeze = configuration.squeeze {
      squeezeExcite = try block.scope("se").squeezeExcite(squeeze, channels: expanded)
    }
    let projection = try block.pointwise(
      isExpanded ? "conv_pwl" : "conv_pw", norm: isExpanded ? "bn3" : "bn2", inputs: expanded,
      outputs: configuration.channels, activation: .identity)
    self.init(
      name: name, input: input, filter: filter, squeezeExcite: squeezeExcite, projection: projection,
      hasSkip: configuration.hasSkip(from: input))
  }

  package var windows: [Window] { [filter.depthwise.window] }
}

extension MBConvBlock.Configuration {
  /// Whether a network in 8 bits has it as floats on grids: it has few weights, and ReLU6 limits its values.
  var isOnGrids: Bool { expandedChannels == nil && squeeze == nil && activation == .relu6 }

  /// Whether the input is added to the output.
  func hasSkip(from input: FeatureShape) -> Bool { stride == 1 && input.channels == channels }

  func window(_ weights: NetworkWeights) -> Window { weights.window(kernelSize: kernelSize, stride: stride) }
}

extension NetworkWeights {
  fileprivate func squeezeExcite(
    _ squeeze: MBConvBlock.Squeeze, channels: Int
  ) throws(DermaFusionError) -> SqueezeExcite {
    SqueezeExcite(
      reduce: try matrix("conv_reduce", inputs: channels, outputs: squeeze.channels),
      expand: try matrix("conv_expand", inputs: squeeze.channels, outputs: channels),
      activation: squeeze.activation, gate: squeeze.gate)
  }
}
