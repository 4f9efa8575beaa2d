import Files
import KernelInterface
import SystemModule
import TensorModule

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
