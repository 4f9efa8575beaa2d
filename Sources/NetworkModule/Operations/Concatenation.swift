import Files
import KernelInterface
import SystemModule
import TensorModule

/// The channels of two maps of the same pixels, one after the other.
final class Concatenation: Operation {
  init() {}

  var title: String { "concatenate" }
  var precisions: [Precision] { [.float32, .bfloat16] }

  func outputShape(_ inputs: [FeatureShape]) -> FeatureShape {
    precondition(
      inputs[0].height == inputs[1].height && inputs[0].width == inputs[1].width,
      "channels of \(inputs[0]) and of \(inputs[1])")
    var shape = inputs[0]
    shape.channels += inputs[1].channels
    return shape
  }

  func prepare(
    _ inputs: [FeatureShape], _ weights: NetworkWeights, pool: ThreadPool
  ) throws(DermaFusionError) -> any PreparedOperation {
    PreparedConcatenation(
      output: Layout(outputShape(inputs), kernels: weights.kernels), first: inputs[0].channels,
      kernels: weights.kernels)
  }
}

private final class PreparedConcatenation: PreparedOperation, OperationGradient {
  let output: Layout
  /// Channels of the first input.
  private let first: Int
  private let kernels: KernelSet

  init(output: Layout, first: Int, kernels: KernelSet) {
    self.output = output
    self.first = first
    self.kernels = kernels
  }

  var scratchCount: Int { 0 }
  var joinsLastInput: Bool { true }

  func run(_ inputs: [Stored], into output: Stored, in run: Run) {
    write(inputs.map { $0.map }, into: output.map, pool: run.pool)
  }

  private func write(_ inputs: [FeatureMap], into output: FeatureMap, pool: ThreadPool) {
    output.copyChannels(0..<first, of: inputs[0], to: 0, pool: pool)
    output.copyChannels(0..<inputs[1].shape.channels, of: inputs[1], to: first, pool: pool)
  }

  func makeGradient(_ producers: [(any PreparedOperation)?]) -> (any OperationGradient)? { self }

  func recompute(
    _ inputs: [FeatureMap], into argument: FeatureMap, activated: FeatureMap?,
    state: UnsafeMutablePointer<Float>, in run: Run
  ) {
    write(inputs, into: argument, pool: run.pool)
  }

  func backward(
    _ gradient: FeatureMap, to input: InputGradient, state: UnsafeMutablePointer<Float>, in run: Run
  ) {
    input.target.copyChannels(0..<first, of: gradient, to: 0, pool: run.pool)
    input.finish(kernels: kernels, pool: run.pool)
  }

  func backwardToLast(_ gradient: FeatureMap, to input: InputGradient, in run: Run) {
    input.target.copyChannels(first..<gradient.shape.channels, of: gradient, to: 0, pool: run.pool)
    input.finish(kernels: kernels, pool: run.pool)
  }
}
