#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The activations of the reference layers.
public enum ReferenceActivation: String, Sendable, CaseIterable {
  /// x
  case identity
  /// max(x, 0)
  case relu
  /// min(max(x, 0), 6)
  case relu6
  /// x / (1 + exp(-x))
  case silu
  /// 1 / (1 + exp(-x))
  case sigmoid
  /// x * min(max(x + 3, 0), 6) / 6
  case hardSwish
  /// min(max(x + 3, 0), 6) / 6
  case hardSigmoid
  /// x / 2 * (1 + erf(x / sqrt(2)))
  case gelu

  /// The function's value.
  public func callAsFunction(_ x: Double) -> Double {
    switch self {
    case .identity: x
    case .relu: x < 0 ? 0 : x
    case .relu6: x < 0 ? 0 : x > 6 ? 6 : x
    case .silu: x < -700 ? 0 : x / (1 + exp(-x))
    case .sigmoid: 1 / (1 + exp(-x))
    case .hardSwish: x * ReferenceActivation.hardSigmoid(x)
    case .hardSigmoid: x.isNaN ? x : min(max(x + 3, 0), 6) / 6
    case .gelu: x * erfc(-x / 2.0.squareRoot()) / 2
    }
  }

  /// The steepest slope: how much the error of the argument can grow.
  var steepest: Double {
    switch self {
    case .identity, .relu, .relu6: 1
    case .silu: 1.1
    case .gelu: 1.13
    case .sigmoid: 0.25
    case .hardSwish: 1.5
    case .hardSigmoid: 1.0 / 6
    }
  }
}

extension ReferenceMap {
  /// The activation of every value.
  public func activated(_ activation: ReferenceActivation) -> ReferenceMap {
    var result = self
    for i in values.indices {
      result.values[i] = activation(values[i])
      result.magnitudes[i] = activation.steepest * magnitudes[i]
      // The activation rounds too.
      if activation.steepest != 1 { result.magnitudes[i] += abs(result.values[i]) }
    }
    return result
  }

  /// `(x - mean) / sqrt(variance + epsilon) * scale + offset`, channel by channel.
  public func batchNormalized(
    scale: [Float], offset: [Float], mean: [Float], variance: [Float], epsilon: Double
  ) -> ReferenceMap {
    var result = self
    for i in values.indices {
      let channel = i % channels
      let gain = Double(scale[channel]) / (Double(variance[channel]) + epsilon).squareRoot()
      result.values[i] = (values[i] - Double(mean[channel])) * gain + Double(offset[channel])
      result.magnitudes[i] =
        (magnitudes[i] + abs(Double(mean[channel]))) * abs(gain) + abs(Double(offset[channel]))
    }
    return result
  }

  /// Each pixel normalised over its channels: `(x - mean) / sqrt(variance + epsilon) * scale + offset`.
  public func layerNormalized(scale: [Float], offset: [Float], epsilon: Double) -> ReferenceMap {
    var result = self
    for first in stride(from: 0, to: values.count, by: channels) {
      let pixel = first..<first + channels
      let normalized = Reference.layerNormalized(
        Array(values[pixel]), scale: scale.map(Double.init), offset: offset.map(Double.init), epsilon: epsilon
      )
      result.values.replaceSubrange(pixel, with: normalized)
    }
    return result
  }

  /// Some of the pixels, in the order of their rows, as a map of one column.
  public func rows(_ rows: Range<Int>) -> ReferenceMap {
    var result = ReferenceMap(height: rows.count, width: 1, channels: channels)
    let places = rows.lowerBound * channels..<rows.upperBound * channels
    result.values = Array(values[places])
    result.magnitudes = Array(magnitudes[places])
    return result
  }

