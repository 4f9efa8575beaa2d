import CBuiltins
import KernelInterface

func scaleColumns(_ scaling: ColumnScaling) {
  let factors = scaling.factors
  for r in 0..<scaling.rowCount {
    let row = scaling.matrix + r &* scaling.rowStride
    forEachVector(scaling.columnCount) { c in store(load(row + c) * load(factors + c), row + c) }
  }
}

func scaleRows(_ scaling: RowScaling) {
  for r in 0..<scaling.rowCount {
    let factor = Vector(repeating: scaling.factors[r])
    let input = scaling.matrix + r &* scaling.columnCount
    let output = scaling.output + r &* scaling.columnCount
    forEachVector(scaling.columnCount) { c in store(load(input + c) * factor, output + c) }
  }
}

func addRows(_ sum: RowSum) {
  let sums = sum.sums
  for r in 0..<sum.rowCount {
    let row = sum.matrix + r &* sum.rowStride
    forEachVector(sum.columnCount) { c in store(load(sums + c) + load(row + c), sums + c) }
  }
}

extension ActivationPass: ActivationLoop {
  @inline(__always)
  func run<Function: ActivationFunction>(_: Function.Type) {
    forEachVector(count) { i in store(Function.apply(load(values + i)), values + i) }
  }
}

func activate(_ pass: ActivationPass) { pass.activation.select(pass) }

func round(_ pass: RoundingPass) {
  let whole = pass.count / Vector.scalarCount &* Vector.scalarCount
  let magic = Vector(repeating: pass.magic)
  forEachVector(whole) { i in store((load(pass.values + i) + magic) - magic, pass.values + i) }
  for i in whole..<pass.count { pass.values[i] = (pass.values[i] + pass.magic) - pass.magic }
}

/// Twelve chains hide the latency of two multiply-adds a cycle on every CPU so far.
func peakProbe(_ repetitions: Int) -> Int {
  var sums = InlineArray<12, Vector>(repeating: Vector(repeating: 0))
  for i in 0..<12 { sums[i] = Vector(repeating: Float(i)) }
  let factor = Vector(repeating: Float(repetitions) * 1e-9)
  for _ in 0..<repetitions {
    for i in 0..<12 { sums[i].accumulate(sums[i], factor) }
  }
  var total = Vector(repeating: 0)
  for i in 0..<12 { total += sums[i] }
  // The sum is used, so that the loop is not removed.
  return total[0].isNaN ? 0 : repetitions &* 12 &* 2 &* Vector.scalarCount
}

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

extension SlopePass: ActivationLoop {
  @inline(__always)
  func run<Function: ActivationFunction>(_: Function.Type) {
    for r in 0..<rowCount {
      let row = values + r &* columnCount
      let slopes = slopes + r &* slopeStride
      forEachVector(columnCount) { c in
        let value = load(row + c)
        store_streamed(Function.derivative(value), slopes + c)
        store(Function.apply(value), row + c)
      }
    }
  }
}

func activateKeepingSlopes(_ pass: SlopePass) {
  pass.activation.select(pass)
  finish_streamed_stores()
}

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

extension MaskPass {
  /// Calls `body` with each vector's values and bits.
  @inline(__always)
  fileprivate func visit(_ body: (UnsafeMutablePointer<Float>, UnsafeMutableRawPointer) -> Void) {
    for r in 0..<rowCount {
      let row = values + r &* rowStride
      var bits = bits + r &* bitStride
      forEachVector(columnCount) { c in
        body(row + c, bits)
        bits += MemoryLayout<LaneBits>.size
      }
    }
  }
}

func writeMask(_ pass: MaskPass) {
  let limit = Vector(repeating: pass.limit)
  pass.visit { values, bits in
    bits.storeBytes(of: load(values).bits(above: Vector(repeating: 0), below: limit), as: LaneBits.self)
  }
}

func applyMask(_ pass: MaskPass) {
  pass.visit { values, bits in
    store(load(values) * Vector(onesAt: bits.loadUnaligned(as: LaneBits.self)), values)
  }
}
