import KernelInterface
import ReferenceLayers
import Testing

@testable import TensorModule

@Suite struct ExactGridTests {
  @Test(arguments: [1, 2.64, 6, 8, 0.03, 1000] as [Float])
  func aGridHasAboutAsManyStepsAsItsSumsAllow(limit: Float) {
    let grid = ExactGrid(limit: limit)
    #expect(grid.step.significand == 1)
    #expect(limit / grid.step <= 4096 && limit / grid.step > 2048)
  }

  /// The largest sums that the weights allow are exact in whatever order, and the weights hardly changed.
  @Test(arguments: [9, 27, 32, 1], [6, 2.64] as [Float])
  func theLargestSumsAreExact(count: Int, limit: Float) {
    let grid = ExactGrid(limit: limit)
    let greatest = (limit / grid.step).rounded(.down) * grid.step
    var generator = SeededGenerator(seed: UInt64(count))
    let weight = generator.floats(8 * count, scale: 0.7)
    let bias = generator.floats(8, scale: 3)
    let fitted = grid.fitted(weight: weight, bias: bias)
    for output in 0..<8 {
      let row = Array(fitted.weight[output * count..<(output + 1) * count])
      let terms = row.map { abs($0) * greatest } + [abs(fitted.bias[output])]
      let exact = terms.reduce(0) { $0 + Double($1) }
      #expect(Double(terms.reduce(0, +)) == exact && Double(terms.reversed().reduce(0, +)) == exact)
      let total = weight[output * count..<(output + 1) * count].reduce(0) { $0 + abs($1) }
      for (k, value) in row.enumerated() {
        #expect(abs(value - weight[output * count + k]) <= max(total, abs(bias[output]) / limit) / 1024)
      }
      #expect(abs(fitted.bias[output] - bias[output]) <= 0.002)
    }
  }

  @Test func aLayerOfZerosStaysOne() {
    let fitted = ExactGrid.relu6.fitted(weight: [0, -0.0, 0, 0], bias: [0, 1.5])
    #expect(fitted.weight.allSatisfy { $0 == 0 } && fitted.bias == [0, 1.5])
  }

  @Test(arguments: KernelChoice.runnable, [1, 15, 16, 37, 130])
  func valuesAreRoundedToTheNearestStep(kernels: KernelSet, count: Int) {
    let grid = ExactGrid.relu6
    var generator = SeededGenerator(seed: UInt64(count))
    var values = generator.floats(count, scale: 6)
    let awkward: [Float] = [0, -0.0, 6, -6, grid.step / 2, grid.step * 1.5, -grid.step / 2, 0x1p-140]
    for (place, value) in awkward.enumerated() where place < count { values[count - 1 - place] = value }
    let buffer = GuardedBuffer(values)
    kernels.round(RoundingPass(values: buffer.pointer, count: count, magic: 12_582_912 * grid.step))
    let expected = values.map {
      Float((Double($0) / Double(grid.step)).rounded(.toNearestOrEven)) * grid.step
    }
    #expect(zip(buffer.values, expected).allSatisfy { $0 == $1 }, "\(buffer.values) for \(expected)")
    #expect(buffer.firstBrokenGuard == nil)
  }

  @Test(arguments: [1, 7, 8, 9, 130])
  func anExactDenseLayerRoundsOnce(inputs: Int) {
    var generator = SeededGenerator(seed: UInt64(inputs))
    let weight = generator.floats(5 * inputs)
    let bias = generator.floats(5)
    let x = generator.floats(inputs, scale: 4)
    let found = KernelChoice.runnable.map {
      Dense(weight: weight, bias: bias, isExact: true, kernels: $0)(x)
    }
    for output in 0..<5 {
      let sum = (0..<inputs).reduce(Double(bias[output])) {
        $0 + Double(x[$1]) * Double(weight[output * inputs + $1])
      }
      #expect(abs(Double(found[0][output]) - sum) <= abs(sum) * 1e-7 + 1e-12)
    }
    #expect(found.allSatisfy { $0 == found[0] })
  }
}
