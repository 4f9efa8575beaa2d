import KernelInterface

extension DerivativePass: ActivationLoop {
  @inline(__always)
  func run<Function: ActivationFunction>(_: Function.Type) {
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

func applyDerivative(_ pass: DerivativePass) { pass.activation.select(pass) }

extension ProductSum: ActivationLoop {
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

func addProducts(_ sum: ProductSum) { sum.activation.select(sum) }
