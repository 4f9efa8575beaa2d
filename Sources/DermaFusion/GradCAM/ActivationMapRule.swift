import TensorModule

/// The arithmetic of one method, as the PyPI package `grad-cam` does it.
protocol ActivationMapRule {
  /// - Parameters:
  ///   - activations: `[height, width, channels]`
  ///   - gradient: Of the same shape; empty for a method that uses none.
  /// - Returns: `[height, width]`, of both signs.
  static func signedMap(activations: FeatureValues, gradient: FeatureValues) -> [Float]
}

extension ActivationMapRule {
  static func signedMap(activations: Tensor, gradient: Tensor?) -> [Float] {
    precondition(
      gradient == nil || gradient?.shape == activations.shape,
      "a gradient of shape \(gradient?.shape ?? []) for activations of \(activations.shape)")
    let channels = activations.shape[2]
    return activations.values.withUnsafeBufferPointer { activations in
      (gradient?.values ?? []).withUnsafeBufferPointer { gradient in
        signedMap(
          activations: FeatureValues(values: activations, channels: channels),
          gradient: FeatureValues(values: gradient, channels: channels))
      }
    }
  }
}
