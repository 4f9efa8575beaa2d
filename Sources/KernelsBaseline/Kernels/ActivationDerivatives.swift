import KernelInterface

/// The derivative of an activation, in terms of what goes into it. At a kink it is 0, as PyTorch has it.
protocol DifferentiableFunction: ActivationFunction {
  static func derivative(_ x: Vector) -> Vector
}

extension Identity: DifferentiableFunction {
  @inline(__always)
  static func derivative(_ x: Vector) -> Vector { Vector(repeating: 1) }
}

extension ReLU: DifferentiableFunction {
  @inline(__always)
  static func derivative(_ x: Vector) -> Vector {
    Vector(repeating: 0).replacing(with: Vector(repeating: 1), where: x .> Vector(repeating: 0))
  }
}

extension ReLU6: DifferentiableFunction {
  @inline(__always)
  static func derivative(_ x: Vector) -> Vector {
    ReLU.derivative(x).replacing(with: Vector(repeating: 0), where: x .>= Vector(repeating: 6))
  }
}

extension SiLU: DifferentiableFunction {
  @inline(__always)
  static func derivative(_ x: Vector) -> Vector {
    // Beyond, the derivative is 0 to the last bit, but exp(-x) would be clamped while x grows.
    let x = x.raised(to: -88)
    let one = Vector(repeating: 1)
    let sigmoid = one / (one + negativeExponential(x))
    var slope = one
    slope.accumulate(x, one - sigmoid)
    return sigmoid * slope
  }
}

extension Sigmoid: DifferentiableFunction {
  @inline(__always)
  static func derivative(_ x: Vector) -> Vector {
    let sigmoid = apply(x)
    return sigmoid * (Vector(repeating: 1) - sigmoid)
  }
}

/// A loop that is compiled once for each activation and its derivative.
protocol DerivativeLoop {
  func run<Function: DifferentiableFunction>(_ function: Function.Type)
}

extension Activation {
  @inline(__always)
  func selectDerivative(_ loop: some DerivativeLoop) {
    switch self {
    case .identity: loop.run(Identity.self)
    case .relu: loop.run(ReLU.self)
    case .relu6: loop.run(ReLU6.self)
    case .silu: loop.run(SiLU.self)
    case .sigmoid: loop.run(Sigmoid.self)
    }
  }
}

private struct Derivatives: DerivativeLoop {
  let gradient: UnsafeMutablePointer<Float>
  let preActivation: UnsafePointer<Float>
  let rowCount: Int
  let columnCount: Int
  let rowStride: Int
  let factors: UnsafePointer<Float>?
  let offsets: UnsafePointer<Float>?

  @inline(__always)
  func run<Function: DifferentiableFunction>(_: Function.Type) {
    for r in 0..<rowCount {
      let row = gradient + r &* rowStride
      let arguments = preActivation + r &* rowStride
      forEachVector(columnCount) { c in
        var value = load(row + c)
        if let factors { value *= load(factors + c) }
        if let offsets { value += load(offsets + c) }
        store(value * Function.derivative(load(arguments + c)), row + c)
      }
    }
  }
}

func applyDerivative(
  _ gradient: UnsafeMutablePointer<Float>, _ preActivation: UnsafePointer<Float>, _ rowCount: Int,
  _ columnCount: Int, _ rowStride: Int, _ factors: UnsafePointer<Float>?, _ offsets: UnsafePointer<Float>?,
  _ activation: Activation
) {
  activation.selectDerivative(
    Derivatives(
      gradient: gradient, preActivation: preActivation, rowCount: rowCount, columnCount: columnCount,
      rowStride: rowStride, factors: factors, offsets: offsets))
}

private struct Products: ActivationLoop {
  let sums: UnsafeMutablePointer<Float>
  let gradient: UnsafePointer<Float>
  let preActivation: UnsafePointer<Float>
  let rowCount: Int
  let columnCount: Int
  let rowStride: Int

  @inline(__always)
  func run<Function: ActivationFunction>(_: Function.Type) {
    for r in 0..<rowCount {
      let row = gradient + r &* rowStride
      let arguments = preActivation + r &* rowStride
      forEachVector(columnCount) { c in
        var sum = load(sums + c)
        sum.accumulate(load(row + c), Function.apply(load(arguments + c)))
        store(sum, sums + c)
      }
    }
  }
}

func addProducts(
  _ sums: UnsafeMutablePointer<Float>, _ gradient: UnsafePointer<Float>,
  _ preActivation: UnsafePointer<Float>,
  _ rowCount: Int, _ columnCount: Int, _ rowStride: Int, _ activation: Activation
) {
  activation.select(
    Products(
      sums: sums, gradient: gradient, preActivation: preActivation, rowCount: rowCount,
      columnCount: columnCount, rowStride: rowStride))
}
