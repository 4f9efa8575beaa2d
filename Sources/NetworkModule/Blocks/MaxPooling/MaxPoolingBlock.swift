import KernelInterface
import SystemModule
import TensorModule

/// Max pooling between the stem and the first stage. It has no weights.
package final class MaxPoolingBlock: Block {
  package struct Configuration: Sendable, Equatable {
    /// The window's height and width.
    package let kernelSize: Int
    package let stride: Int
  }

  package let name: String
  package let input: FeatureShape
  package let output: FeatureShape
  fileprivate let layer: MaxPooling2D

  init(name: String, input: FeatureShape, window: Window, kernels: KernelSet) {
    self.name = name
    self.input = input
    layer = MaxPooling2D(window: window, kernels: kernels)
    output = window.outputShape(input, channels: input.channels)
  }

  package var windows: [Window] { [layer.window] }
  package var memory: BlockMemory { BlockMemory() }
  package var gradientReadsOutput: Bool { false }

  package func run(_ input: FeatureMap, into output: FeatureMap, in run: BlockRun) {
    run.measure(
      NetworkStep(
        layer: name, operation: .maxPooling(kernelSize: layer.window.kernelSize, stride: layer.window.stride),
        input: self.input, output: self.output)
    ) {
      layer(input, into: output, pool: run.pool)
    }
  }

  package func makeGradient(pool: ThreadPool) -> (any BlockGradient)? { MaxPoolingBlockGradient(self) }
}

private final class MaxPoolingBlockGradient: BlockGradient {
  private let block: MaxPoolingBlock

  init(_ block: MaxPoolingBlock) { self.block = block }

  var scratchCount: Int { 0 }

  func callAsFunction(
    at input: FeatureMap, output: FeatureMap?, outputGradients: [FeatureMap],
    into inputGradients: [FeatureMap], scratch: UnsafeMutablePointer<Float>, pool: ThreadPool
  ) {
    for (outputGradient, inputGradient) in zip(outputGradients, inputGradients) {
      block.layer.inputGradient(outputGradient, at: input, into: inputGradient)
    }
  }
}

extension MaxPoolingBlock.Configuration {
  func window(_ weights: NetworkWeights) -> Window { weights.window(kernelSize: kernelSize, stride: stride) }
}
