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
    let output = Layout(inputs[0], kernels: weights.kernels)
    let norm = RowNorm(
      scale: try weights.tensor("\(name).weight", shape: [inputs[0].channels]),
      offset: try weights.tensor("\(name).bias", shape: [inputs[0].channels]), epsilon: Float(epsilon),
      stride: output.pixelStride, kernels: weights.kernels)
    return PlainOperation(output, weights.kernels, stateCount: output.count) { inputs, output, run in
      norm(inputs[0], into: output, pool: run.pool)
    } backward: { gradient, input, state, run in
      let values = input.activated(state: state, output, kernels: norm.kernels, pool: run.pool)
      norm(values, gradient: gradient, into: input.target, pool: run.pool)
    }
  }
}

private struct RowNorm: Sendable {
  private let scale: AlignedBuffer
  private let offset: AlignedBuffer
  private let epsilon: Float
  let kernels: KernelSet

  /// Rows of a task.
  private static let blockSize = 16

  init(scale: [Float], offset: [Float], epsilon: Float, stride: Int, kernels: KernelSet) {
    func padded(_ values: [Float]) -> AlignedBuffer {
      let buffer = AlignedBuffer(count: stride)
      buffer.pointer.update(from: values, count: values.count)
      return buffer
    }
    self.scale = padded(scale)
    self.offset = padded(offset)
    self.epsilon = epsilon
    self.kernels = kernels
  }

  /// - Parameter gradient: That of the norm's output, for that of its input.
  func callAsFunction(
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
}
