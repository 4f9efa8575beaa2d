/// How far from the Double reference each kernel may be, in units of `Float.ulpOfOne` times the sum of the terms'
/// magnitudes. Errors grow with the length of a sum, in practice as its square root; the constants are about three
/// times the largest seen over the shapes of these tests, and far below the worst case.
enum Tolerances {
  /// Sums of up to 144 products, then an activation.
  static let matrixProduct = 4.0
  /// Sums of up to 49 products, then an activation.
  static let depthwise = 4.0
  /// An expansion, then a depthwise convolution over it.
  static let expandedDepthwise = 4.0
  /// Sums over up to some hundred pixels.
  static let sumOfPixels = 4.0
  /// Sums of up to 300 products.
  static let convolution = 4.0
  static let averagePooling = 4.0
  /// Two products and two activations after a mean.
  static let squeezeExcite = 4.0
  /// One multiplication.
  static let scaling = 0.5
  /// The weights rounded once, then a convolution.
  static let foldedBatchNorm = 4.0
  /// Worked out in Double and rounded once.
  static let rounding = 0.5
  /// exp and a division, relative to the result.
  static let activationRelative = 1e-6
}
