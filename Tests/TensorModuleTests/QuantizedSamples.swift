import KernelInterface
import ReferenceLayers
import TensorModule

/// Weights, levels and what they give, computed one number at a time.
enum QuantizedSamples {
  /// Levels of both signs that keep to the rule of pairs, the largest ones among them.
  static func weight(
    outputs: Int, depth: Int, keepsPairs: Bool, _ generator: inout SeededGenerator
  ) -> QuantizedWeight {
    var levels: [Int8] = []
    for _ in 0..<outputs {
      for k in 0..<depth {
        let drawn = Int.random(in: -127...127, using: &generator)
        guard keepsPairs, k % 2 == 1, let before = levels.last.map(Int.init) else {
          levels.append(Int8(drawn))
          continue
        }
        // The neighbour's sign, as large as it may be, every other time.
        let rest = before < 0 ? -128 - before : 128 - before
        let largest = Int8(max(min(rest, 127), -127))
        levels.append(drawn % 2 == 0 ? largest : drawn < 0 && before > 0 ? Int8(drawn) : largest / 3)
      }
    }
    return QuantizedWeight(
      levels: levels, scale: generator.floats(outputs, in: 0.001...0.02),
      bias: generator.floats(outputs, scale: 2))
  }

  /// Whole numbers of 0...255, both ends often.
  static func levels(_ count: Int, _ generator: inout SeededGenerator) -> [Int] {
    (0..<count).map { _ in
      switch Int.random(in: 0..<6, using: &generator) {
      case 0: 255
      case 1: 0
      default: Int.random(in: 0...255, using: &generator)
      }
    }
  }

  /// The level of a value; `factor` is one over the step.
  static func level(
    _ value: Float, factor: Float, zeroPoint: Int = 0, limits: ClosedRange<Int> = 0...255
  ) -> Int {
    let level = (Double(value * factor) + Double(zeroPoint)).rounded(.toNearestOrEven)
    return Int(max(min(level, Double(limits.upperBound)), Double(limits.lowerBound)))
  }

  /// The bias in steps of the sums, less the share of the input's zero point.
  static func wholeBias(_ weight: QuantizedWeight, input: Quantization, output: Int) -> Int {
    let steps = (Double(weight.bias[output]) / (Double(input.scale) * Double(weight.scale[output])))
      .rounded(.toNearestOrEven)
    let total = (0..<weight.depth).reduce(0) { $0 + Int(weight.levels[output * weight.depth + $1]) }
    return Int(steps) - input.zeroPoint * total
  }

  /// The value of a step of a sum.
  static func step(_ weight: QuantizedWeight, input: Quantization, output: Int) -> Float {
    Float(Double(input.scale) * Double(weight.scale[output]))
  }

  /// `[rows, outputs]`: sums of `[rows, depth]` levels.
  static func sums(_ a: [Int], _ weight: QuantizedWeight, input: Quantization) -> [Int] {
    let depth = weight.depth
    return (0..<a.count / depth).flatMap { row in
      weight.scale.indices.map { output in
        (0..<depth).reduce(wholeBias(weight, input: input, output: output)) {
          $0 + a[row * depth + $1] * Int(weight.levels[output * depth + $1])
        }
      }
    }
  }

  /// The words of `[rows, depth]` levels, as the kernels read them, each row `wordStride` words long.
  static func words(_ levels: [Int], depth: Int, wordStride: Int, kernels: KernelSet) -> [Int32] {
    let perWord = kernels.products.int8.valuesPerWord
    let bits = 32 / perWord
    var words = [UInt32](repeating: 0, count: levels.count / depth * wordStride)
    for (place, level) in levels.enumerated() {
      let (row, k) = place.quotientAndRemainder(dividingBy: depth)
      let value =
        UInt32(truncatingIfNeeded: level - kernels.products.int8.levelOffset) & (1 << UInt32(bits) - 1)
      words[row * wordStride + k / perWord] |= value << UInt32(k % perWord * bits)
    }
    return words.map { Int32(bitPattern: $0) }
  }
}
