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
    let (kernels, output) = (weights.kernels, Layout(inputs[0], kernels: weights.kernels))
    let layer = ResponseNormLayer(
      weight: try weights.tensor("\(name).weight", shape: [inputs[0].channels]),
      bias: try weights.tensor("\(name).bias", shape: [inputs[0].channels]), stride: output.pixelStride,
      kernels: kernels)
    // The input's values, and their part of its gradient.
    return PlainOperation(output, kernels, stateCount: 2 * output.count) { inputs, output, run in
      layer(inputs[0], into: output, pool: run.pool)
    } backward: { gradient, input, state, run in
      layer.inputGradient(
        gradient, at: input.activated(state: state, output, kernels: kernels, pool: run.pool),
        into: input.target,
        scratch: Stored(pointer: state + output.count, layout: output).map, pool: run.pool)
    }
  }
}

private struct ResponseNormLayer: Sendable {
  private let weight: [Float]
  /// Padded channels.
  private let bias: [Float]
  private let kernels: KernelSet

  private static let epsilon = 1e-6

  /// - Parameter stride: The padded channels.
  init(weight: [Float], bias: [Float], stride: Int, kernels: KernelSet) {
    self.weight = weight
    self.bias = bias + [Float](repeating: 0, count: stride - bias.count)
    self.kernels = kernels
  }

  func callAsFunction(_ input: FeatureMap, into output: FeatureMap, pool: ThreadPool) {
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
    return bias.indices.map {
      $0 < norms.count ? Float(1 + Double(weight[$0]) * norms[$0] / mean) : 0
    }
  }

  /// - Parameter scratch: A map of the input's shape.
  func inputGradient(
    _ gradient: FeatureMap, at x: FeatureMap, into target: FeatureMap, scratch: FeatureMap, pool: ThreadPool
  ) {
    let norms = norms(x, pool: pool)
    let mean = norms.reduce(0, +) / Double(norms.count) + Self.epsilon
    let products = gradient.sumsOfProducts(with: x, kernels: kernels, pool: pool)
    // With respect to each channel's share of the norm, then to the norm itself.
    let shares = norms.indices.map { Double(weight[$0]) * Double(products[$0]) }
    let common = norms.indices.reduce(0) { $0 + shares[$1] * norms[$1] } / (mean * mean * Double(norms.count))
    let ofNorms = bias.indices.map { channel -> Float in
      guard channel < norms.count, norms[channel] > 0 else { return 0 }
      return Float((shares[channel] / mean - common) / norms[channel])
    }
    let zeros = [Float](repeating: 0, count: bias.count)
    scratch.write(x, times: ofNorms, plus: zeros, kernels: kernels, pool: pool)
    target.write(gradient, times: factors(norms), plus: zeros, kernels: kernels, pool: pool)
    target.add(scratch, kernels: kernels, pool: pool)
  }
}
