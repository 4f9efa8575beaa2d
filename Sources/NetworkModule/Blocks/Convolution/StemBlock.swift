import KernelInterface
import ModelFiles
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
  /// Of the input and of the output, in a network in 8 bits.
  private let grids: (input: ExactGrid, output: ExactGrid)?
  private let kernels: KernelSet

  init(
    _ configuration: Configuration, name: String, input: FeatureShape, weights: NetworkWeights
  ) throws(ModelFileError) {
    var (weight, bias) = try weights.convolution(
      name, norm: configuration.norm,
      shape: [configuration.channels, input.channels, configuration.kernelSize, configuration.kernelSize])
    if weights.precision == .int8 {
      precondition(configuration.activation == .relu6, "\(name): \(configuration.activation) in 8 bits")
      let grid = ExactGrid(limit: weights.inputLimit)
      (weight, bias) = grid.fitted(weight: weight, bias: bias)
      grids = (grid, .relu6)
    } else {
      grids = nil
    }
    kernels = weights.kernels
    layer = ImageConvolution2D(
      weight: weight, bias: bias, inputChannels: input.channels, window: configuration.window(weights),
      activation: configuration.activation, kernels: weights.kernels)
    self.name = name
    self.input = input
    output = layer.window.outputShape(input, channels: configuration.channels)
  }

  package var windows: [Window] { [layer.window] }
  package var memory: BlockMemory { BlockMemory(taskScratchCount: layer.scratchCount(input)) }
  package var gradientReadsOutput: Bool { false }

  package func run(_ input: FeatureMap, into output: FeatureMap, in run: BlockRun) {
    run.measure(step) {
      if let grids { input.round(to: grids.input, kernels: kernels, pool: run.pool) }
      layer(input, into: output, scratch: run.taskScratch, pool: run.pool)
      if let grids { output.round(to: grids.output, kernels: kernels, pool: run.pool) }
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
