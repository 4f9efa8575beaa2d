import Files
import KernelInterface
import SystemModule
import TensorModule

/// The unit of a network: layers that make one feature map of another.
///
/// A kind of block has its configuration, its weights, its shape, its memory, its run and its gradient in one file. A
/// block is prepared for one input shape, packed once and then immutable.
package protocol Block: AnyObject, Sendable {
  /// The name of the feature map that it makes: timm's name of the block or the layer.
  var name: String { get }
  var input: FeatureShape { get }
  var output: FeatureShape { get }
  /// The windows on the way from the input to the output, in order, those of stride 1 and one tap left out; beside a
  /// shortcut, those of the longer way.
  var windows: [Window] { get }
  /// What a run needs.
  var memory: BlockMemory { get }

  /// Computes the output.
  func run(_ input: FeatureMap, into output: FeatureMap, in run: BlockRun)

  /// Whether its gradient looks at its output.
  var gradientReadsOutput: Bool { get }

  /// Packs the weights for the backward pass; nil for the first block, whose input is the image.
  func makeGradient(pool: ThreadPool) -> (any BlockGradient)?
}

/// The gradient of a block with respect to its input.
///
/// Nothing inside a block is remembered from the run: what is needed is computed again from the block's input, which
/// costs less time than it would take memory.
package protocol BlockGradient: AnyObject, Sendable {
  /// Floats of scratch memory.
  var scratchCount: Int { get }

  /// Computes the gradients of one or more values that depend on the block's output.
  ///
  /// - Parameters:
  ///   - input: The block's input.
  ///   - output: The block's output; nil unless its gradient reads it.
  ///   - outputGradients: One for each value. They may be overwritten.
  ///   - inputGradients: As many, overwritten.
  ///   - scratch: ``scratchCount`` floats.
  func callAsFunction(
    at input: FeatureMap, output: FeatureMap?, outputGradients: [FeatureMap],
    into inputGradients: [FeatureMap], scratch: UnsafeMutablePointer<Float>, pool: ThreadPool)
}

/// The memory of a block's run. Steps are counted from 0 within the block.
package struct BlockMemory: Sendable {
  /// Steps of the run.
  var stepCount = 1
  /// The first step that writes the output.
  var firstOutputStep = 0
  /// The last step that reads the input.
  var lastInputStep = 0
  /// Buffers of the block's own.
  var buffers: [ArenaPlan.Lifetime] = []
  /// Floats of scratch memory for each task.
  var taskScratchCount = 0
}

/// What a block's run works with.
package struct BlockRun {
  /// The block's own buffers, in the order in which its memory lists them.
  let buffers: [UnsafeMutablePointer<Float>]
  /// As many floats as the block's memory asks for.
  let taskScratch: UnsafeMutablePointer<Float>
  let pool: ThreadPool
  let timer: StepTimer

  /// Does a step of a profile.
  func measure<Result>(_ step: @autoclosure () -> NetworkStep, _ body: () -> Result) -> Result {
    timer.measure(step(), body)
  }
}

/// Tells how long steps take, where somebody wants to know it.
struct StepTimer {
  let tell: ((_ step: NetworkStep, _ milliseconds: Double) -> Void)?

  func measure<Result>(_ step: @autoclosure () -> NetworkStep, _ body: () -> Result) -> Result {
    guard let tell else { return body() }
    let start = MonotonicClock.milliseconds
    let result = body()
    tell(step(), MonotonicClock.milliseconds - start)
    return result
  }
}

/// A step of a run, for a profile.
package struct NetworkStep: Sendable, Equatable {
  /// What a step computes.
  package enum Operation: Sendable, Equatable {
    /// A convolution over all channels.
    case convolution(kernelSize: Int, stride: Int)
    /// A depthwise convolution, after an expansion where the block has one.
    case filter(kernelSize: Int, stride: Int, isExpanded: Bool)
    /// The levels of a map.
    case quantization
    case squeezeExcite
    case maxPooling(kernelSize: Int, stride: Int)
    /// The means of the last feature map.
    case pooling
    /// Pooled features to logits.
    case head
  }

  /// The layer or block, by timm's name.
  package let layer: String
  package let operation: Operation
  /// The input's shape; nil for vectors.
  package var input: FeatureShape?
  /// The output's shape; nil for vectors.
  package var output: FeatureShape?
  /// Multiply-adds, rows computed twice at the seams of bands not counted.
  package var multiplyAdds = 0
}

extension NetworkStep {
  static func pointwise(_ layer: String, from input: FeatureShape, to output: FeatureShape) -> NetworkStep {
    NetworkStep(
      layer: layer, operation: .convolution(kernelSize: 1, stride: 1), input: input, output: output,
      multiplyAdds: output.pixelCount * output.channels * input.channels)
  }

  /// A depthwise convolution, and the expansion before it where there is one.
  static func filter(
    _ layer: String, from input: FeatureShape, to output: FeatureShape, window: Window, isExpanded: Bool
  ) -> NetworkStep {
    let taps = window.kernelSize * window.kernelSize
    let expansion = isExpanded ? input.pixelCount * input.channels : 0
    return NetworkStep(
      layer: layer,
      operation: .filter(kernelSize: window.kernelSize, stride: window.stride, isExpanded: isExpanded),
      input: input, output: output, multiplyAdds: (expansion + output.pixelCount * taps) * output.channels)
  }

  static func squeezeExcite(_ layer: String, on map: FeatureShape, hiddenChannels: Int) -> NetworkStep {
    NetworkStep(
      layer: layer, operation: .squeezeExcite, input: map, multiplyAdds: 2 * hiddenChannels * map.channels)
  }
}

/// What a block's row in an architecture's table says. Each kind of block has a type that conforms.
protocol BlockKind: Sendable, Equatable {
  /// The precisions that the block can be computed in.
  static var supportedPrecisions: [Precision] { get }

  /// The shape of the block's output.
  func outputShape(_ input: FeatureShape, weights: NetworkWeights) -> FeatureShape

  /// Prepares the block for an input shape.
  func block(
    name: String, input: FeatureShape, weights: NetworkWeights, pool: ThreadPool
  ) throws(DermaFusionError) -> any Block
}

extension BlockKind {
  /// A kind that has other forms says so itself.
  static var supportedPrecisions: [Precision] { [.float32] }
}
