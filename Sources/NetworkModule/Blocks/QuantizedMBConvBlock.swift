import Files
import KernelInterface
import SystemModule
import TensorModule

/// A mobile inverted bottleneck in 8 bits, see ``MBConvBlock``.
///
/// Its input and its output are values. In between are levels, and sums of products of whole numbers, which are exact: every
/// machine and the Python definition (`Scripts/dermafusion_training/model/quantized.py`) give the same bits.
package final class QuantizedMBConvBlock: Block {
  package let name: String
  package let input: FeatureShape
  package let output: FeatureShape
  let filter: QuantizedDepthwise
  let squeezeExcite: QuantizedSqueezeExcite?
  let projection: QuantizedPointwise
  let window: Window
  let hasSkip: Bool
  let plan: DepthwisePlan

  /// Binds a block's tensors by timm's names and the names of a quantised layer.
  init(
    _ configuration: MBConvBlock.Configuration, name: String, input: FeatureShape, weights: NetworkWeights
  ) throws(DermaFusionError) {
    let block = weights.scope(name)
    let channels = configuration.expandedChannels ?? input.channels
    let isExpanded = configuration.expandedChannels != nil
    let (size, activation) = (configuration.kernelSize, configuration.activation)
    let depthwise = try block.quantizedLayer("conv_dw", shape: [channels, 1, size, size])
    let projection = try block.quantizedLayer(
      isExpanded ? "conv_pwl" : "conv_pw", shape: [configuration.channels, channels, 1, 1])
    try block.requireZeroPoint(of: depthwise, "before a depthwise convolution")
    if activation == .relu6 { try block.requireZeroPoint(of: projection, "after ReLU6") }
    var expansion: QuantizedPointwise?
    if isExpanded {
      expansion = try block.quantizedPointwise(
        try block.quantizedLayer("conv_pw", shape: [channels, input.channels, 1, 1]),
        outputScale: activation == .relu6 ? depthwise.input.scale : nil, activation: activation)
    }
    window = configuration.window(weights)
    guard
      let filter = QuantizedDepthwise(
        expansion: expansion, weight: depthwise.weight, input: depthwise.input, output: projection.input,
        window: window, activation: activation, kernels: weights.kernels)
    else { throw block.sumsTooLarge(depthwise) }
    squeezeExcite = try configuration.squeeze.map { (squeeze) throws(DermaFusionError) in
      try block.scope("se").quantizedSqueezeExcite(squeeze, channels: channels)
    }
    self.name = name
    self.input = input
    self.filter = filter
    self.projection = try block.quantizedPointwise(projection, activation: .identity)
    hasSkip = configuration.hasSkip(from: input)
    plan = filter.plan(input)
    output = configuration.outputShape(input, weights: weights)
  }

  package var windows: [Window] { [window] }

  package var gradientReadsOutput: Bool { false }

  /// The gradient of the block with the same weights as floats, at the quantised block's input.
  package func makeGradient(pool: ThreadPool) -> (any BlockGradient)? {
    let block = MBConvBlock(
      name: name, input: input,
      filter: ExpandedDepthwise(
        expansion: filter.expansion.map { $0.floats },
        depthwise: DepthwiseConvolution2D(
          weight: filter.weight.values, bias: filter.weight.bias, window: window,
          activation: filter.activation, kernels: kernels)),
      squeezeExcite: squeezeExcite.map { $0.floats }, projection: projection.floats, hasSkip: hasSkip)
    return block.makeGradient(pool: pool)
  }
}

extension QuantizedMBConvBlock {
  private var kernels: KernelSet { projection.matrix.kernels }

  private var isExpanded: Bool { filter.expansion != nil }

