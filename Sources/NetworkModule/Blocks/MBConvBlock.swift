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

extension MBConvBlock.Configuration: BlockKind {
  static var supportedPrecisions: [Precision] { Precision.allCases }

  func outputShape(_ input: FeatureShape, weights: NetworkWeights) -> FeatureShape {
    window(weights).outputShape(input, channels: channels)
  }

  func block(
    name: String, input: FeatureShape, weights: NetworkWeights, pool: ThreadPool
  ) throws(DermaFusionError) -> any Block {
    weights.precision == .int8 && !isOnGrids
      ? try QuantizedMBConvBlock(self, name: name, input: input, weights: weights)
      : try MBConvBlock(self, name: name, input: input, weights: weights)
  }

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

extension MBConvBlock {
  /// Whether the depthwise convolution writes the words that the projection reads: without a gate nothing comes between.
  private var isFilteredPacked: Bool { projection.matrix.type != .float32 && squeezeExcite == nil }

  /// Step 0 filters, step 1 projects.
  package var memory: BlockMemory {
    let matrix = projection.matrix
    let kernels = matrix.kernels
    let channels = filter.depthwise.paddedChannels
    let gated = squeezeExcite == nil ? 0 : 1
    let filteredCount =
      isFilteredPacked
      ? PackedMap.count(plan.output, matrix.type, kernels: kernels)
      : FeatureMap.count(plan.output, kernels: kernels)
    let filterScratchCount = plan.scratchCount + (isFilteredPacked ? plan.widestRowCount : 0)
    return BlockMemory(
      stepCount: 2, firstOutputStep: 1, lastInputStep: hasSkip ? 1 : 0,
      buffers: [
        .init(count: filteredCount, steps: 0...1),
        .init(count: gated * plan.bandCount * channels, steps: 0...1),
        .init(count: gated * channels, steps: 1...1),
        .init(count: squeezeExcite?.scratchCount ?? 0, steps: 1...1),
        .init(count: gated * projection.scratchCount(pixelCount: output.pixelCount), steps: 1...1),
        .init(count: filter.packedCount(input), steps: 0...0),
      ],
      taskScratchCount: max(filterScratchCount, projection.taskScratchCount(pixelCount: output.pixelCount)))
  }

  package func run(_ input: FeatureMap, into output: FeatureMap, in run: BlockRun) {
    let matrix = projection.matrix
    let residual = hasSkip ? input : nil
    if isFilteredPacked {
      let filtered = PackedMap(run.buffers[0], plan.output, matrix.type, kernels: matrix.kernels)
      run.measure(filterStep) {
        filter(
          input, packed: run.buffers[5], into: filtered, plan: plan, scratch: run.taskScratch, pool: run.pool)
      }
      run.measure(projectionStep) {
        projection(filtered, residual: residual, into: output, pool: run.pool)
      }
      return
    }
    let filtered = FeatureMap(run.buffers[0], plan.output, kernels: matrix.kernels)
    let sums = squeezeExcite == nil ? nil : run.buffers[1]
    run.measure(filterStep) {
      filter(
        input, packed: run.buffers[5], into: filtered, sums: sums, plan: plan, scratch: run.taskScratch,
        pool: run.pool)
      if let grid { filtered.round(to: grid, kernels: matrix.kernels, pool: run.pool) }
    }
    var gate: UnsafePointer<Float>?
    if let squeezeExcite, let sums {
      run.measure(
        .squeezeExcite(name, on: plan.output, hiddenChannels: squeezeExcite.reduce.columnCount)
      ) {
        squeezeExcite(
          sums: sums, bandCount: plan.bandCount, pixelCount: plan.output.pixelCount, gate: run.buffers[2],
          scratch: run.buffers[3], pool: run.pool)
      }
      gate = UnsafePointer(run.buffers[2])
    }
    run.measure(projectionStep) {
      projection(
        filtered, gate: gate, residual: residual, into: output, scratch: run.buffers[4],
        taskScratch: run.taskScratch, pool: run.pool)
    }
  }

  private var filterStep: NetworkStep {
    .filter(
      name, from: input, to: plan.output, window: filter.depthwise.window, isExpanded: filter.expansion != nil
    )
  }

  private var projectionStep: NetworkStep { .pointwise(name, from: plan.output, to: output) }
}

extension MBConvBlock {
  package var gradientReadsOutput: Bool { false }

  /// Through the weights as Float32, whatever the forward pass multiplies.
  package func makeGradient(pool: ThreadPool) -> (any BlockGradient)? {
    if projection.matrix.type == .float32 { return MBConvBlockGradient(self) }
    return MBConvBlockGradient(
      MBConvBlock(
        name: name, input: input,
        filter: ExpandedDepthwise(
          expansion: filter.expansion.map { $0.floats }, depthwise: filter.depthwise),
        squeezeExcite: squeezeExcite, projection: projection.floats, hasSkip: hasSkip))
  }
}

final class MBConvBlockGradient: BlockGradient {
  private let block: MBConvBlock
  private let expansion: PointwiseConvolutionGradient?
  private let depthwise: DepthwiseConvolution2DGradient
  private let squeezeExcite: SqueezeExciteGradient?
  private let projection: PointwiseConvolutionGradient
  private let layout: Layout

