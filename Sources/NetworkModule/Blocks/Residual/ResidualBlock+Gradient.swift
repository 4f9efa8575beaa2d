import KernelInterface
import SystemModule
import TensorModule

extension ResidualBlock {
  /// The output tells what its ReLU got.
  package var gradientReadsOutput: Bool { true }

  package func makeGradient(pool: ThreadPool) -> (any BlockGradient)? {
    ResidualBlockGradient(self, pool: pool)
  }
}

final class ResidualBlockGradient: BlockGradient {
  private let block: ResidualBlock
  private let convolutions: [Convolution2DGradient]
  private let downsample: Convolution2DGradient?
  /// The inner maps, a gradient for each, that of the shortcut's input, and what a task works in, in floats from the start
  /// of a scratch buffer.
  private let offsets: [Int]
  let scratchCount: Int

  /// Packs the weights for the backward pass.
  init(_ block: ResidualBlock, pool: ThreadPool) {
    self.block = block
    let convolutions = block.convolutions.map { Convolution2DGradient($0) }
    let downsample = block.downsample.map { Convolution2DGradient($0) }
    self.convolutions = convolutions
    self.downsample = downsample
    let kernels = block.convolutions[0].kernels
    var offsets: [Int] = []
    var next = 0
    for shape in block.innerShapes + block.innerShapes {
      offsets.append(next)
      next += FeatureMap.count(shape, kernels: kernels)
    }
    offsets.append(next)
    next += downsample == nil ? 0 : FeatureMap.count(block.input, kernels: kernels)
    offsets.append(next)
    let inputs = [block.input] + block.innerShapes
    let backward = zip(convolutions, inputs).map { $0.scratchCount($1, pool: pool) }
    let forward = zip(block.convolutions, inputs).map { $0.scratchCount($1, pool: pool) }
    self.offsets = offsets
    scratchCount =
      next
      + (backward + forward).reduce(downsample?.scratchCount(block.input, pool: pool) ?? 0, max)
  }

  func callAsFunction(
    at input: FeatureMap, output: FeatureMap?, outputGradients: [FeatureMap],
    into inputGradients: [FeatureMap], scratch: UnsafeMutablePointer<Float>, pool: ThreadPool
  ) {
    guard let output else { preconditionFailure("the gradient of \(block.name) without its output") }
    let kernels = block.convolutions[0].kernels
    let innerCount = block.innerShapes.count
    func map(_ index: Int) -> FeatureMap {
      FeatureMap(scratch + offsets[index], block.innerShapes[index % innerCount], kernels: kernels)
    }
    let taskScratch = scratch + offsets[2 * innerCount + 1]
    // Forward again up to the last convolution, whose ReLU the output tells.
    var current = input
    for index in 0..<innerCount {
      block.convolutions[index](current, into: map(index), scratch: taskScratch, pool: pool)
      current = map(index)
    }
    for (outputGradient, inputGradient) in zip(outputGradients, inputGradients) {
      outputGradient.applyDerivative(of: .relu, at: output, kernels: kernels, pool: pool)
      var gradient = outputGradient
      for index in (0..<innerCount).reversed() {
        let inner = map(innerCount + index)
        convolutions[index + 1](
          gradient, below: ActivationBelow(block.convolutions[index].activation, at: map(index)),
          into: inner, scratch: taskScratch, pool: pool)
        gradient = inner
      }
      var shortcut = outputGradient
      if let downsample {
        shortcut = FeatureMap(scratch + offsets[2 * innerCount], block.input, kernels: kernels)
        downsample(outputGradient, into: shortcut, scratch: taskScratch, pool: pool)
      }
      convolutions[0](
        gradient, residual: shortcut, into: inputGradient, scratch: taskScratch, pool: pool)
    }
  }
}
