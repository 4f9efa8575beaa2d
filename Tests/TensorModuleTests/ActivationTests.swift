import KernelInterface
import ReferenceLayers
import SystemModule
import Testing

@testable import TensorModule

@Suite struct ActivationTests {
  /// Runs the kernel over values of any number.
  private func apply(_ activation: Activation, to values: [Float], kernels: KernelSet) -> [Float] {
    let count = values.count.roundedUp(toMultipleOf: kernels.vectorWidth)
    let buffer = GuardedBuffer(values + [Float](repeating: 0, count: count - values.count))
    kernels.activate(ActivationPass(values: buffer.pointer, count: count, activation: activation))
    #expect(buffer.firstBrokenGuard == nil)
    return Array(buffer.values[..<values.count])
  }

  /// Every 4093rd Float32 from the smallest normal to the largest, of both signs, and those around the bounds between
  /// which exp is computed.
  private static let sweep: [Float] = {
    var values: [Float] = []
    for bits in stride(from: Float.leastNormalMagnitude.bitPattern, to: Float.infinity.bitPattern, by: 4093) {
      values.append(Float(bitPattern: bits))
      values.append(-Float(bitPattern: bits))
    }
    for bound: Float in [0.5, 1, 16.6355, 17, 86.9, 87, 87.3, 87.5, 88, 88.7, 89, 103, 104] {
      for step in -500...500 {
        let value = Float(bitPattern: UInt32(Int(bound.bitPattern) + step))
        values += [value, -value]
      }
    }
    return values + [Float.greatestFiniteMagnitude, -Float.greatestFiniteMagnitude, .leastNormalMagnitude]
  }()

  /// Below it the true values of SiLU and sigmoid leave the range in which exp is computed; they are below 1e-36.
  private static let accurateFrom: Float = -87.5

  @Test(arguments: KernelChoice.runnable, [Activation.silu, .sigmoid])
  func smoothActivationsAreAccurateEverywhere(kernels: KernelSet, activation: Activation) throws {
    let results = apply(activation, to: Self.sweep, kernels: kernels)
    let worst = ActivationError.largest(
      of: results, at: Self.sweep, activation: activation.reference, accurateFrom: Double(Self.accurateFrom))
    #expect(worst.relative <= Tolerances.activationRelative, "at \(worst.argument)")
    #expect(worst.absoluteBelow <= 1e-36, "at \(worst.argumentBelow)")
  }

  @Test(arguments: KernelChoice.runnable, [Activation.identity, .relu, .relu6])
  func piecewiseActivationsAreExact(kernels: KernelSet, activation: Activation) {
    let expected = Self.sweep.map { Float(activation.reference(Double($0))) }
    #expect(firstDifference(apply(activation, to: Self.sweep, kernels: kernels), expected) == nil)
  }

  @Test(arguments: KernelChoice.runnable, [Activation.hardSwish, .hardSigmoid])
  func hardActivationsFollowTheirFormulas(kernels: KernelSet, activation: Activation) {
    let results = apply(activation, to: Self.sweep, kernels: kernels)
    let departing = Self.sweep.indices.first { index in
      let x = Double(Self.sweep[index])
      // x + 3 rounds, then the product.
      let bound = 3e-7 * (activation == .hardSwish ? abs(x) : 1)
      return !(abs(Double(results[index]) - activation.reference(x)) <= bound)
    }
    if let departing { Issue.record("of \(Self.sweep[departing]): \(results[departing])") }
  }

  /// To 1e-6, or a rounding of the value where it is large.
  @Test(arguments: KernelChoice.runnable)
  func geluFollowsTheErrorFunction(kernels: KernelSet) {
    let values = Self.sweep + (-80_000...80_000).map { Float($0) * 1e-4 }
    let results = apply(.gelu, to: values, kernels: kernels)
    let departing = values.indices.first { index in
      let expected = ReferenceActivation.gelu(Double(values[index]))
      return !(abs(Double(results[index]) - expected) <= 6e-7 * max(1, abs(expected)))
    }
    if let departing { Issue.record("of \(values[departing]): \(results[departing])") }
  }

  @Test(arguments: KernelChoice.runnable)
  func zerosAndInfinitiesGiveTheLimits(kernels: KernelSet) {
    let values: [Float] = [0, -0.0, .infinity, -.infinity]
    #expect(apply(.identity, to: values, kernels: kernels).map(\.bitPattern) == values.map(\.bitPattern))
    #expect(apply(.relu, to: values, kernels: kernels) == [0, 0, .infinity, 0])
    #expect(apply(.relu6, to: values, kernels: kernels) == [0, 0, 6, 0])
    let silu = apply(.silu, to: values, kernels: kernels)
    #expect(silu[0].bitPattern == Float(0).bitPattern && silu[1].bitPattern == (-Float(0)).bitPattern)
    #expect(silu[2] == .infinity && silu[3] <= 0 && silu[3] > -1e-36)
    let sigmoid = apply(.sigmoid, to: values, kernels: kernels)
    #expect(sigmoid[0] == 0.5 && sigmoid[1] == 0.5 && sigmoid[2] == 1)
    #expect(sigmoid[3] >= 0 && sigmoid[3] < 1e-36)
    let gelu = apply(.gelu, to: values, kernels: kernels)
    #expect(gelu[0] == 0 && gelu[1] == 0 && gelu[2] == .infinity && gelu[3] <= 0 && gelu[3] > -1e-20)
  }

  /// A network that computes NaN must show it. Both signs: CPUs make the negative one.
  @Test(arguments: KernelChoice.runnable, Activation.allCases)
  func notANumberStaysNotANumber(kernels: KernelSet, activation: Activation) {
    let results = apply(activation, to: [.nan, 1, -.nan, -1], kernels: kernels)
    #expect(results[0].isNaN && results[2].isNaN, "\(results)")
    #expect(results[1].isFinite && results[3].isFinite, "\(results)")
  }

  @Test(arguments: KernelChoice.runnable, [Activation.silu, .sigmoid])
  func denormalsActAsZero(kernels: KernelSet, activation: Activation) {
    let results = apply(
      activation, to: [.leastNonzeroMagnitude, -.leastNonzeroMagnitude], kernels: kernels)
    let atZero: Float = activation == .silu ? 0 : 0.5
    #expect(results.allSatisfy { abs($0 - atZero) <= .leastNonzeroMagnitude })
  }
}
