import TensorModule

/// A way to turn a feature map and the gradient of a class's logit into a map of the class's support.
///
/// In the formulas `A` is the feature map, `G` the gradient of the class's logit with respect to it, `p` a pixel and `c` a
/// channel. Every method gives one value for each pixel of the feature map; the part above 0 is what is shown.
public enum ActivationMapMethod: String, Sendable, CaseIterable {
  /// `sum over c of mean over p of G[p, c] * A[p, c]`: Selvaraju et al., "Grad-CAM", 2017. Each channel gets one weight
  /// for the whole image.
  case gradcam
  /// `sum over c of G[p, c] * A[p, c]`: Draelos and Carin, "Use HiResCAM instead of Grad-CAM", 2020. At the last feature
  /// map this is the same as ``gradcam``, because there the gradient is the same at every pixel.
  case hirescam
  /// ``gradcam`` with weights in which pixels of large positive gradient count for more: Chattopadhyay et al.,
  /// "Grad-CAM++", 2018, equation 19.
  case gradcamPlusPlus = "gradcam++"
  /// `sum over c of max(G[p, c], 0) * A[p, c]`: Jiang et al., "LayerCAM", 2021. Made for early layers.
  case layercam
  /// The first principal component of the feature map: Muhammad and Yeasin, "Eigen-CAM", 2020. It uses no gradient and
  /// is the same for every class. Its sign, which a principal component leaves open, is the one whose extreme is
  /// positive (Chung and Ying, "Seg-Eigen-CAM", 2025, equation 13).
  case eigencam

  /// True if the method needs the gradient of the class's logit; without it the map is the same for every class.
  public var usesGradient: Bool { self != .eigencam }

  /// The map before its negative part is cut off: `[height, width]`, of both signs.
  ///
  /// - Parameters:
  ///   - activations: `[height, width, channels]`
  ///   - gradient: of the same shape; `nil` for a method that uses none.
  package func signedMap(activations: Tensor, gradient: Tensor?) -> [Float] {
    precondition(
      gradient == nil || gradient?.shape == activations.shape,
      "a gradient of shape \(gradient?.shape ?? []) for activations of \(activations.shape)")
    let channels = activations.shape[2]
    return unsafe activations.values.withUnsafeBufferPointer { activations in
      unsafe (gradient?.values ?? []).withUnsafeBufferPointer { gradient in
        unsafe signedMap(
          FeatureValues(values: activations, channels: channels),
          FeatureValues(values: gradient, channels: channels))
      }
    }
  }

  /// The arithmetic of the PyPI package `grad-cam`. Activations and gradient are `[height * width, channels]`; the result
  /// is `[height * width]`.
  private func signedMap(_ activations: FeatureValues, _ gradient: FeatureValues) -> [Float] {
    switch self {
    case .gradcam:
      activations.weighted(by: gradient.channelSums().map { $0 / Double(gradient.pixelCount) })
    case .hirescam: activations.products(with: gradient) { $0 }
    case .gradcamPlusPlus: activations.weighted(by: Self.gradcamPlusPlusWeights(activations, gradient))
    case .layercam: activations.products(with: gradient) { $0 > 0 ? $0 : 0 }
    case .eigencam: EigenCAM.signedMap(activations)
    }
  }

  private static func gradcamPlusPlusWeights(_ activations: FeatureValues, _ gradient: FeatureValues)
    -> [Double]
  {
    let epsilon = 1e-6
    let sums = activations.channelSums()
    var weights = [Double](repeating: 0, count: gradient.channels)
    unsafe weights.withUnsafeMutableBufferPointer { weights in
      unsafe sums.withUnsafeBufferPointer { sums in
        unsafe gradient.forEachPixel { _, row in
          for channel in weights.indices {
            // Without a branch, which would go either way at random; nothing times 0 is added for the others.
            let slope = unsafe max(Double(row[channel]), 0)
            let square = slope * slope
            unsafe weights[channel] +=
              slope * square / (2 * square + sums[channel] * square * slope + epsilon)
          }
        }
      }
    }
    return weights
  }
}

extension ActivationMapMethod {
  /// The name shown to people: `GradCAM`.
  public var displayName: String {
    switch self {
    case .gradcam: "GradCAM"
    case .hirescam: "HiResCAM"
    case .gradcamPlusPlus: "GradCAM++"
    case .layercam: "LayerCAM"
    case .eigencam: "EigenCAM"
    }
  }
}
