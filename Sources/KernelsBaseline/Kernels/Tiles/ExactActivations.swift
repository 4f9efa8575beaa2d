import KernelInterface

extension ActivationFunction {
  /// Of those without fused products.
  @inline(__always)
  static func applyExactly<let count: Int>(_ x: inout InlineArray<count, Vector>) {
    for i in 0..<count { x[i] = apply(x[i]) }
  }
}

extension SiLU {
  @inline(__always)
  static func applyExactly<let count: Int>(_ x: inout InlineArray<count, Vector>) {
    let divisors = onePlusExponential(x)
    for i in 0..<count { x[i] = x[i] / divisors[i] }
  }
}

extension Sigmoid {
  @inline(__always)
  static func applyExactly<let count: Int>(_ x: inout InlineArray<count, Vector>) {
    let divisors = onePlusExponential(x)
    for i in 0..<count { x[i] = Vector(repeating: 1) / divisors[i] }
  }
}

/// 1 + exp(-x) in a fixed order, within 0.18 %: the same bits on every machine, where a fused product would change them.
/// `Scripts/dermafusion_training/model/exact.py` has the same operations.
///
/// exp(-x) = 2^n p(f), with n + f = -x / ln 2 and |f| <= 1/2; p is of degree 2. Each step is taken for all vectors before
/// the next: the steps of one wait for each other, and a CPU does not look far enough ahead to find the next vector's.
@inline(__always)
private func onePlusExponential<let count: Int>(
  _ x: InlineArray<count, Vector>
) -> InlineArray<count, Vector> {
  var rests = x
  for i in 0..<count {
    rests[i] = (x[i] * Vector(repeating: -1.442_695)).raised(to: -60).lowered(to: 60)
  }
  var shifted = rests
  for i in 0..<count { shifted[i] = rests[i] + magic }
  for i in 0..<count { rests[i] = rests[i] - (shifted[i] - magic) }
  var powers = rests
  for i in 0..<count {
    powers[i] = rests[i] * Vector(repeating: 0.238_428_86) + Vector(repeating: 0.703_448_24)
  }
  for i in 0..<count { powers[i] = powers[i] * rests[i] + Vector(repeating: 1.000_443_2) }
  for i in 0..<count {
    let bits = unsafeBitCast(shifted[i], to: VectorBits.self) &<< VectorBits(repeating: 23)
    let product = unsafeBitCast(powers[i], to: VectorBits.self) &+ bits
    powers[i] = unsafeBitCast(product, to: Vector.self) + Vector(repeating: 1)
  }
  return powers
}
