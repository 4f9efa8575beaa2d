import Files
import KernelInterface
import SystemModule
import TensorModule

/// A layer norm over the channels of each pixel or token.
final class LayerNorm: Operation {
  let name: String
  let epsilon: Double

  init(_ name: String, epsilon: Double) {
    self.name = name
    self.epsilon = epsilon
  }

  var title: String { "layer norm" }
  var precisions: [Precision] { [.float32, .bfloat16] }

  func parameterCount(_ inputs: [FeatureShape]) -> Int { 2 * inputs[0].channels }

  func prepare(
    _ inputs: [FeatureShape], _ weights: NetworkWeights, pool: ThreadPool
  ) throws(DermaFusionError) -> any PreparedOperation {
    let channels = inputs[0].channels
    return PreparedLayerNorm(
      scale: try weights.tensor("\(name).weight", shape: [channels]),
      offset: try weights.tensor("\(name).bias", shape: [channels]), epsilon: Float(epsilon),
      output: Layout(inputs[0], kernels: weights.kernels), kernels: weights.kernels)
  }
}

private final class PreparedLayerNorm: PreparedOperation, OperationGradient {
  let output: Layout
  private let scale: AlignedBuffer
  private let offset: AlignedBuffer
  private let epsilon: Float
  private let kernels: KernelSet

  /// Rows of a task.
  private static let blockSize = 16

  init(scale: [Float], offset: [Float], epsilon: Float, output: Layout, kernels: KernelSet) {
    func padded(_ values: [Float]) -> AlignedBuffer {
      let buffer = AlignedBuffer(count: output.pixelStride)
      buffer.pointer.update(from: values, count: values.count)
      return buffer
    }
    self.scale = padded(scale)
    self.offset = padded(offset)
    self.epsilon = epsilon
    self.output = output
    self.kernels = kernels
  }

  var scratchCount: Int { 0 }

  func run(_ inputs: [Stored], into output: Stored, in run: Run) {
    normalize(inputs[0].map, into: output.map, pool: run.pool)
  }

  /// - Parameter gradient: That of the norm's output, for that of its input.
  private func normalize(
    _ input: FeatureMap, gradient: FeatureMap? = nil, into output: FeatureMap, pool: ThreadPool
  ) {
    let (count, stride) = (input.shape.pixelCount, input.pixelStride)
    precondition(
      output.pixelStride == stride && (gradient?.pixelStride ?? stride) == stride, "rows of other strides")
    pool.run(taskCount: (count + Self.blockSize - 1) / Self.blockSize) { task, _ in
      let first = task * Self.blockSize
      kernels.normalizeRows(
        RowNormalization(
          values: UnsafePointer(input.pointer + first * stride), output: output.pointer + first * stride,
          gradient: gradient.map { UnsafePointer($0.pointer + first * stride) },
          rowCount: min(Self.blockSize, count - first), columnCount: input.shape.channels, rowStride: stride,
          scale: UnsafePointer(scale.pointer), offset: UnsafePointer(offset.pointer), epsilon: epsilon))
    }
  }

  func makeGradient(_ producers: [(any PreparedOperation)?]) -> (any OperationGradient)? { self }

  var readsInput: Bool { true }
  var stateCount: Int { output.count }

  func recompute(
    _ inputs: [FeatureMap], into argument: FeatureMap, activated: FeatureMap?,
    state: UnsafeMutablePointer<Float>, in run: Run
  ) {
    normalize(inputs[0], into: argument, pool: run.pool)
  }

  func backward(
    _ gradient: FeatureMap, to input: InputGradient, state: UnsafeMutablePointer<Float>, in run: Run
  ) {
    normalize(
      input.activated(state: state, output, kernels: kernels, pool: run.pool), gradient: gradient,
      into: input.target, pool: run.pool)
    input.finish(kernels: kernels, pool: run.pool)
  }
}
