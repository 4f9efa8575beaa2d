import KernelInterface

/// The numerator and denominator of 1 / (1 + exp(-x)), whose quotient is within 9e-7 relative for x from -87.5 on.
/// Above 87.5, x is clamped; below, the caller does that.
///
/// -x = n ln 2 - s with |s| <= ln 2 / 2, and exp(-s) = (t - s) / (t + s) with t = s coth(s / 2), an even function: two
/// terms of s^2 with the least relative error on that interval make the exponential 4.6e-7. With a division to do in any
/// case, two polynomials of degree 2 are cheaper than one of degree 5.
///
/// Adding 1.5 * 2^23 rounds to an integer and leaves it in the low bits: a conversion to integers would be done lane by
/// lane. With 127 more, one shift makes 2^n of them.
@inline(__always)
func sigmoidFraction(_ x: Vector) -> (numerator: Vector, denominator: Vector) {
  let clamped = x.lowered(to: 87.5)
  let magic = Vector(repeating: 12_582_912 + 127)
  let shifted = magic.adding(clamped, times: -1.442_695_04)
  let n = shifted - magic
  #if KERNEL_AVX512 || KERNEL_AVX2 || arch(arm64)
    let s = clamped.adding(n, times: 0.693_147_18)
  #else
    // Without a fused product ln 2 comes in two parts, the first short enough for n times it to be exact.
    let s = clamped.adding(n, times: 0.693_359_375).adding(n, times: -2.121_944_4e-4)
  #endif
  let slope = Vector(repeating: 1).adding(s, times: 0.166_250_08)
  let numerator = Vector(repeating: 2.000_012_5).adding(slope, times: s)
  let difference = numerator.adding(s, times: -2)
  let power = unsafeBitCast(shifted, to: VectorBits.self) &<< VectorBits(repeating: 23)
  return (numerator, numerator.adding(difference, times: unsafeBitCast(power, to: Vector.self)))
}

extension Vector {
  /// `self + a * b`, rounded as ``accumulate(_:_:)`` rounds.
  @inline(__always)
  fileprivate func adding(_ a: Vector, times b: Vector) -> Vector {
    var result = self
    result.accumulate(a, b)
    return result
  }

  @inline(__always)
  fileprivate func adding(_ a: Vector, times b: Float) -> Vector { adding(a, times: Vector(repeating: b)) }
}

/// An activation as a type, so that a kernel is compiled once for each: the compiler does not inline closures
/// through the loops of a kernel.
protocol ActivationFunction {
  static func apply(_ x: Vector) -> Vector
  /// The same in a fixed order, see ``KernelInterface/ExactPass``.
  static func applyExactly<let count: Int>(_ x: inout InlineArray<count, Vector>)
  /// The derivative, in terms of what goes in. At a kink it is 0, as PyTorch has it.
  static func derivative(_ x: Vector) -> Vector
}

enum Identity: ActivationFunction {
  @inline(__always)
  static func apply(_ x: Vector) -> Vector { x }
}

enum ReLU: ActivationFunction {
  @inline(__always)
  static func apply(_ x: Vector) -> Vector { x.raised(to: 0) }
}

enum ReLU6: ActivationFunction {
  @inline(__always)
  static func apply(_ x: Vector) -> Vector { x.raised(to: 0).lowered(to: 6) }
}

enum SiLU: ActivationFunction {
  @inline(__always)
  static func apply(_ x: Vector) -> Vector {
    // Clamped before the product too: beyond, the sigmoid no longer falls, and x would run off to -infinity.
    let x = x.raised(to: -87.5)
    let (numerator, denominator) = sigmoidFraction(x)
    return x * (numerator / denominator)
  }
}

enum Sigmoid: ActivationFunction {
  @inline(__always)
  static func apply(_ x: Vector) -> Vector {
    let (numerator, denominator) = sigmoidFraction(x.raised(to: -87.5))
    return numerator / denominator
  }
}

enum HardSwish: ActivationFunction {
  @inline(__always)
  static func apply(_ x: Vector) -> Vector { x * HardSigmoid.apply(x) }
}

enum HardSigmoid: ActivationFunction {
  @inline(__always)
  static func apply(_ x: Vector) -> Vector {
    ReLU6.apply(x + Vector(repeating: 3)) * Vector(repeating: 1 / 6)
  }
}

enum GELU: ActivationFunction {
  @inline(__always)
  static func apply(_ x: Vector) -> Vector {
    let magnitude = magnitude(x)
    return x.raised(to: 0) - magnitude * tail(magnitude)
  }

  /// |x|, at most 10: beyond, the tail is below 1e-19.
  @inline(__always)
  fileprivate static func magnitude(_ x: Vector) -> Vector {
    (Vector(repeating: 0) - x).raised(to: x).lowered(to: 10)
  }

  /// P(X > x) of a standard normal X, for x from 0 to 10. The coefficients are ``KernelInterface/Activation/normalTail``,
  /// which would be a call for each vector: another module's.
  @inline(__always)
  fileprivate static func tail(_ x: Vector) -> Vector {
    let coefficients: InlineArray<8, Float> = [
      1, 0.049_868_368, 0.021_131_596, 0.003_305_087_6, 2.711_221_7e-6, 7.093_892e-5, -1.147_797_1e-6,
      7.304_584e-7,
    ]
    var power = Vector(repeating: coefficients[7])
    for i in 1..<8 { power = Vector(repeating: coefficients[7 - i]).adding(power, times: x) }
    for _ in 0..<4 { power *= power }
    return Vector(repeating: 0.5) / power
  }
}

