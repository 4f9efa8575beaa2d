import Files
import KernelInterface
import SystemModule
import TensorModule

extension MBConvBlock {
  /// A block of a first stage in a network in 8 bits: floats on grids, on which all sums are exact.
  convenience init(
    onGrids configuration: Configuration, name: String, input: FeatureShape, weights: NetworkWeights
  ) throws(DermaFusionError) {
    precondition(configuration.isOnGrids, "\(name): \(configuration) on grids")
    let block = weights.scope(name)
    let grid = ExactGrid.relu6
    let size = configuration.kernelSize
    let (kernels, channels) = (weights.kernels, input.channels)
    let depthwise = try block.convolution("conv_dw", norm: "bn1", shape: [channels, 1, size, size])
    let filter = grid.fitted(weight: depthwise.weight, bias: depthwise.bias)
    let pointwise = try block.convolution(
      "conv_pw", norm: "bn2", shape: [configuration.channels, channels, 1, 1])
    let projection = grid.fitted(weight: pointwise.weight, bias: pointwise.bias)
    self.init(
      name: name, input: input,
      filter: ExpandedDepthwise(
        expansion: nil,
        depthwise: DepthwiseConvolution2D(
          weight: filter.weight, bias: filter.bias, window: configuration.window(weights),
          activation: .relu6, kernels: kernels)),
      squeezeExcite: nil,
      projection: PointwiseConvolution(
        matrix: PackedMatrix(
          weight: projection.weight, columnCount: configuration.channels, depth: channels,
          bias: projection.bias, kernels: kernels),
        activation: .identity),
      hasSkip: configuration.hasSkip(from: input), grid: grid)
  }
}
