import Files
import KernelInterface
import SystemModule
import TensorModule

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
    output = FeatureShape(height: input.height, width: input.width, channels: configuration.channels)
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
