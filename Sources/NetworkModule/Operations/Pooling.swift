import Files
import KernelInterface
import SystemModule
import TensorModule

/// The greatest value of each channel under a window.
final class MaxPooling: Operation {
  private let slidingWindow: Window

  init(_ window: Window) { slidingWindow = window }

  var title: String { slidingWindow.title("max pooling") }
  var window: Window? { slidingWindow }
  var precisions: [Precision] { [.float32] }

  func outputShape(_ inputs: [FeatureShape]) -> FeatureShape {
    slidingWindow.outputShape(inputs[0], channels: inputs[0].channels)
  }

  func prepare(
    _ inputs: [FeatureShape], _ weights: NetworkWeights, pool: ThreadPool
  ) throws(DermaFusionError) -> any PreparedOperation {
    PreparedMaxPooling(
      MaxPooling2D(window: slidingWindow, kernels: weights.kernels),
      input: Layout(inputs[0], kernels: weights.kernels),
      output: Layout(outputShape(inputs), kernels: weights.kernels), kernels: weights.kernels)
  }
}

private final class PreparedMaxPooling: PreparedOperation, OperationGradient {
  let output: Layout
  private let layer: MaxPooling2D
  private let input: Layout
  private let kernels: KernelSet

  init(_ layer: MaxPooling2D, input: Layout, output: Layout, kernels: KernelSet) {
    self.layer = layer
    self.input = input
    self.output = output
    self.kernels = kernels
  }

  var scratchCount: Int { 0 }

  func run(_ inputs: [Stored], into output: Stored, in run: Run) {
    layer(inputs[0].map, into: output.map, pool: run.pool)
  }

  func makeGradient(_ producers: [(any PreparedOperation)?]) -> (any OperationGradient)? { self }

  var readsInput: Bool { true }
  /// The input's values, where only the argument of their activation is kept.
  var stateCount: Int { input.count }

  func recompute(
    _ inputs: [FeatureMap], into argument: FeatureMap, activated: FeatureMap?,
    state: UnsafeMutablePointer<Float>, in run: Run
  ) {
    layer(inputs[0], into: argument, pool: run.pool)
  }

  func backward(
    _ gradient: FeatureMap, to input: InputGradient, state: UnsafeMutablePointer<Float>, in run: Run
  ) {
    guard let values = input.values else { preconditionFailure("max pooling's gradient without its input") }
    var map = values.arguments
    if !values.activation.isIdempotent {
      map = Stored(pointer: state, layout: self.input).map
      map.activate(values.activation, of: values.arguments, kernels: kernels, pool: run.pool)
    }
    layer.inputGradient(gradient, at: map, into: input.target)
    input.finish(kernels: kernels, pool: run.pool)
  }
}

/// The mean of each channel over all pixels.
final class Mean: Operation {
  init() {}

  var title: String { "average pooling" }

  func outputShape(_ inputs: [FeatureShape]) -> FeatureShape {
    FeatureShape(height: 1, width: 1, channels: inputs[0].channels)
  }

  func prepare(
    _ inputs: [FeatureShape], _ weights: NetworkWeights, pool: ThreadPool
  ) throws(DermaFusionError) -> any PreparedOperation {
    PreparedMean(output: Layout(outputShape(inputs), kernels: weights.kernels), kernels: weights.kernels)
  }
}

private final class PreparedMean: PreparedOperation {
  let output: Layout
  private let kernels: KernelSet

  init(output: Layout, kernels: KernelSet) {
    self.output = output
    self.kernels = kernels
  }

  var scratchCount: Int { output.count }

  func run(_ inputs: [Stored], into output: Stored, in run: Run) {
    GlobalAveragePooling.compute(
      inputs[0].map, into: output.pointer, scratch: run.scratch, kernels: kernels)
  }
}
