import KernelInterface
import TensorModule

/// The gradient of a block with respect to its input.
///
/// Nothing inside a block is remembered from the run: what is needed is computed again from the block's input, which
/// costs less time than it would take memory.
struct MBConvBlockGradient: Sendable {
  let block: MBConvBlock
  private let expansion: PointwiseConvolutionGradient?
  private let depthwise: DepthwiseConvolution2DGradient
  private let squeezeExcite: SqueezeExciteGradient?
  private let projection: PointwiseConvolutionGradient

  /// Packs the weights for the way back.
  init(_ block: MBConvBlock) {
    self.block = block
    expansion = block.filter.expansion.map(PointwiseConvolutionGradient.init)
    depthwise = DepthwiseConvolution2DGradient(block.filter.depthwise)
    squeezeExcite = block.squeezeExcite.map(SqueezeExciteGradient.init)
    projection = PointwiseConvolutionGradient(block.projection)
  }

  /// The block's insides for an input of one shape, in floats from the start of a scratch buffer.
  struct Layout {
    let filteredShape: FeatureShape
    let expandedShape: FeatureShape
    let expandedCount: Int
    let activatedCount: Int
    let filteredCount: Int
    /// For one task.
    let taskCount: Int

    /// Floats of scratch memory.
    var count: Int { expandedCount + activatedCount + 2 * filteredCount + taskCount }
  }

  func layout(input: FeatureShape) -> Layout {
    let kernels = block.projection.matrix.kernels
    let expanded = FeatureShape(
      height: input.height, width: input.width, channels: block.filter.depthwise.channels)
    let filtered = block.filter.depthwise.window.outputShape(input, channels: expanded.channels)
    let expandedCount = expansion == nil ? 0 : FeatureMap.count(expanded, kernels: kernels)
    return Layout(
      filteredShape: filtered, expandedShape: expanded,
      expandedCount: expandedCount,
      activatedCount: block.filter.expansion?.activation.isIdempotent == false ? expandedCount : 0,
      filteredCount: FeatureMap.count(filtered, kernels: kernels),
      taskCount: expansion == nil ? 0 : depthwise.scratchCount(expanded))
  }

  /// Computes the gradients of one or more values that depend on the block's output.
  ///
  /// - Parameters:
  ///   - input: The block's input.
  ///   - outputGradients: One for each value.
  ///   - inputGradients: As many, overwritten.
  ///   - scratch: As many floats as the layout of the input's shape says.
  func callAsFunction(
    at input: FeatureMap, outputGradients: [FeatureMap], into inputGradients: [FeatureMap],
    scratch: UnsafeMutablePointer<Float>, pool: ThreadPool
  ) {
    let kernels = block.projection.matrix.kernels
    let layout = layout(input: input.shape)
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
