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
    output = layer.window.outputShape(input, channels: configuration.channels)
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

extension StemBlock.Configuration {
  func window(_ weights: NetworkWeights) -> Window { weights.window(kernelSize: kernelSize, stride: stride) }
}