  /// Step 0 quantises the input, step 1 filters, step 2 computes the gate where there is one, step 3 projects.
  package var memory: BlockMemory {
    let channels = FeatureMap.count(
      FeatureShape(height: 1, width: 1, channels: plan.output.channels), kernels: kernels)
    let squeeze = squeezeExcite
    let gated = squeeze == nil ? 0 : 1
    return BlockMemory(
      stepCount: 4, firstOutputStep: 3, lastInputStep: hasSkip ? 3 : 0,
      buffers: [
        .init(
          count: isExpanded
            ? PackedMap.count(input, .int8, kernels: kernels) : FeatureMap.count(input, kernels: kernels),
          steps: 0...1),
        .init(
          count: PackedMap.count(plan.output, .int8, kernels: kernels), steps: squeeze == nil ? 1...3 : 2...3),
        .init(count: gated * FeatureMap.count(plan.output, kernels: kernels), steps: 1...2),
        .init(count: gated * plan.bandCount * channels, steps: 1...2),
        .init(count: squeeze?.factorCount ?? 0, steps: 2...2),
        .init(count: squeeze?.scratchCount ?? 0, steps: 2...2),
      ], taskScratchCount: filter.scratchCount(plan))
  }

  package func run(_ input: FeatureMap, into output: FeatureMap, in run: BlockRun) {
    let words = PackedMap(run.buffers[1], plan.output, .int8, kernels: kernels)
    let filterStep = NetworkStep.filter(
      name, from: self.input, to: plan.output, window: window, isExpanded: isExpanded)
    let levels = run.measure(NetworkStep(layer: name, operation: .quantization, input: self.input)) {
      quantize(input, in: run)
    }
    if let squeezeExcite {
      let filtered = FeatureMap(run.buffers[2], plan.output, kernels: kernels)
      let sums = UnsafeMutableRawPointer(run.buffers[3]).assumingMemoryBound(to: Int32.self)
      run.measure(filterStep) {
        filter(
          levels, into: filtered, scale: squeezeExcite.inputScale, sums: sums, plan: plan,
          scratch: run.taskScratch, pool: run.pool)
      }
      run.measure(
        .squeezeExcite(name, on: plan.output, hiddenChannels: squeezeExcite.reduce.outputChannels)
      ) {
        squeezeExcite(
          sums: sums, bandCount: plan.bandCount, pixelCount: plan.output.pixelCount,
          outputScale: filter.output.scale, into: run.buffers[4], scratch: run.buffers[5], pool: run.pool)
        words.write(
          filtered, factors: run.buffers[4], zeroPoint: filter.output.zeroPoint, pool: run.pool)
      }
    } else {
      run.measure(filterStep) {
        filter(levels, into: words, plan: plan, scratch: run.taskScratch, pool: run.pool)
      }
    }
    run.measure(.pointwise(name, from: plan.output, to: self.output)) {
      projection(words, residual: hasSkip ? input : nil, into: output, pool: run.pool)
    }
  }

  private func quantize(_ input: FeatureMap, in run: BlockRun) -> QuantizedDepthwise.Input {
    if let expansion = filter.expansion {
      let words = PackedMap(run.buffers[0], self.input, .int8, kernels: kernels)
      expansion.quantize(input, into: words, pool: run.pool)
      return .levels(words)
    }
    let levels = FeatureMap(run.buffers[0], self.input, kernels: kernels)
    input.writeFineLevels(scale: filter.input.scale, into: levels, kernels: kernels, pool: run.pool)
    return .fineLevels(levels)
  }
}

extension NetworkWeights {
  /// Squeeze-excite's two layers and `NAME.input_scale`, the step of what they gate.
  fileprivate func quantizedSqueezeExcite(
    _ squeeze: MBConvBlock.Squeeze, channels: Int
  ) throws(DermaFusionError) -> QuantizedSqueezeExcite {
    QuantizedSqueezeExcite(
      reduce: try quantizedPointwise(
        try quantizedLayer("conv_reduce", shape: [squeeze.channels, channels, 1, 1]),
        activation: squeeze.activation),
      expand: try quantizedPointwise(
        try quantizedLayer("conv_expand", shape: [channels, squeeze.channels, 1, 1]), activation: squeeze.gate
      ),
      inputScale: try scales("input_scale", count: 1)[0])
  }
}
