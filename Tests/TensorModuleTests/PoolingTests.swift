import KernelInterface
import ReferenceLayers
import SystemModule
import TestModels
import Testing

@testable import TensorModule

@Suite struct MaxPooling2DTests {
  static let windows = [
    Window(kernelSize: 3, stride: 2, padding: .symmetric(1)),
    Window(kernelSize: 2, stride: 2, padding: .same),
    Window(kernelSize: 3, stride: 2, padding: .same), Window(kernelSize: 5, stride: 1, padding: .same),
    Window(kernelSize: 2, stride: 3, padding: .symmetric(1)),
  ]

  @Test(arguments: KernelChoice.runnable, windows)
  func equalsTheReferenceAndStaysInside(kernels: KernelSet, window: Window) {
    for (height, width, channels) in [(2, 2, 1), (5, 7, 3), (8, 6, 9), (13, 4, 24)] {
      let seed = UInt64(height * 100 + width)
      var generator = SeededGenerator(seed: seed)
      let shape = FeatureShape(height: height, width: width, channels: channels)
      // All below 0: a zero that is taken for a pixel would win.
      let values = generator.floats(shape.pixelCount * channels, in: -3 ... -1)
      let input = GuardedMap(values, shape, kernels: kernels)
      let expected = ReferenceMap(height: height, width: width, channels: channels, values: values)
        .maxPooling(
          kernelSize: window.kernelSize, stride: window.stride, padding: window.padding.reference)
      for pool in Pools.all {
        let output = GuardedMap(window.outputShape(shape, channels: channels), kernels: kernels)
        MaxPooling2D(window: window, kernels: kernels)(input.map, into: output.map, pool: pool)
        #expect(
          output.dense().map { Double($0) } == expected.values, "\(shape), \(window), seed \(seed)")
        #expect(output.isIntact && input.isIntact)
      }
    }
  }

  @Test(arguments: KernelChoice.runnable, windows)
  func gradientGoesToTheGreatestValue(kernels: KernelSet, window: Window) {
    let seed: UInt64 = 5
    var generator = SeededGenerator(seed: seed)
    let shape = FeatureShape(height: 7, width: 8, channels: 5)
    // Far enough apart for differences to see no change of the greatest.
    let values = generator.floats(shape.pixelCount * 5, scale: 40)
    let output = window.outputShape(shape, channels: 5)
    let weights = generator.floats(output.pixelCount * 5)
    let input = GuardedMap(values, shape, kernels: kernels)
    let outputGradient = GuardedMap(weights, output, kernels: kernels)
    let result = GuardedMap(shape, kernels: kernels)
    MaxPooling2D(window: window, kernels: kernels).inputGradient(
      outputGradient.map, at: input.map, into: result.map)
    let places = Array(stride(from: 0, to: values.count, by: 3))
    let expected = finiteDifferences(
      ReferenceMap(height: 7, width: 8, channels: 5, values: values), weights: weights, places: places
    ) {
      $0.maxPooling(
        kernelSize: window.kernelSize, stride: window.stride, padding: window.padding.reference)
    }
    expectGradient(result.dense(), expected, places: places, "\(window), seed \(seed)")
    #expect(result.isIntact)
  }

  /// As PyTorch has it: among zeros, which ReLU leaves many of, it matters for the mean of a gradient.
  @Test func amongEqualValuesTheFirstTakesTheGradient() {
    let kernels = KernelChoice.current
    let shape = FeatureShape(height: 3, width: 3, channels: 1)
    let input = GuardedMap([0, 0, 0, 0, 2, 2, 0, 2, 2], shape, kernels: kernels)
    let outputGradient = GuardedMap(
      [1, 10, 100, 1000], FeatureShape(height: 2, width: 2, channels: 1), kernels: kernels)
    let result = GuardedMap(shape, kernels: kernels)
    MaxPooling2D(window: Window(kernelSize: 2, padding: .symmetric(0)), kernels: kernels).inputGradient(
      outputGradient.map, at: input.map, into: result.map)
    #expect(result.dense() == [0, 0, 0, 0, 1111, 0, 0, 0, 0] as [Float])
  }
}

