import KernelInterface
import ReferenceLayers
import SystemModule
import Testing

@testable import TensorModule

/// Products of 8-bit integers, which have one right answer to the bit.
@Suite struct QuantizedMatrixTests {
  static let rowCounts = [1, 2, 5, 6, 7, 11, 12, 13, 37]
  static let depths = [1, 2, 3, 4, 5, 16, 23, 144]
  static let columnCounts = [1, 7, 8, 9, 16, 17, 19, 24, 33, 40, 56, 112]
  static let input = Quantization(scale: 0.043, zeroPoint: 113)

  /// The end of the sums. Only activations are tried for which a sum has one right answer to the bit.
  private struct Ending {
    var activation = Activation.identity
    /// A step of the output's levels; nil for values.
    var outputScale: Float?
    var limits = 0...255
  }

  /// The instruction sets share the reference, which takes most of the time.
  @Test(arguments: columnCounts) func equalsSumsOfWholeNumbers(columnCount: Int) throws {
    let endings = [
      Ending(), Ending(outputScale: 0.037), Ending(activation: .relu6), Ending(activation: .relu),
      Ending(outputScale: 0.37, limits: -131...124),
      Ending(activation: .relu, outputScale: 0.0021, limits: -2047...2047),
    ]
    for (i, depth) in Self.depths.enumerated() {
      for (j, rowCount) in Self.rowCounts.enumerated() {
        try check(
          rowCount: rowCount, depth: depth, columnCount: columnCount,
          ending: endings[(i + j) % endings.count], hasResidual: j % 2 == 0)
      }
    }
  }