  /// Packs the weights for the backward pass.
  init(_ block: MBConvBlock) {
    self.block = block
    expansion = block.filter.expansion.map { PointwiseConvolutionGradient($0) }
    let depthwise = DepthwiseConvolution2DGradient(block.filter.depthwise)
    self.depthwise = depthwise
    squeezeExcite = block.squeezeExcite.map { SqueezeExciteGradient($0) }
    projection = PointwiseConvolutionGradient(block.projection)
    layout = Layout(block, depthwise)
  }

  var scratchCount: Int { layout.count }

  /// The block's insides, in floats from the start of a scratch buffer.
  private struct Layout {
    let filteredShape: FeatureShape
    let expandedShape: FeatureShape
    let expandedCount: Int
    let activatedCount: Int
    let filteredCount: Int
    /// For one task.
    let taskCount: Int

    /// Floats of scratch memory.
    var count: Int { expandedCount + activatedCount + 2 * filteredCount + taskCount }

    init(_ block: MBConvBlock, _ depthwise: DepthwiseConvolution2DGradient) {
      let kernels = block.projection.matrix.kernels
      let expansion = block.filter.expansion
      filteredShape = block.plan.output
      expandedShape = FeatureShape(
        height: block.input.height, width: block.input.width, channels: filteredShape.channels)
      expandedCount = expansion == nil ? 0 : FeatureMap.count(expandedShape, kernels: kernels)
      activatedCount = expansion?.activation.isIdempotent == false ? expandedCount : 0
      filteredCount = FeatureMap.count(filteredShape, kernels: kernels)
      taskCount = expansion == nil ? 0 : depthwise.scratchCount(expandedShape)
    }
  }

  func callAsFunction(
    at input: FeatureMap, output: FeatureMap?, outputGradients: [FeatureMap],
    into inputGradients: [FeatureMap], scratch: UnsafeMutablePointer<Float>, pool: ThreadPool
  ) {
    let kernels = block.projection.matrix.kernels
    let padded = block.filter.depthwise.paddedChannels
    let expanded = FeatureMap(scratch, shape: layout.expandedShape, pixelStride: padded)
    let activated = FeatureMap(
      scratch + layout.expandedCount, shape: layout.expandedShape, pixelStride: padded)
    let filtered = FeatureMap(
      activated.pointer + layout.activatedCount, shape: layout.filteredShape, pixelStride: padded)
    let filteredGradient = FeatureMap(
      filtered.pointer + layout.filteredCount, shape: layout.filteredShape, pixelStride: padded)
    let taskScratch = filteredGradient.pointer + layout.filteredCount
    let activation = ActivationBelow(block.filter.depthwise.activation, at: filtered)

    // Forward again, up to what each activation sees, or what it gives where that tells as much.
    var filterInput = input
    if let layer = block.filter.expansion {
      if layer.activation.isIdempotent {
        layer(input, into: expanded, pool: pool)
        filterInput = expanded
      } else {
        layer.preActivation(input, into: expanded, activated: activated, pool: pool)
        filterInput = activated
      }
    }
    let means = block.filter.depthwise.preActivation(
      filterInput, into: filtered, needsMeans: block.squeezeExcite != nil, pool: pool)
    let state = block.squeezeExcite?.state(means: means)
    let factor = 1 / Float(layout.filteredShape.pixelCount)

    for (outputGradient, inputGradient) in zip(outputGradients, inputGradients) {
      if let squeezeExcite, let state {
        let gateGradient = projection.productSums(
          outputGradient, below: activation, into: filteredGradient, pool: pool)
        let meansGradient = squeezeExcite.meansGradient(gateGradient, state: state).map { $0 * factor }
        filteredGradient.applyDerivative(
          of: activation.activation, at: filtered, factors: state.gate, offsets: meansGradient,
          kernels: kernels, pool: pool)
      } else {
        projection(outputGradient, below: activation, into: filteredGradient, pool: pool)
      }
      let residual = block.hasSkip ? outputGradient : nil
      if let expansion, let layer = block.filter.expansion {
        depthwise(
          filteredGradient, below: ActivationBelow(layer.activation, at: expanded), expansion: expansion,
          residual: residual, into: inputGradient, scratch: taskScratch, pool: pool)
      } else {
        depthwise(filteredGradient, into: inputGradient, pool: pool)
        if let residual { inputGradient.add(residual, kernels: kernels, pool: pool) }
      }
    }
  }
}
