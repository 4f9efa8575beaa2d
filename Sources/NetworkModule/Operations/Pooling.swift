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
  var precisions: [Precision] { [.float32, .bfloat16] }

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
    layer.inputGradient(
      gradient, at: input.activated(state: state, self.input, kernels: kernels, pool: run.pool),
      into: input.target)
    input.finish(kernels: kernels, pool: run.pool)
  }
}

/// The mean of each channel under a window.
final class AveragePooling: Operation {
  private let slidingWindow: Window

  init(_ window: Window) { slidingWindow = window }

  var title: String { slidingWindow.title("average pooling") }
  var window: Window? { slidingWindow }
  var precisions: [Precision] { [.float32, .bfloat16] }

  func outputShape(_ inputs: [FeatureShape]) -> FeatureShape {
    slidingWindow.outputShape(inputs[0], channels: inputs[0].channels)
  }

  func prepare(
    _ inputs: [FeatureShape], _ weights: NetworkWeights, pool: ThreadPool
  ) throws(DermaFusionError) -> any PreparedOperation {
    PreparedAveragePooling(
      AveragePooling2D(window: slidingWindow, kernels: weights.kernels),
      output: Layout(outputShape(inputs), kernels: weights.kernels), kernels: weights.kernels)
  }
}

private final class PreparedAveragePooling: PreparedOperation, OperationGradient {
  let output: Layout
  private let layer: AveragePooling2D
  private let kernels: KernelSet

  init(_ layer: AveragePooling2D, output: Layout, kernels: KernelSet) {
    self.layer = layer
    self.output = output
    self.kernels = kernels
  }

  var scratchCount: Int { 0 }

  func run(_ inputs: [Stored], into output: Stored, in run: Run) {
    layer(inputs[0].map, into: output.map, pool: run.pool)
  }

  func makeGradient(_ producers: [(any PreparedOperation)?]) -> (any OperationGradient)? { self }

  func recompute(
    _ inputs: [FeatureMap], into argument: FeatureMap, activated: FeatureMap?,
    state: UnsafeMutablePointer<Float>, in run: Run
  ) {
    layer(inputs[0], into: argument, pool: run.pool)
  }

  func backward(
    _ gradient: FeatureMap, to input: InputGradient, state: UnsafeMutablePointer<Float>, in run: Run
  ) {
    layer.inputGradient(gradient, into: input.target)
    input.finish(kernels: kernels, pool: run.pool)
  }
}

/// The mean of each channel over all pixels, or over some rows: the tokens of an image, or the class token alone.
final class Mean: Operation {
  /// Nil: all.
  let rows: Range<Int>?

  init(rows: Range<Int>? = nil) { self.rows = rows }

  var title: String {
    guard let rows else { return "average pooling" }
    return rows.count == 1
      ? "token \(rows.lowerBound)" : "mean of tokens \(rows.lowerBound)-\(rows.upperBound - 1)"
  }

  func outputShape(_ inputs: [FeatureShape]) -> FeatureShape {
    FeatureShape(height: 1, width: 1, channels: inputs[0].channels)
  }

  func prepare(
    _ inputs: [FeatureShape], _ weights: NetworkWeights, pool: ThreadPool
  ) throws(DermaFusionError) -> any PreparedOperation {
    PreparedMean(
      rows, output: Layout(outputShape(inputs), kernels: weights.kernels), kernels: weights.kernels)
  }
}

private final class PreparedMean: PreparedOperation, OperationGradient {
  let output: Layout
  private let rows: Range<Int>?
  private let kernels: KernelSet

  init(_ rows: Range<Int>?, output: Layout, kernels: KernelSet) {
    self.rows = rows
    self.output = output
    self.kernels = kernels
  }

  var scratchCount: Int { output.count }

  func run(_ inputs: [Stored], into output: Stored, in run: Run) {
    write(inputs[0].map, into: output.pointer, scratch: run.scratch)
  }

  private func write(
    _ input: FeatureMap, into means: UnsafeMutablePointer<Float>, scratch: UnsafeMutablePointer<Float>
  ) {
    GlobalAveragePooling.compute(
      rows.map { input.rows($0) } ?? input, into: means, scratch: scratch, kernels: kernels)
  }

  func makeGradient(_ producers: [(any PreparedOperation)?]) -> (any OperationGradient)? { self }

  func recompute(
    _ inputs: [FeatureMap], into argument: FeatureMap, activated: FeatureMap?,
    state: UnsafeMutablePointer<Float>, in run: Run
  ) {
    write(inputs[0], into: argument.pointer, scratch: run.scratch)
  }

  func backward(
    _ gradient: FeatureMap, to input: InputGradient, state: UnsafeMutablePointer<Float>, in run: Run
  ) {
    let target = input.target
    if let rows {
      target.pointer.update(repeating: 0, count: rows.lowerBound * target.pixelStride)
      let behind = target.shape.pixelCount - rows.upperBound
      (target.pointer + rows.upperBound * target.pixelStride).update(
        repeating: 0, count: behind * target.pixelStride)
    }
    GlobalAveragePooling.inputGradient(
      gradient.dense(), into: rows.map { target.rows($0) } ?? target)
    input.finish(kernels: kernels, pool: run.pool)
  }
}

extension FeatureMap {
  /// Some of the rows, as tokens without a grid.
  func rows(_ rows: Range<Int>) -> FeatureMap {
    FeatureMap(
      pointer + rows.lowerBound * pixelStride,
      shape: FeatureShape(height: rows.count, width: 1, channels: shape.channels), pixelStride: pixelStride)
  }
}
