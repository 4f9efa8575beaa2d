import Files
import KernelInterface
import SystemModule
import TensorModule

/// Global response norm: each channel times a factor that grows with its share of the map's norm, and the channel itself added
/// (Woo et al., "ConvNeXt V2", 2023, algorithm 1):
///
///     g[c] = sqrt(sum over pixels of x[p, c]^2)
///     y[p, c] = x[p, c] * (1 + weight[c] * g[c] / (mean of g + 1e-6)) + bias[c]
final class ResponseNorm: Operation {
  let name: String

  init(_ name: String) { self.name = name }

  var title: String { "response norm" }
  var precisions: [Precision] { [.float32, .bfloat16] }

  func parameterCount(_ inputs: [FeatureShape]) -> Int { 2 * inputs[0].channels }

  func prepare(
    _ inputs: [FeatureShape], _ weights: NetworkWeights, pool: ThreadPool
  ) throws(DermaFusionError) -> any PreparedOperation {
    let channels = inputs[0].channels
    return PreparedResponseNorm(
      weight: try weights.tensor("\(name).weight", shape: [channels]),
      bias: try weights.tensor("\(name).bias", shape: [channels]),
      output: Layout(inputs[0], kernels: weights.kernels), kernels: weights.kernels)
  }
}

private final class PreparedResponseNorm: PreparedOperation, OperationGradient {
  let output: Layout
  private let weight: [Float]
  /// Padded channels.
  private let bias: [Float]
  private let kernels: KernelSet

  private static let epsilon = 1e-6

  init(weight: [Float], bias: [Float], output: Layout, kernels: KernelSet) {
    self.weight = weight
    self.bias = bias + [Float](repeating: 0, count: output.pixelStride - bias.count)
    self.output = output
    self.kernels = kernels
  }

  var scratchCount: Int { 0 }
  var readsInput: Bool { true }
  /// The input's values, and their part of its gradient.
  var stateCount: Int { 2 * output.count }

  func run(_ inputs: [Stored], into output: Stored, in run: Run) {
    write(inputs[0].map, into: output.map, pool: run.pool)
  }

  private func write(_ input: FeatureMap, into output: FeatureMap, pool: ThreadPool) {
    output.write(
      input, times: factors(norms(input, pool: pool)), plus: bias, kernels: kernels, pool: pool)
  }

  /// `g` of each channel.
  private func norms(_ input: FeatureMap, pool: ThreadPool) -> [Double] {
    let sums = input.sumsOfProducts(with: input, kernels: kernels, pool: pool)
    return weight.indices.map { Double(sums[$0]).squareRoot() }
  }

  /// Padded channels.
  private func factors(_ norms: [Double]) -> [Float] {
    let mean = norms.reduce(0, +) / Double(norms.count) + Self.epsilon
    return (0..<output.pixelStride).map {
      $0 < norms.count ? Float(1 + Double(weight[$0]) * norms[$0] / mean) : 0
    }
  }

  func makeGradient(_ producers: [(any PreparedOperation)?]) -> (any OperationGradient)? { self }

  func recompute(
    _ inputs: [FeatureMap], into argument: FeatureMap, activated: FeatureMap?,
    state: UnsafeMutablePointer<Float>, in run: Run
  ) {
    write(inputs[0], into: argument, pool: run.pool)
  }

  func backward(
    _ gradient: FeatureMap, to input: InputGradient, state: UnsafeMutablePointer<Float>, in run: Run
  ) {
    let x = input.activated(state: state, output, kernels: kernels, pool: run.pool)
    let norms = norms(x, pool: run.pool)
    let mean = norms.reduce(0, +) / Double(norms.count) + Self.epsilon
    let products = gradient.sumsOfProducts(with: x, kernels: kernels, pool: run.pool)
    // With respect to each channel's share of the norm, then to the norm itself.
    let shares = norms.indices.map { Double(weight[$0]) * Double(products[$0]) }
    let common = norms.indices.reduce(0) { $0 + shares[$1] * norms[$1] } / (mean * mean * Double(norms.count))
    let ofNorms = (0..<output.pixelStride).map { channel -> Float in
      guard channel < norms.count, norms[channel] > 0 else { return 0 }
      return Float((shares[channel] / mean - common) / norms[channel])
    }
    let zeros = [Float](repeating: 0, count: output.pixelStride)
    let part = Stored(pointer: state + output.count, layout: output).map
    part.write(x, times: ofNorms, plus: zeros, kernels: kernels, pool: run.pool)
    input.target.write(gradient, times: factors(norms), plus: zeros, kernels: kernels, pool: run.pool)
    input.target.add(part, kernels: kernels, pool: run.pool)
    input.finish(kernels: kernels, pool: run.pool)
  }
}
