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
    let sigmoid = Sigmoid.apply(x)
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
