import Files
import KernelInterface
import SystemModule
import TensorModule

/// The first layer: a convolution over the image, with its batch norm.
package final class StemBlock: Block {
  package struct Configuration: Sendable, Equatable {
    /// The batch norm's name; the convolution's is the block's.
    package let norm: String
    /// Taps down and across.
    package let kernelSize: Int
    package let stride: Int
    /// Channels of the output.
    package let channels: Int
    package let activation: Activation
  }

  package let name: String
  package let input: FeatureShape
  package let output: FeatureShape
  private let layer: ImageConvolution2D
  /// Of the input, in a network in 8 bits: the sums are exact on it.
  private let grid: ExactGrid?
  private let activation: Activation
  /// Whether the activation is a pass of its own, in a fixed order. ReLU6 needs none: the next block computes on its grid.
  private let isActivatedLater: Bool
  private let kernels: KernelSet

  init(
    _ configuration: Configuration, name: String, input: FeatureShape, weights: NetworkWeights
  ) throws(DermaFusionError) {
    var (weight, bias) = try weights.convolution(
      name, norm: configuration.norm,
      shape: [configuration.channels, input.channels, configuration.kernelSize, configuration.kernelSize])
    if weights.precision == .int8 {
      let grid = ExactGrid(limit: weights.inputLimit)
      (weight, bias) = grid.fitted(weight: weight, bias: bias)
      self.grid = grid
    } else {
      grid = nil
    }
    kernels = weights.kernels
    activation = configuration.activation
    isActivatedLater = grid != nil && activation != .relu6
    layer = ImageConvolution2D(
      weight: weight, bias: bias, inputChannels: input.channels, window: configuration.window(weights),
      activation: isActivatedLater ? .identity : activation, kernels: weights.kernels)
    self.name = name
    self.input = input
    output = configuration.outputShape(input, weights: weights)
  }

  package var windows: [Window] { [layer.window] }
  package var memory: BlockMemory { BlockMemory(taskScratchCount: layer.scratchCount(input)) }
  package var gradientReadsOutput: Bool { false }

  package func run(_ input: FeatureMap, into output: FeatureMap, in run: BlockRun) {
    run.measure(step) {
      guard let grid else {
        layer(input, into: output, scratch: run.taskScratch, pool: run.pool)
        return
      }
      input.round(to: grid, kernels: kernels, pool: run.pool)
      layer(input, into: output, scratch: run.taskScratch, pool: run.pool)
      if isActivatedLater {
        output.activateExactly(activation, kernels: kernels, pool: run.pool)
      } else {
        output.round(to: .relu6, kernels: kernels, pool: run.pool)
      }
    }
  }

  private var step: NetworkStep {
    NetworkStep(
      layer: name,
      operation: .convolution(kernelSize: layer.window.kernelSize, stride: layer.window.stride),
      input: input, output: output, multiplyAdds: output.pixelCount * layer.multiplyAddsPerPixel)
  }

  package func makeGradient(pool: ThreadPool) -> (any BlockGradient)? { nil }
}

extension StemBlock.Configuration: BlockKind {
  static var supportedPrecisions: [Precision] { Precision.allCases }

  func outputShape(_ input: FeatureShape, weights: NetworkWeights) -> FeatureShape {
    window(weights).outputShape(input, channels: channels)
  }

  func block(
    name: String, input: FeatureShape, weights: NetworkWeights, pool: ThreadPool
  ) throws(DermaFusionError) -> any Block {
    try StemBlock(self, name: name, input: input, weights: weights)
  }

  fileprivate func window(_ weights: NetworkWeights) -> Window {
    weights.window(kernelSize: kernelSize, stride: stride)
  }
}

/// A 1x1 convolution with its batch norm: the last layer before the pooling.
package final class PointwiseBlock: Block {
  package struct Configuration: Sendable, Equatable {
    /// The convolution's name.
    package let convolution: String
    /// The batch norm's name.
    package let norm: String
    /// Channels of the output.
    package let channels: Int
    package let activation: Activation
  }

  package let name: String
  package let input: FeatureShape
  package let output: FeatureShape
  fileprivate let layer: PointwiseConvolution

  convenience init(
    _ configuration: Configuration, name: String, input: FeatureShape, weights: NetworkWeights
  ) throws(DermaFusionError) {
    self.init(
      name: name, input: input,
      layer: try weights.pointwise(
        configuration.convolution, norm: configuration.norm, inputs: input.channels,
        outputs: configuration.channels, activation: configuration.activation))
  }

  init(name: String, input: FeatureShape, layer: PointwiseConvolution) {
    self.name = name
    self.input = input
    self.layer = layer
    output = FeatureShape(height: input.height, width: input.width, channels: layer.matrix.columnCount)
  }

  package var windows: [Window] { [] }
  package var memory: BlockMemory {
    BlockMemory(taskScratchCount: layer.taskScratchCount(pixelCount: input.pixelCount))
  }

  package func run(_ input: FeatureMap, into output: FeatureMap, in run: BlockRun) {
    run.measure(.pointwise(name, from: self.input, to: self.output)) {
      layer(input, into: output, taskScratch: run.taskScratch, pool: run.pool)
    }
  }

  /// Where the output tells as much as what the activation got.
  package var gradientReadsOutput: Bool { layer.activation.isIdempotent }

  package func makeGradient(pool: ThreadPool) -> (any BlockGradient)? {
    PointwiseBlockGradient(PointwiseBlock(name: name, input: input, layer: layer.floats))
  }
}

