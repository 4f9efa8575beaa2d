import KernelInterface

/// exp(x) within 2e-7 relative for x in -87...88. Below, x is clamped; above, the caller does that.
///
/// x = n ln 2 + r with |r| <= ln 2 / 2; exp(r) by the polynomial of Cephes' expf, whose coefficients are minimax on
/// that interval. Adding 1.5 * 2^23 rounds to an integer and leaves it in the low bits, from where one shift makes
/// 2^n: a conversion to integers would be done lane by lane.
@inline(__always)
func exponential(_ x: Vector) -> Vector {
  let clamped = x.raised(to: -87)
  let magic = Vector(repeating: 12_582_912)
  var shifted = magic
  shifted.accumulate(clamped, Vector(repeating: 1.442_695_04))
  let n = shifted - magic
  var r = clamped
  r.accumulate(n, Vector(repeating: -0.693_359_375))
  r.accumulate(n, Vector(repeating: 2.121_944_4e-4))
  var p = Vector(repeating: 1.398_199_950_7e-3)
  p.accumulate(Vector(repeating: 1.987_569_150_0e-4), r)
  p = p.horner(r, 8.333_451_907_3e-3)
  p = p.horner(r, 4.166_579_589_4e-2)
  p = p.horner(r, 1.666_666_545_9e-1)
  p = p.horner(r, 5.000_000_120_1e-1)
  var result = r + Vector(repeating: 1)
  result.accumulate(p, r * r)
  let bits = unsafeBitCast(shifted, to: VectorBits.self) &<< VectorBits(repeating: 23)
  let scaled = unsafeBitCast(result, to: VectorBits.self) &+ bits
  return unsafeBitCast(scaled, to: Vector.self)
}

extension Vector {
  /// `self * x + c`
  @inline(__always)
  fileprivate func horner(_ x: Vector, _ c: Float) -> Vector {
    var result = Vector(repeating: c)
    result.accumulate(self, x)
    return result
  }

  // Comparisons must be those of the concrete type: in generic code they are done lane by lane. Each of these is one
  // maximum or minimum instruction, in the order of operands that keeps NaN.

  @inline(__always)
  func raised(to low: Float) -> Vector {
    let low = Vector(repeating: low)
    return replacing(with: low, where: self .< low)
  }

  @inline(__always)
  func lowered(to high: Float) -> Vector {
    let high = Vector(repeating: high)
    return replacing(with: high, where: self .> high)
  }
}

/// An activation as a type, so that a kernel is compiled once for each: the compiler does not inline closures
/// through the loops of a kernel.
protocol ActivationFunction {
  static func apply(_ x: Vector) -> Vector
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
    return x / (Vector(repeating: 1) + exponential(-x))
  }
}

enum Sigmoid: ActivationFunction {
  @inline(__always)
  static func apply(_ x: Vector) -> Vector {
    Vector(repeating: 1) / (Vector(repeating: 1) + exponential(-x.raised(to: -88)))
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
