import Files
import KernelInterface
import SystemModule
import TensorModule

/// Multi-head self-attention of queries, keys and values that lie side by side: over all tokens, or in windows of a map.
final class SelfAttention: Operation {
  /// Windows that the map is cut into, as Swin has them (Liu et al., "Swin Transformer", 2021, section 3.2).
  struct Windows: Sendable, Equatable {
    /// Pixels down and across.
    let size: Int
    /// Pixels that the map is rolled up and to the left by; parts that were apart do not see each other.
    let shift: Int
    /// The tensor of relative positions' biases, `[(2 * size - 1)^2, heads]`.
    let bias: String
  }

  let headCount: Int
  let windows: Windows?

  init(headCount: Int, windows: Windows?) {
    self.headCount = headCount
    self.windows = windows
  }

  var name: String { windows?.bias ?? "" }
  var title: String {
    "attention of \(headCount) heads"
      + (windows.map { " in \($0.size)x\($0.size) windows" + ($0.shift > 0 ? ", shifted" : "") } ?? "")
  }
  var precisions: [Precision] { [.float32, .bfloat16] }

  func outputShape(_ inputs: [FeatureShape]) -> FeatureShape {
    var shape = inputs[0]
    shape.channels /= 3
    return shape
  }

  func multiplyAdds(_ inputs: [FeatureShape]) -> Int {
    let count = inputs[0].pixelCount
    return 2 * count * (windows.map { $0.size * $0.size } ?? count) * inputs[0].channels / 3
  }

  func parameterCount(_ inputs: [FeatureShape]) -> Int {
    windows.map { (2 * $0.size - 1) * (2 * $0.size - 1) * headCount } ?? 0
  }

  func prepare(
    _ inputs: [FeatureShape], _ weights: NetworkWeights, pool: ThreadPool
  ) throws(DermaFusionError) -> any PreparedOperation {
    let shape = outputShape(inputs)
    let headSize = shape.channels / headCount
    precondition(headSize * headCount * 3 == inputs[0].channels, "\(headCount) heads of \(inputs[0])")
    let layer: Attention
    if let windows {
      let table = try weights.tensor(
        windows.bias, shape: [(2 * windows.size - 1) * (2 * windows.size - 1), headCount])
      layer = Attention(
        rows: windows.rows(of: shape), setSize: windows.size * windows.size, headCount: headCount,
        headSize: headSize, bias: windows.biases(table, headCount: headCount),
        biasIndices: windows.kinds(of: shape), kernels: weights.kernels)
    } else {
      layer = Attention(
        rows: Array(0..<shape.pixelCount), setSize: shape.pixelCount, headCount: headCount,
        headSize: headSize, kernels: weights.kernels)
    }
    return PreparedAttention(
      layer, output: Layout(shape, kernels: weights.kernels), kernels: weights.kernels)
  }
}

extension SelfAttention.Windows {
  private func requireWhole(_ shape: FeatureShape) {
    precondition(
      shape.height % size == 0 && shape.width % size == 0, "windows of \(size) pixels in a map of \(shape)")
  }

  /// The map's pixels, window by window.
  fileprivate func rows(of shape: FeatureShape) -> [Int] {
    requireWhole(shape)
    var rows: [Int] = []
    for top in stride(from: 0, to: shape.height, by: size) {
      for left in stride(from: 0, to: shape.width, by: size) {
        for y in top..<top + size {
          for x in left..<left + size {
            rows.append((y + shift) % shape.height * shape.width + (x + shift) % shape.width)
          }
        }
      }
    }
    return rows
  }

  /// 1 for windows at the lower edge, 2 at the right one, 3 at both, where the map is rolled; otherwise 0.
  fileprivate func kinds(of shape: FeatureShape) -> [Int] {
    let (height, width) = (shape.height / size, shape.width / size)
    return (0..<height * width).map {
      shift == 0 ? 0 : ($0 / width == height - 1 ? 1 : 0) + ($0 % width == width - 1 ? 2 : 0)
    }
  }

  /// For each kind of window, `[heads, size * size, size * size]`: the positions' biases, and -100 between parts that were apart.
  ///
  /// - Parameter table: `[(2 * size - 1)^2, heads]`
  fileprivate func biases(_ table: [Float], headCount: Int) -> [[Float]] {
    let count = size * size
    return (0..<(shift == 0 ? 1 : 4)).map { kind in
      func part(_ place: Int) -> Int {
        (kind & 1 != 0 && place / size >= size - shift ? 1 : 0)
          + (kind & 2 != 0 && place % size >= size - shift ? 2 : 0)
      }
      var bias: [Float] = []
      bias.reserveCapacity(headCount * count * count)
      for head in 0..<headCount {
        for query in 0..<count {
          for key in 0..<count {
            let down = query / size - key / size + size - 1
            let across = query % size - key % size + size - 1
            let value = table[(down * (2 * size - 1) + across) * headCount + head]
            bias.append(part(query) == part(key) ? value : value - 100)
          }
        }
      }
      return bias
    }
  }
}

private final class PreparedAttention: PreparedOperation {
  let output: Layout
  fileprivate let layer: Attention
  fileprivate let kernels: KernelSet

  init(_ layer: Attention, output: Layout, kernels: KernelSet) {
    self.layer = layer
    self.output = output
    self.kernels = kernels
  }

  var scratchCount: Int { layer.scratchCount }

  func run(_ inputs: [Stored], into output: Stored, in run: Run) {
    layer(inputs[0].map, into: output.map, scratch: run.scratch, pool: run.pool)
  }

  func makeGradient(_ producers: [(any PreparedOperation)?]) -> (any OperationGradient)? {
    AttentionGradient(self)
  }
}

/// The gradient of attention, which makes the scores again.
private final class AttentionGradient: OperationGradient {
  private let forward: PreparedAttention

  init(_ forward: PreparedAttention) { self.forward = forward }

  var readsInput: Bool { true }
  var scratchCount: Int { max(forward.layer.scratchCount, forward.layer.gradientScratchCount) }

  func recompute(
    _ inputs: [FeatureMap], into argument: FeatureMap, activated: FeatureMap?,
    state: UnsafeMutablePointer<Float>, in run: Run
  ) {
    forward.layer(inputs[0], into: argument, scratch: run.scratch, pool: run.pool)
  }

  func backward(
    _ gradient: FeatureMap, to input: InputGradient, state: UnsafeMutablePointer<Float>, in run: Run
  ) {
    guard let values = input.values, values.activation.isIdempotent else {
      preconditionFailure("attention's gradient without its input")
    }
    forward.layer.inputGradient(
      gradient, at: values.arguments, into: input.target, scratch: run.scratch, pool: run.pool)
    input.finish(kernels: forward.kernels, pool: run.pool)
  }
}
