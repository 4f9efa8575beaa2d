import KernelInterface
import ModelFiles
import SystemModule
import TensorModule

/// A mobile inverted bottleneck in 8 bits: an ``MBConvBlock`` with an expansion, ReLU6 and no squeeze-excite.
///
/// Its input and its output are values. In between are levels, and sums of products of whole numbers, which are exact: every
/// machine and the Python definition (`Scripts/dermafusion_training/model/quantized.py`) give the same bits.
package final class QuantizedMBConvBlock: Block {
  package let name: String
  package let input: FeatureShape
  package let output: FeatureShape
  private let filter: QuantizedDepthwise
  private let projection: QuantizedPointwise
  private let window: Window
  /// Whether the input is added to the output.
  private let hasSkip: Bool
  private let plan: DepthwisePlan

  /// Binds a block's tensors by timm's names and the names of a quantised layer.
  init(
    _ configuration: MBConvBlock.Configuration, name: String, input: FeatureShape, weights: NetworkWeights
  ) throws(ModelFileError) {
    guard let channels = configuration.expandedChannels, configuration.squeeze == nil,
      configuration.activation == .relu6
    else { preconditionFailure("\(name): \(configuration) in 8 bits") }
    let block = weights.scope(name)
    let size = configuration.kernelSize
    let window = configuration.window(weights)
    let depthwise = try block.quantizedLayer("conv_dw", shape: [channels, 1, size, size])
    let projection = try block.quantizedLayer("conv_pwl", shape: [configuration.channels, channels, 1, 1])
    let expansion = try block.quantizedPointwise(
      try block.quantizedLayer("conv_pw", shape: [channels, input.channels, 1, 1]),
      outputScale: depthwise.input.scale, activation: .relu6)
    try block.requireZeroPoint(of: [depthwise, projection])
    guard
      let filter = QuantizedDepthwise(
        expansion: expansion, weight: depthwise.weight, expanded: depthwise.input,
        outputScale: projection.input.scale, window: window)
    else { throw block.sumsTooLarge(depthwise) }
    self.name = name
    self.input = input
    self.window = window
    self.filter = filter
    self.projection = try block.quantizedPointwise(projection, activation: .identity)
    hasSkip = configuration.stride == 1 && input.channels == configuration.channels
    plan = filter.plan(input)
    output = FeatureShape(
      height: plan.output.height, width: plan.output.width, channels: configuration.channels)
  }

  package var windows: [Window] { [window] }

  private var kernels: KernelSet { projection.matrix.kernels }

  /// Step 0 quantises the input, step 1 filters, step 2 projects.
  package var memory: BlockMemory {
    BlockMemory(
      stepCount: 3, firstOutputStep: 2, lastInputStep: hasSkip ? 2 : 0,
      buffers: [
        .init(count: PackedMap.count(input, .int8, kernels: kernels), steps: 0...1),
        .init(count: PackedMap.count(plan.output, .int8, kernels: kernels), steps: 1...2),
      ], taskScratchCount: filter.scratchCount(plan))
  }

  package func run(_ input: FeatureMap, into output: FeatureMap, in run: BlockRun) {
    let levels = PackedMap(run.buffers[0], self.input, .int8, kernels: kernels)
    let filtered = PackedMap(run.buffers[1], plan.output, .int8, kernels: kernels)
    run.measure(NetworkStep(layer: name, operation: .quantization, input: self.input)) {
      filter.expansion.quantize(input, into: levels, pool: run.pool)
    }
    run.measure(filterStep) {
      filter(levels, into: filtered, plan: plan, scratch: run.taskScratch, pool: run.pool)
    }
    run.measure(projectionStep) {
      projection(filtered, residual: hasSkip ? input : nil, into: output, pool: run.pool)
    }
  }

  private var filterStep: NetworkStep {
    let channels = plan.output.channels
    return NetworkStep(
      layer: name, operation: .filter(kernelSize: window.kernelSize, stride: window.stride, isExpanded: true),
      input: input, output: plan.output,
      multiplyAdds: input.pixelCount * input.channels * channels
        + plan.output.pixelCount * channels * window.kernelSize * window.kernelSize)
  }

  private var projectionStep: NetworkStep {
    NetworkStep(
      layer: name, operation: .convolution(kernelSize: 1, stride: 1), input: plan.output, output: output,
      multiplyAdds: output.pixelCount * output.channels * plan.output.channels)
  }

  package var gradientReadsOutput: Bool { false }

  /// The gradient of the block with the same weights as floats, at the quantised block's input.
  package func makeGradient(pool: ThreadPool) -> (any BlockGradient)? {
    let block = MBConvBlock(
      name: name, input: input,
      filter: ExpandedDepthwise(
        expansion: filter.expansion.floats,
        depthwise: DepthwiseConvolution2D(
          weight: filter.weight.values, bias: filter.weight.bias, window: window, activation: .relu6,
          kernels: kernels)),
      squeezeExcite: nil, projection: projection.floats, hasSkip: hasSkip)
    return block.makeGradient(pool: pool)
  }
}
