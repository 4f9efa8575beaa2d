import KernelInterface
import ReferenceLayers
import SystemModule
import Testing

@testable import TensorModule

@Suite struct DenseTests {
  @Test(arguments: KernelChoice.runnable, [(1, 1), (3, 7), (32, 9), (56, 256), (300, 7)])
  func equalsTheReference(kernels: KernelSet, size: (Int, Int)) {
    for activation in Activation.allCases {
      let seed = UInt64(size.0)
      var generator = SeededGenerator(seed: seed)
      let weight = generator.floats(size.0 * size.1)
      let bias = generator.floats(size.1)
      let x = generator.floats(size.0, scale: 3)
      let result = Dense(weight: weight, bias: bias, activation: activation, kernels: kernels)(x)
      let expected = ReferenceMap(vector: x).pointwise(weight: weight, bias: bias)
        .activated(activation.reference)
      #expect(
        expected.mismatch(result, factor: Tolerances.matrixProduct) == nil, "\(activation), seed \(seed)")
    }
  }
}

@Suite struct LayerNormalizationTests {
  @Test(arguments: [1, 2, 7, 32, 256])
  func equalsTheReference(count: Int) {
    let seed = UInt64(count)
    var generator = SeededGenerator(seed: seed)
    let scale = generator.floats(count, scale: 2)
    let offset = generator.floats(count)
    // Far from zero, so that a variance from squares would cancel.
    let x = generator.floats(count, in: 99...101)
    let result = LayerNormalization(scale: scale, offset: offset, epsilon: 1e-5)(x)
    let expected = Reference.layerNormalized(
      x.map(Double.init), scale: scale.map(Double.init), offset: offset.map(Double.init), epsilon: 1e-5)
    for i in x.indices {
      #expect(
        abs(Double(result[i]) - expected[i]) <= abs(expected[i]) * 1e-7 + 1e-12, "index \(i), seed \(seed)")
    }
  }

  @Test func aConstantVectorGivesTheOffset() {
    let layer = LayerNormalization(scale: [2, -3, 4], offset: [1, 0, -1], epsilon: 1e-5)
    #expect(layer([7, 7, 7]) == [1, 0, -1])
  }
}

@Suite struct SoftmaxTests {
  @Test(arguments: [1, 2, 7, 100], [0.5, 1, 2.75])
  func equalsTheReference(count: Int, temperature: Double) {
    let seed = UInt64(count)
    var generator = SeededGenerator(seed: seed)
    let logits = generator.floats(count, scale: 20)
    let result = Softmax.probabilities(logits, temperature: temperature)
    let expected = Reference.softmax(logits.map(Double.init), temperature: temperature)
    for i in logits.indices {
      #expect(abs(Double(result[i]) - expected[i]) <= expected[i] * 1e-7 + 1e-45, "index \(i), seed \(seed)")
    }
    #expect(abs(result.reduce(0, +) - 1) < 1e-5)
  }

  @Test func hugeLogitsDoNotOverflow() {
    #expect(Softmax.probabilities([3e38, -3e38, 3e38]) == [0.5, 0, 0.5])
    #expect(Softmax.probabilities([-1000, -1000]) == [0.5, 0.5])
  }

  @Test func notANumberIsNotHidden() {
    #expect(Softmax.probabilities([1, .nan, 2]).allSatisfy { $0.isNaN })
    #expect(Softmax.probabilities([.nan, 1, 2]).allSatisfy { $0.isNaN })
  }
}

@Suite struct EmbeddingTests {
  @Test func givesRowsOfTheTable() {
    var generator = SeededGenerator(seed: 8)
    let table = Tensor(shape: [15, 8], values: generator.floats(120))
    let embedding = Embedding(table: table)
    for index in 0..<15 {
      let expected = Reference.embedding(table: table.values.map(Double.init), size: 8, index: index)
      #expect(embedding(index).map(Double.init) == expected)
    }
  }

  @Test func anIndexOutsideIsRefused() async {
    await #expect(processExitsWith: .failure) {
      _ = Embedding(table: Tensor(shape: [3, 4]))(3)
    }
  }
}

@Suite struct TensorTests {
  @Test func zerosFillTheShape() {
    #expect(Tensor(shape: [2, 3, 4]).values == [Float](repeating: 0, count: 24))
    #expect(Tensor(shape: []).values == [0])
    #expect(Tensor(shape: [3, 0]).values == [])
  }

  @Test func valuesThatDoNotFillTheShapeAreRefused() async {
    await #expect(processExitsWith: .failure) { _ = Tensor(shape: [2, 2], values: [1, 2, 3]) }
  }
}

@Suite struct AlignedBufferTests {
  @Test(arguments: [0, 1, 15, 16, 17, 1000])
  func isAlignedAndZero(count: Int) {
    let buffer = AlignedBuffer(count: count)
    #expect(Int(bitPattern: buffer.pointer) % 64 == 0)
    #expect(UnsafeBufferPointer(start: buffer.pointer, count: count).allSatisfy { $0 == 0 })
  }
}