  /// Global response norm: a channel's factor grows with its share of the norm over all pixels.
  public func responseNormalized(weight: [Float], bias: [Float]) -> ReferenceMap {
    var norms = [Double](repeating: 0, count: channels)
    for i in values.indices { norms[i % channels] += values[i] * values[i] }
    norms = norms.map { $0.squareRoot() }
    let mean = norms.reduce(0, +) / Double(channels) + 1e-6
    var result = self
    for i in values.indices {
      let channel = i % channels
      let factor = 1 + Double(weight[channel]) * norms[channel] / mean
      result.values[i] = values[i] * factor + Double(bias[channel])
      result.magnitudes[i] = magnitudes[i] * abs(factor) + abs(Double(bias[channel]))
    }
    return result
  }

  /// Every value and the other map's value at its place.
  public func adding(_ other: ReferenceMap) -> ReferenceMap {
    precondition(
      values.count == other.values.count, "a sum of maps of \(values.count) and \(other.values.count) values")
    var result = self
    for i in values.indices {
      result.values[i] += other.values[i]
      result.magnitudes[i] += other.magnitudes[i]
    }
    return result
  }

  /// Each channel times its factor.
  ///
  /// - Parameter gate: A map of one pixel with this map's channels.
  public func scaled(by gate: ReferenceMap) -> ReferenceMap {
    precondition(
      gate.values.count == channels, "a gate of \(gate.values.count) factors for \(channels) channels")
    var result = self
    for i in values.indices {
      result.values[i] *= gate.values[i % channels]
      result.magnitudes[i] *= gate.magnitudes[i % channels]
    }
    return result
  }

  /// The sum of each channel over all pixels, as a map of one pixel.
  public func summed() -> ReferenceMap {
    var result = ReferenceMap(height: 1, width: 1, channels: channels)
    for i in values.indices {
      result.values[i % channels] += values[i]
      result.magnitudes[i % channels] += magnitudes[i]
    }
    return result
  }

  /// The mean of each channel over all pixels, as a map of one pixel.
  public func globalAverage() -> ReferenceMap {
    var result = summed()
    for channel in 0..<channels {
      result.values[channel] /= Double(height * width)
      result.magnitudes[channel] /= Double(height * width)
    }
    return result
  }

  /// The gate of squeeze-excite: `gate(expand(activation(reduce(means))))`.
  ///
  /// - Parameters:
  ///   - reduceWeight: `[reduceBias.count, channels]`
  ///   - expandWeight: `[channels, reduceBias.count]`
  public func squeezeExciteGate(
    reduceWeight: [Float], reduceBias: [Float], expandWeight: [Float], expandBias: [Float],
    activation: ReferenceActivation, gate: ReferenceActivation = .sigmoid
  ) -> ReferenceMap {
    globalAverage().pointwise(weight: reduceWeight, bias: reduceBias).activated(activation)
      .pointwise(weight: expandWeight, bias: expandBias).activated(gate)
  }
}

/// Layers on vectors, in Double.
public enum Reference {
  /// `exp(logit / temperature)` over the sum of all.
  public static func softmax(_ logits: [Double], temperature: Double = 1) -> [Double] {
    let largest = logits.reduce(-.infinity, max)
    var sum = 0.0
    for logit in logits { sum += exp((logit - largest) / temperature) }
    return logits.map { exp(($0 - largest) / temperature) / sum }
  }

  /// PyTorch's `LayerNorm`: the variance is that of the population.
  public static func layerNormalized(_ x: [Double], scale: [Double], offset: [Double], epsilon: Double)
    -> [Double]
  {
    var mean = 0.0
    for value in x { mean += value / Double(x.count) }
    var variance = 0.0
    for value in x { variance += (value - mean) * (value - mean) / Double(x.count) }
    return x.indices.map { (x[$0] - mean) / (variance + epsilon).squareRoot() * scale[$0] + offset[$0] }
  }

  /// Row `index` of a `[rows, size]` table.
  public static func embedding(table: [Double], size: Int, index: Int) -> [Double] {
    (0..<size).map { table[index * size + $0] }
  }
}