extension PointwiseBlock.Configuration: BlockKind {
  static var supportedPrecisions: [Precision] { Precision.allCases }

  func outputShape(_ input: FeatureShape, weights: NetworkWeights) -> FeatureShape {
    FeatureShape(height: input.height, width: input.width, channels: channels)
  }

  func block(
    name: String, input: FeatureShape, weights: NetworkWeights, pool: ThreadPool
  ) throws(DermaFusionError) -> any Block {
    weights.precision == .int8
      ? try QuantizedPointwiseBlock(self, name: name, input: input, weights: weights)
      : try PointwiseBlock(self, name: name, input: input, weights: weights)
  }
}

private final class PointwiseBlockGradient: BlockGradient {
  private let block: PointwiseBlock
  private let layer: PointwiseConvolutionGradient

  init(_ block: PointwiseBlock) {
    self.block = block
    layer = PointwiseConvolutionGradient(block.layer)
  }

  private var kernels: KernelSet { block.layer.matrix.kernels }

  var scratchCount: Int {
    block.gradientReadsOutput ? 0 : FeatureMap.count(block.output, kernels: kernels)
  }

  func callAsFunction(
    at input: FeatureMap, output: FeatureMap?, outputGradients: [FeatureMap],
    into inputGradients: [FeatureMap], scratch: UnsafeMutablePointer<Float>, pool: ThreadPool
  ) {
    let activation = block.layer.activation
    let arguments: FeatureMap
    if let output, block.gradientReadsOutput {
      arguments = output
    } else {
      arguments = FeatureMap(scratch, block.output, kernels: kernels)
      block.layer.preActivation(input, into: arguments, pool: pool)
    }
    for (outputGradient, inputGradient) in zip(outputGradients, inputGradients) {
      outputGradient.applyDerivative(of: activation, at: arguments, kernels: kernels, pool: pool)
      layer(outputGradient, into: inputGradient, pool: pool)
    }
  }
}

/// A 1x1 convolution with ReLU6 in 8 bits: the last layer before the pooling, whose output is values.
package final class QuantizedPointwiseBlock: Block {
  package let name: String
  package let input: FeatureShape
  package let output: FeatureShape
  private let layer: QuantizedPointwise

  /// Binds the layer's tensors.
  init(
    _ configuration: PointwiseBlock.Configuration, name: String, input: FeatureShape, weights: NetworkWeights
  ) throws(DermaFusionError) {
    self.name = name
    self.input = input
    output = configuration.outputShape(input, weights: weights)
    layer = try weights.quantizedPointwise(
      weights.quantizedLayer(
        configuration.convolution, shape: [configuration.channels, input.channels, 1, 1]),
      activation: configuration.activation)
  }

  package var windows: [Window] { [] }

  private var kernels: KernelSet { layer.matrix.kernels }

  /// Step 0 quantises the input, step 1 multiplies.
  package var memory: BlockMemory {
    BlockMemory(
      stepCount: 2, firstOutputStep: 1, lastInputStep: 0,
      buffers: [.init(count: PackedMap.count(input, .int8, kernels: kernels), steps: 0...1)])
  }

  package func run(_ input: FeatureMap, into output: FeatureMap, in run: BlockRun) {
    let levels = PackedMap(run.buffers[0], self.input, .int8, kernels: kernels)
    run.measure(NetworkStep(layer: name, operation: .quantization, input: self.input)) {
      layer.quantize(input, into: levels, pool: run.pool)
    }
    run.measure(.pointwise(name, from: self.input, to: self.output)) {
      layer(levels, into: output, pool: run.pool)
    }
  }

  private var floats: PointwiseBlock { PointwiseBlock(name: name, input: input, layer: layer.floats) }

  package var gradientReadsOutput: Bool { layer.activation.isIdempotent }

  /// The gradient of the layer with the same weights as floats.
  package func makeGradient(pool: ThreadPool) -> (any BlockGradient)? { floats.makeGradient(pool: pool) }
}