/// exp(x) for x up to 0, within 2e-7 relative; below -87 exp(-87), which is 1.6e-38.
///
/// x = n ln 2 + s with |s| <= ln 2 / 2; adding 1.5 * 2^23 leaves n in the low bits, from where a shift adds it to the exponent.
@inline(__always)
func exponential(_ x: Vector) -> Vector {
  let clamped = x.raised(to: -87)
  let shifted = magic.adding(clamped, times: 1.442_695_04)
  let n = shifted - magic
  #if KERNEL_AVX512 || KERNEL_AVX2 || arch(arm64)
    let s = clamped.adding(n, times: -0.693_147_18)
  #else
    let s = clamped.adding(n, times: -0.693_359_375).adding(n, times: 2.121_944_4e-4)
  #endif
  // The least relative error on the interval of those with exp(0) = 1: 9.2e-8.
  var power = Vector(repeating: 0.041_898_39).adding(s, times: 0.008_290_23)
  power = Vector(repeating: 0.166_676_4).adding(power, times: s)
  power = Vector(repeating: 0.499_991_46).adding(power, times: s)
  power = Vector(repeating: 0.999_999_71).adding(power, times: s)
  power = Vector(repeating: 1).adding(power, times: s)
  let bits = unsafeBitCast(shifted, to: VectorBits.self) &<< VectorBits(repeating: 23)
  return unsafeBitCast(unsafeBitCast(power, to: VectorBits.self) &+ bits, to: Vector.self)
}

/// A loop that is compiled once for each activation.
protocol ActivationLoop {
  func run<Function: ActivationFunction>(_ function: Function.Type)
}

extension Activation {
  @inline(__always)
  func select(_ loop: some ActivationLoop) {
    switch self {
    case .identity: loop.run(Identity.self)
    case .relu: loop.run(ReLU.self)
    case .relu6: loop.run(ReLU6.self)
    case .silu: loop.run(SiLU.self)
    case .sigmoid: loop.run(Sigmoid.self)
    case .hardSwish: loop.run(HardSwish.self)
    case .hardSigmoid: loop.run(HardSigmoid.self)
    case .gelu: loop.run(GELU.self)
    }
  }
}

extension ActivationFunction {
  /// Applies the function without fused products.
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

extension Identity {
  @inline(__always)
  static func derivative(_ x: Vector) -> Vector { Vector(repeating: 1) }
}

extension ReLU {
  @inline(__always)
  static func derivative(_ x: Vector) -> Vector {
    Vector(repeating: 0).replacing(with: Vector(repeating: 1), where: x .> Vector(repeating: 0))
  }
}

extension ReLU6 {
  @inline(__always)
  static func derivative(_ x: Vector) -> Vector {
    ReLU.derivative(x).replacing(with: Vector(repeating: 0), where: x .>= Vector(repeating: 6))
  }
}

extension SiLU {
  @inline(__always)
  static func derivative(_ x: Vector) -> Vector {
    // Beyond, the derivative is all but 0 (at -87.5 it is -9e-37), but exp(-x) would be clamped while x grows.
    let x = x.raised(to: -87.5)
    let one = Vector(repeating: 1)
    // As in `apply`: where both are wanted, the compiler makes one of the two.
    let (numerator, denominator) = sigmoidFraction(x)
    let sigmoid = numerator / denominator
    var slope = one
    slope.accumulate(x, one - sigmoid)
    return sigmoid * slope
  }
}

extension Sigmoid {
  @inline(__always)
  static func derivative(_ x: Vector) -> Vector {
    let sigmoid = apply(x)
    return sigmoid * (Vector(repeating: 1) - sigmoid)
  }
}

extension HardSwish {
  @inline(__always)
  static func derivative(_ x: Vector) -> Vector {
    let three = Vector(repeating: 3)
    // x / 3 + 1/2 between -3 and 3: 0 below, 1 above.
    let slope = (x * Vector(repeating: 1 / 3) + Vector(repeating: 0.5))
      .replacing(with: Vector(repeating: 0), where: x .<= Vector(repeating: -3))
    return slope.replacing(with: Vector(repeating: 1), where: x .>= three)
  }
}

extension HardSigmoid {
  @inline(__always)
  static func derivative(_ x: Vector) -> Vector {
    ReLU6.derivative(x + Vector(repeating: 3)) * Vector(repeating: 1 / 6)
  }
}

extension GELU {
  /// The normal distribution plus x times its density.
  @inline(__always)
  static func derivative(_ x: Vector) -> Vector {
    let x = x.raised(to: -10).lowered(to: 10)
    let tail = tail(magnitude(x))
    let below = tail.replacing(with: Vector(repeating: 1) - tail, where: x .> Vector(repeating: 0))
    let density = exponential(x * x * Vector(repeating: -0.5)) * Vector(repeating: 0.398_942_28)
    return below.adding(x, times: density)
  }
}
