import KernelInterface
import ModelFiles
import TensorModule

/// A mobile inverted bottleneck (MBConv): expand, depthwise, squeeze-excite, project, and the input added where the
/// shapes allow. Stage 0's blocks have no expansion; Lite's have no squeeze-excite.
package struct MBConvBlock: Sendable {
  /// timm's name: `blocks.STAGE.INDEX`.
  package let name: String
  /// From 0.
  package let stage: Int
  let filter: ExpandedDepthwise
  let squeezeExcite: SqueezeExcite?
  let projection: PointwiseConvolution
  /// Whether the input is added to the output.
  let hasSkip: Bool

  var inputChannels: Int { filter.expansion?.matrix.depth ?? filter.depthwise.channels }
  var outputChannels: Int { projection.matrix.columnCount }
}

extension [MBConvBlock] {
  /// The block that a stage ends with.
  package func lastIndex(ofStage stage: Int) -> Int? { lastIndex { $0.stage == stage } }
}

extension MBConvBlock {
  /// Binds a block's tensors by timm's names.
  init(
    name: String, stageIndex: Int, stage: EfficientNetArchitecture.Stage, stride: Int, inputChannels: Int,
    weights: NetworkWeights
  ) throws(ModelFileError) {
    let block = weights.scope(name)
    let isExpanded = stage.expansion != 1
    let expanded = inputChannels * stage.expansion
    let kernels = weights.kernels
    var expansion: PointwiseConvolution?
    if isExpanded {
      expansion = try block.pointwise(
        "conv_pw", norm: "bn1", inputs: inputChannels, outputs: expanded, activation: weights.activation)
    }
    let window = weights.window(kernelSize: stage.kernelSize, stride: stride)
    let (depthwiseWeight, depthwiseBias) = try block.convolution(
      "conv_dw", norm: isExpanded ? "bn2" : "bn1", shape: [expanded, 1, stage.kernelSize, stage.kernelSize])
    filter = ExpandedDepthwise(
      expansion: expansion,
      depthwise: DepthwiseConvolution2D(
        weight: depthwiseWeight, bias: depthwiseBias, window: window, activation: weights.activation,
        kernels: kernels))
    squeezeExcite =
      weights.architecture.isLite
      ? nil : try block.scope("se").squeezeExcite(channels: expanded, blockInputs: inputChannels)
    projection = try block.pointwise(
      isExpanded ? "conv_pwl" : "conv_pw", norm: isExpanded ? "bn3" : "bn2", inputs: expanded,
      outputs: stage.channels, activation: .identity)
    self.name = name
    self.stage = stageIndex
    hasSkip = stride == 1 && inputChannels == stage.channels
  }
}

extension NetworkWeights {
  /// Squeeze-excite always uses SiLU inside; Lite, which does not, has none.
  fileprivate func squeezeExcite(channels: Int, blockInputs: Int) throws(ModelFileError) -> SqueezeExcite {
    let reduced = Int(
      (Double(blockInputs) * EfficientNetArchitecture.squeezeRatio).rounded(.toNearestOrEven))
    return SqueezeExcite(
      reduce: try matrix("conv_reduce", inputs: channels, outputs: reduced),
      expand: try matrix("conv_expand", inputs: reduced, outputs: channels), activation: .silu)
  }
}
