import Files
import KernelInterface
import SystemModule
import TensorModule

/// A residual block (He et al., 2016): two or three convolutions whose sum with a shortcut goes through ReLU. Where the
/// shape changes, the shortcut is a 1x1 convolution.
package final class ResidualBlock: Block {
  package struct Configuration: Sendable, Equatable {
    /// The block's layers.
    package enum Kind: Sendable {
      /// Two 3x3 convolutions; the first has the stride.
      case basic
      /// 1x1 to the width, 3x3 with the stride, 1x1 to four times the width.
      case bottleneck
    }

    package let kind: Kind
    /// Channels of the 3x3 convolutions.
    package let width: Int
    package let stride: Int

    /// Channels of the output.
    package var channels: Int { kind == .basic ? width : 4 * width }
  }

  package let name: String
  package let input: FeatureShape
  package let output: FeatureShape
  /// One after the other; the last adds the shortcut before its activation.
  let convolutions: [Convolution2D]
  /// On the shortcut; nil: the input itself.
  let downsample: Convolution2D?
  /// The output of each convolution but the last.
  let innerShapes: [FeatureShape]
  let pool: ThreadPool

  init(
    name: String, input: FeatureShape, convolutions: [Convolution2D], downsample: Convolution2D?,
    pool: ThreadPool
  ) {
    var shapes: [FeatureShape] = []
    for convolution in convolutions { shapes.append(convolution.outputShape(shapes.last ?? input)) }
    self.name = name
    self.input = input
    self.convolutions = convolutions
    self.downsample = downsample
    self.pool = pool
    output = shapes.removeLast()
    innerShapes = shapes
  }

  /// Binds a block's tensors by timm's names.
  convenience init(
    _ configuration: Configuration, name: String, input: FeatureShape, weights: NetworkWeights,
    pool: ThreadPool
  ) throws(DermaFusionError) {
    let block = weights.scope(name)
    let (width, stride) = (configuration.width, configuration.stride)
    var layers: [(kernelSize: Int, stride: Int, channels: Int)]
    switch configuration.kind {
    case .basic: layers = [(3, stride, width), (3, 1, width)]
    case .bottleneck: layers = [(1, 1, width), (3, stride, width), (1, 1, configuration.channels)]
    }
    var convolutions: [Convolution2D] = []
    for (index, layer) in layers.enumerated() {
      convolutions.append(
        try block.convolution2D(
          "conv\(index + 1)", norm: "bn\(index + 1)",
          inputs: convolutions.last?.outputChannels ?? input.channels, outputs: layer.channels,
          window: block.window(kernelSize: layer.kernelSize, stride: layer.stride), activation: .relu))
    }
    var downsample: Convolution2D?
    if stride != 1 || input.channels != configuration.channels {
      downsample = try block.scope("downsample").convolution2D(
        "0", norm: "1", inputs: input.channels, outputs: configuration.channels,
        window: block.window(kernelSize: 1, stride: stride), activation: .identity)
    }
    self.init(name: name, input: input, convolutions: convolutions, downsample: downsample, pool: pool)
  }

  package var windows: [Window] {
    convolutions.map { $0.window }.filter { $0.kernelSize > 1 || $0.stride > 1 }
  }
}

extension ResidualBlock.Configuration: BlockKind {
  func outputShape(_ input: FeatureShape, weights: NetworkWeights) -> FeatureShape {
    weights.window(kernelSize: 3, stride: stride).outputShape(input, channels: channels)
  }

  func block(
    name: String, input: FeatureShape, weights: NetworkWeights, pool: ThreadPool
  ) throws(DermaFusionError) -> any Block {
    try ResidualBlock(self, name: name, input: input, weights: weights, pool: pool)
  }
}

extension ResidualBlock {
  /// Step 0 computes the shortcut, each of the others a convolution.
  package var memory: BlockMemory {
    let kernels = convolutions[0].kernels
    let last = convolutions.count
    var memory = BlockMemory(
      stepCount: last + 1, firstOutputStep: last, lastInputStep: downsample == nil ? last : 1)
    memory.buffers = innerShapes.enumerated().map { index, shape in
      .init(count: FeatureMap.count(shape, kernels: kernels), steps: index + 1...index + 2)
    }
    let shortcutCount = downsample == nil ? 0 : FeatureMap.count(output, kernels: kernels)
    memory.buffers.append(.init(count: shortcutCount, steps: 0...last))
    memory.taskScratchCount =
      zip(convolutions, [input] + innerShapes).map { $0.scratchCount($1, pool: pool) }
      .reduce(downsample?.scratchCount(input, pool: pool) ?? 0, max)
    return memory
  }

  package func run(_ input: FeatureMap, into output: FeatureMap, in run: BlockRun) {
    let kernels = convolutions[0].kernels
    var shortcut = input
    if let downsample {
      let map = FeatureMap(run.buffers[innerShapes.count], self.output, kernels: kernels)
      run.measure(step(downsample, input.shape)) {
        downsample(input, into: map, scratch: run.taskScratch, pool: run.pool)
      }
      shortcut = map
    }
    var current = input
    for (index, convolution) in convolutions.enumerated() {
      let isLast = index == innerShapes.count
      let target = isLast ? output : FeatureMap(run.buffers[index], innerShapes[index], kernels: kernels)
      run.measure(step(convolution, current.shape)) {
        convolution(
          current, residual: isLast ? shortcut : nil, into: target, scratch: run.taskScratch, pool: run.pool)
      }
      current = target
    }
  }

  private func step(_ layer: Convolution2D, _ input: FeatureShape) -> NetworkStep {
    let output = layer.outputShape(input)
    return NetworkStep(
      layer: name,
      operation: .convolution(kernelSize: layer.window.kernelSize, stride: layer.window.stride),
      input: input, output: output,
      multiplyAdds: layer.multiplyAdds(output))
  }
}

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
    // Recompute the forward pass. The last ReLU's mask follows from the output.
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

extension MaxPoolingBlock.Configuration: BlockKind {
  func outputShape(_ input: FeatureShape, weights: NetworkWeights) -> FeatureShape {
    window(weights).outputShape(input, channels: input.channels)
  }

  func block(
    name: String, input: FeatureShape, weights: NetworkWeights, pool: ThreadPool
  ) throws(DermaFusionError) -> any Block {
    MaxPoolingBlock(name: name, input: input, window: window(weights), kernels: weights.kernels)
  }

  private func window(_ weights: NetworkWeights) -> Window {
    weights.window(kernelSize: kernelSize, stride: stride)
  }
}
