import KernelInterface
import SystemModule
import TensorModule

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