@Suite struct AveragePooling2DTests {
  @Test(arguments: KernelChoice.runnable, MaxPooling2DTests.windows)
  func equalsTheReferenceForwardAndBackward(kernels: KernelSet, window: Window) {
    for (height, width, channels) in [(2, 2, 1), (5, 7, 3), (8, 6, 9), (13, 4, 24)] {
      let seed = UInt64(height * 100 + width)
      var generator = SeededGenerator(seed: seed)
      let shape = FeatureShape(height: height, width: width, channels: channels)
      let values = generator.floats(shape.pixelCount * channels, scale: 3)
      let map = ReferenceMap(height: height, width: width, channels: channels, values: values)
      func reference(_ map: ReferenceMap) -> ReferenceMap {
        map.averagePooling(
          kernelSize: window.kernelSize, stride: window.stride, padding: window.padding.reference)
      }
      let (input, layer) = (
        GuardedMap(values, shape, kernels: kernels), AveragePooling2D(window: window, kernels: kernels)
      )
      let output = window.outputShape(shape, channels: channels)
      for pool in Pools.all {
        let result = GuardedMap(output, kernels: kernels)
        layer(input.map, into: result.map, pool: pool)
        let mismatch = reference(map).mismatch(result.dense(), factor: Tolerances.averagePooling)
        #expect(mismatch == nil, "\(shape), \(window), seed \(seed)")
        #expect(result.isIntact && input.isIntact)
      }
      let weights = generator.floats(output.pixelCount * channels)
      let places = Array(stride(from: 0, to: values.count, by: 3))
      let (gradient, result) = (
        GuardedMap(weights, output, kernels: kernels), GuardedMap(shape, kernels: kernels)
      )
      layer.inputGradient(gradient.map, into: result.map)
      expectGradient(
        result.dense(), finiteDifferences(map, weights: weights, places: places, reference), places: places,
        "\(shape), \(window), seed \(seed)")
      #expect(result.isIntact && gradient.isIntact)
    }
  }
}

@Suite struct GlobalAveragePoolingTests {
  @Test(arguments: KernelChoice.runnable, [1, 7, 8, 24, 33])
  func equalsTheReferenceAndStaysInside(kernels: KernelSet, channels: Int) {
    for (height, width) in [(1, 1), (1, 9), (12, 1), (7, 5), (48, 48)] {
      let seed = UInt64(height * 100 + width)
      var generator = SeededGenerator(seed: seed)
      let shape = FeatureShape(height: height, width: width, channels: channels)
      // A mean far from zero, as after SiLU: errors of one long sum would show.
      let values = generator.floats(shape.pixelCount * channels, in: -0.25...3)
      let input = GuardedMap(values, shape, kernels: kernels)
      let padded = channels.roundedUp(toMultipleOf: kernels.vectorWidth)
      let means = GuardedBuffer(count: padded)
      let scratch = GuardedBuffer(count: padded)
      GlobalAveragePooling.compute(
        input.map, into: means.pointer, scratch: scratch.pointer, kernels: kernels)
      let expected = ReferenceMap(height: height, width: width, channels: channels, values: values)
        .globalAverage()
      let mismatch = expected.mismatch(Array(means.values[..<channels]), factor: Tolerances.averagePooling)
      #expect(mismatch == nil, "\(shape), seed \(seed)")
      #expect(means.firstBrokenGuard == nil && scratch.firstBrokenGuard == nil && input.isIntact)
    }
  }
}

@Suite struct SqueezeExciteTests {
  @Test(arguments: KernelChoice.runnable, [(1, 1), (7, 3), (24, 6), (40, 9), (56, 17)])
  func gateEqualsTheReferenceForAnyNumberOfBands(kernels: KernelSet, channels: (Int, Int)) {
    let (full, reduced) = channels
    for (height, width) in [(1, 1), (5, 6), (8, 3)] {
      for (activation, gateActivation) in [(Activation.silu, Activation.sigmoid), (.relu, .hardSigmoid)] {
        let seed = UInt64(full * 100 + height)
        var generator = SeededGenerator(seed: seed)
        let values = generator.floats(height * width * full, scale: 3)
        let reduceWeight = generator.floats(reduced * full)
        let reduceBias = generator.floats(reduced)
        let expandWeight = generator.floats(full * reduced, scale: 2)
        let expandBias = generator.floats(full)
        let layer = SqueezeExcite(
          reduceWeight: reduceWeight, reduceBias: reduceBias, expandWeight: expandWeight,
          expandBias: expandBias, activation: activation, gate: gateActivation, kernels: kernels)
        // Each row of pixels has its sum.
        let padded = full.roundedUp(toMultipleOf: kernels.vectorWidth)
        let sums = GuardedBuffer([Float](repeating: 0, count: height * padded))
        for i in values.indices { sums.pointer[i / (width * full) * padded + i % full] += values[i] }
        let gate = GuardedBuffer(count: padded)
        let scratch = GuardedBuffer(count: layer.scratchCount)
        layer(
          sums: sums.pointer, sumCount: height, pixelCount: height * width, gate: gate.pointer,
          scratch: scratch.pointer, pool: ThreadPool(threadCount: 1))
        let expected = ReferenceMap(height: height, width: width, channels: full, values: values)
          .squeezeExciteGate(
            reduceWeight: reduceWeight, reduceBias: reduceBias, expandWeight: expandWeight,
            expandBias: expandBias, activation: activation.reference, gate: gateActivation.reference)
        let mismatch = expected.mismatch(Array(gate.values[..<full]), factor: Tolerances.squeezeExcite)
        #expect(mismatch == nil, "\(height) rows of \(width) pixels, \(activation), seed \(seed)")
        #expect(
          sums.firstBrokenGuard == nil && gate.firstBrokenGuard == nil && scratch.firstBrokenGuard == nil)
      }
    }
  }
}
