enum GradCAM: ActivationMapRule {
  static func signedMap(activations: FeatureValues, gradient: FeatureValues) -> [Float] {
    var weights = [Double](repeating: 0, count: gradient.channels)
    gradient.forEachPixel { _, row in
      for channel in weights.indices { weights[channel] += Double(row[channel]) }
    }
    for channel in weights.indices { weights[channel] /= Double(gradient.pixelCount) }
    return activations.weighted(by: weights)
  }
}

enum HiResCAM: ActivationMapRule {
  static func signedMap(activations: FeatureValues, gradient: FeatureValues) -> [Float] {
    activations.products(with: gradient) { $0 }
  }
}

enum LayerCAM: ActivationMapRule {
  static func signedMap(activations: FeatureValues, gradient: FeatureValues) -> [Float] {
    activations.products(with: gradient) { $0 > 0 ? $0 : 0 }
  }
}

enum GradCAMPlusPlus: ActivationMapRule {
  private static let epsilon = 1e-6

  static func signedMap(activations: FeatureValues, gradient: FeatureValues) -> [Float] {
    var sums = [Double](repeating: 0, count: activations.channels)
    activations.forEachPixel { _, row in
      for channel in sums.indices { sums[channel] += Double(row[channel]) }
    }
    var weights = [Double](repeating: 0, count: gradient.channels)
    gradient.forEachPixel { _, row in
      for channel in weights.indices where row[channel] > 0 {
        let slope = Double(row[channel])
        let square = slope * slope
        weights[channel] += slope * square / (2 * square + sums[channel] * square * slope + epsilon)
      }
    }
    return activations.weighted(by: weights)
  }
}

extension FeatureValues {
  /// Calls `body` with each pixel's index and its channels.
  @inline(__always)
  func forEachPixel(_ body: (Int, UnsafePointer<Float>) -> Void) {
    guard let base = values.baseAddress else { return }
    for pixel in 0..<pixelCount { body(pixel, base + pixel * channels) }
  }

  /// `sum over channels of weights[c] * values[p, c]`, in Double.
  func weighted(by weights: [Double]) -> [Float] {
    var map = [Float](repeating: 0, count: pixelCount)
    weights.withUnsafeBufferPointer { weights in
      forEachPixel { pixel, row in
        var sum = 0.0
        for channel in 0..<channels { sum += weights[channel] * Double(row[channel]) }
        map[pixel] = Float(sum)
      }
    }
    return map
  }

  /// `sum over channels of factor(gradient[p, c]) * values[p, c]`, in Double.
  @inline(__always)
  func products(with gradient: FeatureValues, factor: (Float) -> Float) -> [Float] {
    var map = [Float](repeating: 0, count: pixelCount)
    guard let base = gradient.values.baseAddress else { return map }
    forEachPixel { pixel, row in
      let gradient = base + pixel * channels
      var sum = 0.0
      for channel in 0..<channels { sum += Double(factor(gradient[channel])) * Double(row[channel]) }
      map[pixel] = Float(sum)
    }
    return map
  }
}
