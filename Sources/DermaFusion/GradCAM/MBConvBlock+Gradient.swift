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
    let expandedShape: FeatureShape
    let filteredShape: FeatureShape
    let expandedCount: Int
    let filteredCount: Int

    /// Floats of scratch memory.
    var count: Int { 2 * expandedCount + 2 * filteredCount }
  }

  func layout(input: FeatureShape) -> Layout {
    let kernels = block.projection.matrix.kernels
    let depthwise = block.filter.depthwise
    let expanded = FeatureShape(height: input.height, width: input.width, channels: depthwise.channels)
    let filtered = depthwise.window.outputShape(input, channels: depthwise.channels)
    return Layout(
      expandedShape: expanded, filteredShape: filtered,
      expandedCount: expansion == nil ? 0 : FeatureMap.count(expanded, kernels: kernels),
      filteredCount: FeatureMap.count(filtered, kernels: kernels))
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
    let expandedSums = FeatureMap(scratch, shape: layout.expandedShape, pixelStride: padded)
    let expanded = FeatureMap(
      scratch + layout.expandedCount, shape: layout.expandedShape, pixelStride: padded)
    let filteredSums = FeatureMap(
      scratch + 2 * layout.expandedCount, shape: layout.filteredShape, pixelStride: padded)
    let filtered = FeatureMap(
      filteredSums.pointer + layout.filteredCount, shape: layout.filteredShape, pixelStride: padded)
    let activation = block.filter.depthwise.activation

    // Forward again, up to what each activation sees.
    var filterInput = input
    if let layer = block.filter.expansion {
      if layer.activation.isIdempotent {
        layer(input, into: expandedSums, pool: pool)
        filterInput = expandedSums
      } else {
        layer.preActivation(input, into: expandedSums, pool: pool)
        expandedSums.activated(layer.activation, into: expanded, kernels: kernels, pool: pool)
        filterInput = expanded
      }
    }
    block.filter.depthwise.preActivation(filterInput, into: filteredSums, pool: pool)
    var state: SqueezeExcite.State?
    if let layer = block.squeezeExcite {
      filteredSums.activated(activation, into: filtered, kernels: kernels, pool: pool)
      state = layer.state(means: filtered.means(kernels: kernels, pool: pool))
    }

    for (outputGradient, inputGradient) in zip(outputGradients, inputGradients) {
      // Each map holds its own gradient from here on.
      if let squeezeExcite, let state {
        projection(outputGradient, into: filtered, pool: pool)
        let gateGradient = filtered.productSums(
          with: filteredSums, activation: activation, kernels: kernels, pool: pool)
        let factor = 1 / Float(layout.filteredShape.pixelCount)
        let meansGradient = squeezeExcite.meansGradient(gateGradient, state: state).map { $0 * factor }
        filtered.applyDerivative(
          of: activation, at: filteredSums, factors: state.gate, offsets: meansGradient, kernels: kernels,
          pool: pool)
      } else {
        projection(
          outputGradient, below: ActivationBelow(activation, at: filteredSums), into: filtered, pool: pool)
      }
      let residual = block.hasSkip ? outputGradient : nil
      if let expansion, let layer = block.filter.expansion {
        depthwise(
          filtered, below: ActivationBelow(layer.activation, at: expandedSums), into: expanded,
          pool: pool)
        expansion(expanded, residual: residual, into: inputGradient, pool: pool)
      } else {
        depthwise(filtered, into: inputGradient, pool: pool)
        if let residual { inputGradient.add(residual, kernels: kernels) }
      }
    }
  }
}
