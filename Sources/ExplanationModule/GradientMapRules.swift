// The arithmetic of the methods that use a gradient, each as the PyPI package `grad-cam` does it. Activations and gradient
// are `[height * width, channels]`; the result is `[height * width]`, of both signs.

enum GradCAM {
  static func signedMap(activations: FeatureValues, gradient: FeatureValues) -> [Float] {
    var weights = gradient.channelSums()
    for channel in weights.indices { weights[channel] /= Double(gradient.pixelCount) }
    return activations.weighted(by: weights)
  }
}

enum HiResCAM {
  static func signedMap(activations: FeatureValues, gradient: FeatureValues) -> [Float] {
    activations.products(with: gradient) { $0 }
  }
}

enum LayerCAM {
  static func signedMap(activations: FeatureValues, gradient: FeatureValues) -> [Float] {
    activations.products(with: gradient) { $0 > 0 ? $0 : 0 }
  }
}

enum GradCAMPlusPlus {
  private static let epsilon = 1e-6

  static func signedMap(activations: FeatureValues, gradient: FeatureValues) -> [Float] {
    let sums = activations.channelSums()
    var weights = [Double](repeating: 0, count: gradient.channels)
    weights.withUnsafeMutableBufferPointer { weights in
      sums.withUnsafeBufferPointer { sums in
        gradient.forEachPixel { _, row in
          for channel in weights.indices {
            // Without a branch, which would go either way at random; nothing times 0 is added for the others.
            let slope = max(Double(row[channel]), 0)
            let square = slope * slope
            weights[channel] += slope * square / (2 * square + sums[channel] * square * slope + epsilon)
          }
        }
      }
    }
    return activations.weighted(by: weights)
  }
}
