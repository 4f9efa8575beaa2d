import KernelInterface
import ReferenceLayers
import Testing

@testable import TensorModule

@Suite struct AveragePooling2DTests {
  static let windows = [
    Window(kernelSize: 2, stride: 2, padding: .same),
    Window(kernelSize: 2, stride: 2, padding: .symmetric(0)),
    Window(kernelSize: 3, stride: 1, padding: .symmetric(1)),
    Window(kernelSize: 3, stride: 2, padding: .same),
    Window(kernelSize: 3, stride: 3, dilation: 2, padding: .same),
    Window(kernelSize: 5, stride: 1, padding: .same), Window(kernelSize: 1, stride: 2, padding: .same),
  ]

  @Test(arguments: windows)
  func equalsTheReferenceAndStaysInside(window: Window) {
    let kernels = KernelChoice.current
    for (height, width, channels) in [(2, 2, 1), (5, 7, 3), (8, 6, 9), (13, 4, 24)] {
      let seed = UInt64(height * 100 + width)
      var generator = SeededGenerator(seed: seed)
      let shape = FeatureShape(height: height, width: width, channels: channels)
      let values = generator.floats(shape.pixelCount * channels, scale: 3)
      let input = GuardedMap(values, shape, kernels: kernels)
      let output = GuardedMap(window.outputShape(shape, channels: channels), kernels: kernels)
      AveragePooling2D(window: window)(input.map, into: output.map)
      let expected = ReferenceMap(height: height, width: width, channels: channels, values: values)
        .averagePooling(
          kernelSize: window.kernelSize, stride: window.stride, dilation: window.dilation,
          padding: window.padding.reference)
      let mismatch = expected.mismatch(output.dense(), factor: Tolerances.averagePooling)
      #expect(mismatch == nil, "\(shape), \(window), seed \(seed)")
      #expect(output.isIntact)
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
      for activation in [Activation.silu, .relu] {
        let seed = UInt64(full * 100 + height)
        var generator = SeededGenerator(seed: seed)
        let values = generator.floats(height * width * full, scale: 3)
        let reduceWeight = generator.floats(reduced * full)
        let reduceBias = generator.floats(reduced)
        let expandWeight = generator.floats(full * reduced, scale: 2)
        let expandBias = generator.floats(full)
        let layer = SqueezeExcite(
          reduceWeight: reduceWeight, reduceBias: reduceBias, expandWeight: expandWeight,
          expandBias: expandBias, activation: activation, kernels: kernels)
        // Each row of pixels is a band.
        let padded = full.roundedUp(toMultipleOf: kernels.vectorWidth)
        let sums = GuardedBuffer([Float](repeating: 0, count: height * padded))
        for i in values.indices { sums.pointer[i / (width * full) * padded + i % full] += values[i] }
        let gate = GuardedBuffer(count: padded)
        let scratch = GuardedBuffer(count: layer.scratchCount)
        layer(
          sums: sums.pointer, bandCount: height, pixelCount: height * width, gate: gate.pointer,
          scratch: scratch.pointer, pool: ThreadPool(threadCount: 1))
        let expected = ReferenceMap(height: height, width: width, channels: full, values: values)
          .squeezeExciteGate(
            reduceWeight: reduceWeight, reduceBias: reduceBias, expandWeight: expandWeight,
            expandBias: expandBias, activation: activation.reference)
        let mismatch = expected.mismatch(Array(gate.values[..<full]), factor: Tolerances.squeezeExcite)
        #expect(mismatch == nil, "\(height) bands of \(width) pixels, \(activation), seed \(seed)")
        #expect(
          sums.firstBrokenGuard == nil && gate.firstBrokenGuard == nil && scratch.firstBrokenGuard == nil)
      }
    }
  }
}
