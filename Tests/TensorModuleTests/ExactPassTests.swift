import KernelInterface
import ReferenceLayers
import Testing

@testable import TensorModule

/// Activations in a fixed order: against the same operations one number at a time, to the bit, and near the true ones.
@Suite struct ExactPassTests {
  /// Each operation rounded to Float, as Python's `model/exact.py` has them.
  private static func activated(_ x: Float, _ activation: Activation) -> Float {
    switch activation {
    case .identity: x
    case .relu: x < 0 ? 0 : x
    case .relu6: x < 0 ? 0 : min(x, 6)
    case .silu: x / onePlusExponential(x)
    case .sigmoid: 1 / onePlusExponential(x)
    case .hardSwish: x * (min(max(x + 3, 0), 6) * (1 / 6 as Float))
    case .hardSigmoid: min(max(x + 3, 0), 6) * (1 / 6 as Float)
    case .gelu: preconditionFailure("GELU has no fixed order")
    }
  }

  private static func onePlusExponential(_ x: Float) -> Float {
    let exponent = min(max(x * -1.442_695, -60), 60)
    let shifted = exponent + 12_582_912
    let rest = exponent - (shifted - 12_582_912)
    let slope = rest * 0.238_428_86 + 0.703_448_24
    let power = slope * rest + 1.000_443_2
    return Float(bitPattern: power.bitPattern &+ shifted.bitPattern << 23) + 1
  }

  private static let awkward: [Float] = [
    0, -0.0, 1e30, -1e30, 0.5, -0.5, 3, -3, 6, 41.588_83, -41.588_83, 41.6, -41.6, 0x1p-126, 1e-20, 20, -20,
  ]

  @Test(arguments: KernelChoice.runnable, Activation.allCases.filter { $0 != .gelu })
  func everyMachineGivesTheSameBits(kernels: KernelSet, activation: Activation) {
    for (rowCount, vectors) in [(1, 1), (2, 3), (3, 1), (4, 2), (5, 1), (8, 1), (11, 2), (33, 1)] {
      for hasScales in [true, false] {
        let levels = MatrixProduct.Levels(factor: 1 / 0.0173, least: -2047, greatest: 2047)
        for levels in [nil, levels] {
          check(
            kernels, activation, rowCount: rowCount, vectors: vectors, hasScales: hasScales, levels: levels)
        }
      }
    }
  }

  private func check(
    _ kernels: KernelSet, _ activation: Activation, rowCount: Int, vectors: Int, hasScales: Bool,
    levels: MatrixProduct.Levels?
  ) {
    let seed = UInt64(rowCount * 100 + vectors)
    let context: Comment =
      "\(kernels.testDescription), \(activation), \(rowCount) rows of \(vectors) vectors, seed \(seed)"
    var generator = SeededGenerator(seed: seed)
    let columns = vectors * kernels.vectorWidth
    let (valueStride, outputStride) = (columns + 3, columns + kernels.vectorWidth)
    let scales = generator.floats(columns, in: 0.1...3)
    let stored = GuardedBuffer(scales)
    var values = generator.floats(rowCount * valueStride, scale: 12)
    for (place, value) in Self.awkward.enumerated() where place * 3 < values.count {
      values[place * 3] = value
    }
    let before = generator.floats(columns, scale: 1000).map { Int32($0) }
    let output = GuardedBuffer(count: rowCount * outputStride)
    var sums = before
    sums.withUnsafeMutableBufferPointer { sums in
      values.withPointer {
        kernels.activateExactly(
          ExactPass(
            values: $0, valueStride: valueStride, output: output.pointer, outputStride: outputStride,
            rowCount: rowCount, columnCount: columns, scales: hasScales ? stored.pointer : nil,
            activation: activation, levels: levels, sums: levels == nil ? nil : sums.baseAddress))
      }
    }
    var expected = output.values
    var totals = before
    for row in 0..<rowCount {
      for column in 0..<columns {
        let scale = hasScales ? scales[column] : 1
        var x = Self.activated(values[row * valueStride + column] * scale, activation)
        if let levels {
          // No level is a negative zero.
          let nearest = (x * levels.factor).rounded(.toNearestOrEven) + 0
          x = min(max(nearest, levels.least), levels.greatest)
          totals[column] += Int32(x)
        }
        expected[row * outputStride + column] = x
      }
    }
    for row in 0..<rowCount {
      let place = row * outputStride
      #expect(
        firstDifference(
          Array(output.values[place..<place + columns]), Array(expected[place..<place + columns])) == nil,
        context)
      let rest = output.values[place + columns..<place + outputStride]
      #expect(rest.allSatisfy { $0.bitPattern == GuardedBuffer.poison.bitPattern }, context)
    }
    if levels != nil { #expect(sums == totals, context) }
    #expect(output.firstBrokenGuard == nil, context)
  }

  @Test(arguments: KernelChoice.runnable, [Activation.silu, .sigmoid])
  func smoothActivationsAreNearTheTrueOnes(kernels: KernelSet, activation: Activation) {
    let values = (-8192..<8192).map { Float($0) / 200 }
    let output = GuardedBuffer(values)
    values.withPointer {
      kernels.activateExactly(
        ExactPass(
          values: $0, valueStride: kernels.vectorWidth, output: output.pointer,
          outputStride: kernels.vectorWidth, rowCount: values.count / kernels.vectorWidth,
          columnCount: kernels.vectorWidth, scales: nil, activation: activation))
    }
    let worst = zip(values, output.values).map { abs(Double($1) - activation.reference(Double($0))) }.max()
    #expect(worst ?? 1 < 0.0005, "\(kernels.testDescription)")
  }
}
