/// The distance from the Double reference that each kernel may have, in units of `Float.ulpOfOne` times the sum of the terms'
/// magnitudes. The worst case grows with the length of a sum, the usual one with its square root at most; the constants
/// are about twice the largest seen over the shapes and instruction sets of these tests.
enum Tolerances {
  /// Sums of up to 300 products, then an activation.
  static let matrixProduct = 4.0
  /// Sums of up to 81 products, then an activation.
  static let depthwise = 3.0
  /// An expansion, then a depthwise convolution over it.
  static let expandedDepthwise = 4.0
  /// Sums over up to some thousand pixels, row by row.
  static let sumOfPixels = 4.0
  /// Sums of up to 288 products, then an activation.
  static let convolution = 3.0
  /// The same by way of transformed tiles, whose values mix those of 16 pixels.
  static let winograd = 3.0
  /// Means over up to 2304 pixels, row by row.
  static let averagePooling = 5.0
  /// Two products and two activations after a mean; magnitudes grow faster than errors do.
  static let squeezeExcite = 1.5
  /// The weights rounded once more, then a convolution.
  static let foldedBatchNorm = 1.5
  /// exp and a division, relative to the result.
  static let activationRelative = 1e-6
}
