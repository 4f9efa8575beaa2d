import KernelInterface

/// 1 + exp(-x) within 2e-7 relative for x in -88...87. Above, x is clamped; below, the caller does that.
///
/// -x = n ln 2 + r with |r| <= ln 2 / 2, and exp(r) = 1 + r * q(r), q of degree 4 with the least relative error on that
/// interval (9.4e-8). Adding 1.5 * 2^23 rounds to an integer and leaves it in the low bits: a conversion to integers
/// would be done lane by lane. With 127 more, one shift makes 2^n of them.
@inline(__always)
func onePlusNegativeExponential(_ x: Vector) -> Vector {
  let clamped = x.lowered(to: 87)
  let magic = Vector(repeating: 12_582_912 + 127)
  let shifted = magic.adding(clamped, times: -1.442_695_04)
  let n = shifted - magic
  // s is -r, so that x need not be negated; the signs of q alternate instead.
  #if KERNEL_AVX512 || KERNEL_AVX2 || arch(arm64)
    let s = clamped.adding(n, times: 0.693_147_18)
  #else
    // Without a fused product ln 2 comes in two parts, the first short enough for n times it to be exact.
    let s = clamped.adding(n, times: 0.693_359_375).adding(n, times: -2.121_944_4e-4)
  #endif
  var q = Vector(repeating: 0.041_898_85).adding(s, times: -0.008_290_145)
  q = Vector(repeating: -0.166_676_45).adding(q, times: s)
  q = Vector(repeating: 0.499_991_42).adding(q, times: s)
  q = Vector(repeating: -0.999_999_7).adding(q, times: s)
  let exponential = Vector(repeating: 1).adding(q, times: s)
  let power = unsafeBitCast(shifted, to: VectorBits.self) &<< VectorBits(repeating: 23)
  return Vector(repeating: 1).adding(exponential, times: unsafeBitCast(power, to: Vector.self))
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
    // Clamped before the division too: beyond, exp(-x) no longer grows, and the quotient would run off to -infinity.
    let x = x.raised(to: -88)
    return x / onePlusNegativeExponential(x)
  }
}

enum Sigmoid: ActivationFunction {
  @inline(__always)
  static func apply(_ x: Vector) -> Vector {
    Vector(repeating: 1) / onePlusNegativeExponential(x.raised(to: -88))
  }
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
    }
  }
}
