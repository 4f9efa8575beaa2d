import SystemModule

/// The weights of Pillow's `resize` by an input's distance from the output's centre.
package enum Interpolation: String, Sendable, CaseIterable {
  case bilinear, bicubic, lanczos

  /// The distance, in inputs where the image is not shrunk, from which on the weight is 0.
  var support: Double {
    switch self {
    case .bilinear: 1
    case .bicubic: 2
    case .lanczos: 3
    }
  }

  /// The weight at a distance within ``support``, before the weights are divided by their sum: `bilinear_filter`,
  /// `bicubic_filter` and `lanczos_filter` of Pillow's Resample.c, operation by operation.
  func weight(at distance: Double) -> Double {
    let x = abs(distance)
    switch self {
    case .bilinear: return max(1 - x, 0)
    case .bicubic:
      let a = -0.5
      if x < 1 { return ((a + 2) * x - (a + 3)) * x * x + 1 }
      return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0
    case .lanczos: return x < 3 ? Self.sinc(x) * Self.sinc(x / 3) : 0
    }
  }

  private static func sinc(_ x: Double) -> Double {
    if x == 0 { return 1 }
    let angle = x * Double.pi
    return Mathematics.sin(angle) / angle
  }
}