  private func check(
    rowCount: Int, depth: Int, columnCount: Int, ending: Ending, hasResidual: Bool
  ) throws {
    let seed = UInt64(rowCount * 1_000_000 + depth * 1000 + columnCount)
    var generator = SeededGenerator(seed: seed)
    let weight = QuantizedSamples.weight(
      outputs: columnCount, depth: depth, keepsPairs: true, &generator)
    let levels = QuantizedSamples.levels(rowCount * depth, &generator)
    let isResidualAdded = hasResidual && ending.outputScale == nil
    let residual = generator.floats(rowCount * columnCount, scale: 4)
    let hasActivation = ending.activation != .identity
    let sums = QuantizedSamples.sums(levels, weight, input: Self.input)
    let expected = sums.indices.map { place in
      let step = QuantizedSamples.step(weight, input: Self.input, output: place % columnCount)
      if let outputScale = ending.outputScale, !hasActivation {
        let factor = Float(Double(step) / Double(outputScale))
        return Float(QuantizedSamples.level(Float(sums[place]), factor: factor, limits: ending.limits))
      }
      let sum = Float(sums[place]) * step + (isResidualAdded ? residual[place] : 0)
      let value =
        switch ending.activation {
        case .relu: max(sum, 0)
        case .relu6: min(max(sum, 0), 6)
        default: sum
        }
      return ending.outputScale.map {
        Float(QuantizedSamples.level(value, factor: 1 / $0, limits: ending.limits))
      } ?? value
    }
    for kernels in KernelChoice.runnable {
      let context: Comment =
        "\(kernels.testDescription), \(rowCount) x \(depth) by \(columnCount), \(ending), seed \(seed)"
      // Without an activation the step of the levels is part of the matrix.
      let matrix = try #require(
        PackedMatrix(
          weight, input: Self.input, outputScale: hasActivation ? nil : ending.outputScale, kernels: kernels))
      // Words beyond the depth's are multiplied by zeros, those beyond the row's are not read.
      let valuesPerWord = kernels.products.int8.valuesPerWord
      let wordCount = (depth + valuesPerWord - 1) / valuesPerWord
      let words = QuantizedSamples.words(levels, depth: depth, wordStride: wordCount + 2, kernels: kernels)
      let shape = FeatureShape(height: rowCount, width: 1, channels: columnCount)
      let output = GuardedMap(shape, kernels: kernels)
      let added = GuardedMap(residual, shape, kernels: kernels)
      words.withUnsafeBufferPointer { words in
        matrix.multiply(
          a: words.baseAddress!, aStride: wordCount + 2, rowCount: rowCount, into: output.map.pointer,
          cStride: output.map.pixelStride, activation: ending.activation,
          levels: ending.outputScale.map {
            MatrixProduct.Levels(
              factor: hasActivation ? 1 / $0 : 1, least: Float(ending.limits.lowerBound),
              greatest: Float(ending.limits.upperBound))
          }, residual: isResidualAdded ? UnsafePointer(added.map.pointer) : nil)
      }
      #expect(firstDifference(output.dense(), expected) == nil, context)
      #expect(output.isIntact && added.isIntact, context)
    }
  }

  /// Sums of 16 bits must not overflow where two products of neighbours are largest, nor where all are.
  @Test(arguments: KernelChoice.runnable)
  func theLargestProductsAreExact(kernels: KernelSet) throws {
    for pair: [Int8] in [[64, 64], [-64, -64], [127, 1], [1, 127], [-127, -1], [127, -127], [-128, 0]] {
      let depth = 2112
      let levels = (0..<depth).map { pair[$0 % 2] }
      let input = Quantization(scale: 1, zeroPoint: 0)
      let matrix = try #require(
        PackedMatrix(
          QuantizedWeight(levels: levels, scale: [1], bias: [0]), input: input, kernels: kernels))
      let words = QuantizedSamples.words(
        [Int](repeating: 255, count: depth), depth: depth,
        wordStride: depth / kernels.products.int8.valuesPerWord,
        kernels: kernels)
      let output = GuardedBuffer(count: kernels.vectorWidth)
      words.withUnsafeBufferPointer {
        matrix.multiply(
          a: $0.baseAddress!, aStride: $0.count, rowCount: 1, into: output.pointer,
          cStride: kernels.vectorWidth)
      }
      let sum = levels.reduce(0) { $0 + 255 * Int($1) }
      #expect(output.values[0] == Float(sum), "\(kernels.testDescription), \(pair)")
    }
  }

  /// Every place of a row is looked at, but not the neighbours of two rows, nor the last one of an odd number.
  @Test(arguments: [2, 3, 16, 17, 31, 32, 37, 48])
  func neighboursPastALimitAreFoundAnywhere(depth: Int) {
    func hasSmallPairs(_ pair: (Int8, Int8), at place: Int) -> Bool {
      var levels = [Int8](repeating: -1, count: 3 * depth)
      (levels[place], levels[place + 1]) = pair
      return QuantizedWeight(levels: levels, scale: [1, 1, 1], bias: [0, 0, 0]).hasSmallPairs
    }
    for place in 0..<3 * depth - 1 {
      let areNeighbours = place % depth % 2 == 0 && place % depth + 1 < depth
      for pair: (Int8, Int8) in [(64, 65), (-127, -2), (2, 127), (-64, -65)] {
        #expect(hasSmallPairs(pair, at: place) != areNeighbours, "\(pair) at \(place) of rows of \(depth)")
      }
      for pair: (Int8, Int8) in [(64, 64), (-127, -1), (127, -127), (-126, 127)] {
        #expect(hasSmallPairs(pair, at: place), "\(pair) at \(place) of rows of \(depth)")
      }
    }
  }

  @Test(arguments: KernelChoice.runnable)
  func sumsThatLeaveTheWholeNumbersAreRefused(kernels: KernelSet) {
    let input = Quantization(scale: 1e-6, zeroPoint: 0)
    for (bias, isUsable) in [(Float(2000), true), (2200, false), (-2200, false), (.infinity, false)] {
      let weight = QuantizedWeight(levels: [100, 100], scale: [1e-6 * 1e6, 1], bias: [1, bias])
      #expect((PackedMatrix(weight, input: input, kernels: kernels) != nil) == isUsable, "\(bias)")
    }
  }

  /// Halves, negative numbers, and numbers far outside.
  @Test(arguments: KernelChoice.runnable, [0, 1, 113, 255])
  func levelsAreTheNearestWholeNumbers(kernels: KernelSet, zeroPoint: Int) {
    let width = kernels.vectorWidth
    for vectors in [1, 2, 3, 4, 5, 7, 8] {
      let (rowCount, columnCount) = (3, vectors * width)
      let seed = UInt64(vectors * 1000 + zeroPoint)
      var generator = SeededGenerator(seed: seed)
      let factors = generator.floats(columnCount, in: 0.5...40)
      var values = generator.floats(rowCount * columnCount, scale: 9)
      let awkward: [Float] = [
        0, -0.0, 1e30, -1e30, .infinity, -.infinity, 0.5, 1.5, 2.5, -0.5, 254.5, 255.5, 0x1p-130, -12_582_912,
        4_194_304,
      ]
      for (place, value) in awkward.enumerated() where place * 5 < values.count {
        values[place * 5] = value / factors[place * 5 % columnCount]
      }
      let wordStride = columnCount / kernels.products.int8.valuesPerWord + 3
      let words = GuardedBuffer(count: rowCount * wordStride)
      values.withPointer { values in
        factors.withPointer {
          kernels.products.int8.pack!(
            PackingPass(
              values: values, valueStride: columnCount, rowCount: rowCount, columnCount: columnCount,
              words: UnsafeMutableRawPointer(words.pointer).assumingMemoryBound(to: Int32.self),
              wordStride: wordStride, factors: $0, zeroPoint: Float(zeroPoint)))
        }
      }
      let levels = values.indices.map {
        QuantizedSamples.level(values[$0], factor: factors[$0 % columnCount], zeroPoint: zeroPoint)
      }
      let expected = QuantizedSamples.words(
        levels, depth: columnCount, wordStride: wordStride, kernels: kernels)
      let context: Comment = "\(kernels.testDescription), \(vectors) vectors, zero \(zeroPoint), seed \(seed)"
      let poison = Int32(bitPattern: GuardedBuffer.poison.bitPattern)
      for (place, word) in words.values.map({ Int32(bitPattern: $0.bitPattern) }).enumerated() {
        let isWritten = place % wordStride < wordStride - 3
        if word != (isWritten ? expected[place] : poison) {
          Issue.record("\(context): word \(place) is \(word) for \(isWritten ? expected[place] : poison)")
          break
        }
      }
      #expect(words.firstBrokenGuard == nil, context)
    }
  }
}
