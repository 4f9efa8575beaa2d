import KernelInterface
import ReferenceLayers
import SystemModule
import Testing

@testable import TensorModule

@Suite struct Convolution2DTests {
  struct Case: CustomTestStringConvertible {
    let input: FeatureShape
    let outputChannels: Int
    let window: Window
    /// Those that give the same bits.
    let algorithms: [Convolution2D.Algorithm]

    init(
      _ height: Int, _ width: Int, _ channels: Int, to outputChannels: Int, _ window: Window,
      _ algorithm: Convolution2D.Algorithm? = nil
    ) {
      let readsPixels = window.kernelSize == 1 && window.stride == 1
      algorithms = algorithm.map { [$0] } ?? [.windows, .rows] + (readsPixels ? [.pixels] : [])
      input = FeatureShape(height: height, width: width, channels: channels)
      self.outputChannels = outputChannels
      self.window = window
    }

    var testDescription: String {
      """
      \(input) to \(outputChannels), window \(window.kernelSize) / \(window.stride), \(window.padding), \(algorithms)
      """
    }

    var weightCount: Int { outputChannels * input.channels * window.kernelSize * window.kernelSize }
  }

  static let cases: [Case] = [
    Case(13, 17, 3, to: 19, Window(kernelSize: 3, stride: 2, padding: .same)),
    Case(12, 12, 3, to: 24, Window(kernelSize: 3, stride: 2, padding: .same)),
    Case(12, 13, 3, to: 40, Window(kernelSize: 3, stride: 2, padding: .symmetric(1))),
    Case(1, 1, 5, to: 1, Window(kernelSize: 3, padding: .same)),
    Case(2, 3, 1, to: 8, Window(kernelSize: 7, padding: .symmetric(3))),
    Case(9, 5, 4, to: 8, Window(kernelSize: 7, stride: 3, padding: .same)),
    Case(11, 10, 3, to: 9, Window(kernelSize: 7, stride: 2, padding: .symmetric(3))),
    Case(6, 7, 12, to: 33, Window(kernelSize: 1, padding: .symmetric(0))),
    Case(7, 6, 12, to: 9, Window(kernelSize: 1, stride: 2, padding: .symmetric(0))),
    Case(8, 7, 6, to: 9, Window(kernelSize: 2, stride: 2, padding: .same)),
    Case(9, 8, 16, to: 24, Window(kernelSize: 3, padding: .symmetric(1))),
    Case(7, 9, 24, to: 16, Window(kernelSize: 3, stride: 2, padding: .symmetric(1))),
    // Blocks of several rows of pixels, and the last one shorter.
    Case(31, 19, 8, to: 8, Window(kernelSize: 3, padding: .symmetric(1))),
  ]

  /// Sizes of which the last tile lies partly outside, and such that make several tasks.
  static let winogradCases: [Case] = [
    Case(1, 1, 5, to: 1, Window(kernelSize: 3, padding: .same), .winograd),
    Case(7, 7, 40, to: 33, Window(kernelSize: 3, padding: .symmetric(1)), .winograd),
    Case(8, 6, 16, to: 24, Window(kernelSize: 3, padding: .same), .winograd),
    Case(6, 5, 3, to: 9, Window(kernelSize: 3, padding: .symmetric(0)), .winograd),
    Case(4, 9, 17, to: 8, Window(kernelSize: 3, padding: .symmetric(2)), .winograd),
    Case(31, 19, 8, to: 8, Window(kernelSize: 3, padding: .symmetric(1)), .winograd),
  ]

  @Test(arguments: KernelChoice.runnable, cases + winogradCases)
  func equalsTheReferenceForAnyNumberOfThreads(kernels: KernelSet, item: Case) {
    let seed = UInt64(item.input.height * 1000 + item.outputChannels)
    var generator = SeededGenerator(seed: seed)
    let (shape, window) = (item.input, item.window)
    let values = generator.floats(shape.pixelCount * shape.channels, scale: 2)
    let weight = generator.floats(item.weightCount)
    let bias = generator.floats(item.outputChannels)
    let activation = Activation.allCases[(shape.height + shape.width) % Activation.allCases.count]
    let output = window.outputShape(shape, channels: item.outputChannels)
    let residual = generator.floats(output.pixelCount * item.outputChannels)
    let sums = ReferenceMap(
      height: shape.height, width: shape.width, channels: shape.channels, values: values
    ).convolution(
      weight: weight, bias: bias, kernelSize: window.kernelSize, stride: window.stride,
      padding: window.padding.reference)
    let expected = sums.activated(activation.reference)
    let expectedWithResidual = sums.adding(
      ReferenceMap(
        height: output.height, width: output.width, channels: item.outputChannels, values: residual)
    ).activated(activation.reference)
    func layer(_ algorithm: Convolution2D.Algorithm) -> Convolution2D {
      Convolution2D(
        weight: weight, bias: bias, inputChannels: shape.channels, window: window, activation: activation,
        algorithm: algorithm, kernels: kernels)
    }
    let isWinograd = item.algorithms == [.winograd]
    let layers = item.algorithms.map(layer)
    let tolerance = isWinograd ? Tolerances.winograd : Tolerances.convolution
    let added = GuardedMap(residual, output, kernels: kernels)
    var first: [Float]?
    // Rows of dense pixels are copied at once, others pixel by pixel.
    let padded = shape.channels.roundedUp(toMultipleOf: kernels.vectorWidth)
    for pixelStride in [isWinograd ? padded : shape.channels, padded + 3] {
      let input = GuardedMap(values, shape, pixelStride: pixelStride)
      for pool in Pools.all {
        let context: Comment = """
          \(kernels.testDescription), \(item.testDescription), \(activation), stride \(pixelStride), \
          \(pool.threadCount) threads, seed \(seed)
          """
        for layer in layers {
          func run(residual: FeatureMap?, activation: Activation? = nil, activated: FeatureMap? = nil)
            -> [Float]
          {
            let map = GuardedMap(output, kernels: kernels)
            let scratch = GuardedBuffer(count: layer.scratchCount(shape, pool: pool))
            layer(
              input.map, residual: residual, activation: activation, activated: activated, into: map.map,
              scratch: scratch.pointer, pool: pool)
            #expect(map.isIntact && input.isIntact && scratch.firstBrokenGuard == nil, context)
            return map.dense()
          }
          let result = run(residual: nil)
          let withResidual = run(residual: added.map)
          let activated = GuardedMap(output, kernels: kernels)
          let argument = run(residual: nil, activation: .identity, activated: activated.map)
          if first == nil {
            #expect(expected.mismatch(result, factor: tolerance) == nil, context)
            #expect(expectedWithResidual.mismatch(withResidual, factor: tolerance) == nil, context)
            #expect(sums.mismatch(argument, factor: tolerance) == nil, context)
          }
          first = first ?? result
          #expect(firstDifference(result, first ?? []) == nil, "\(context), \(layer.algorithm)")
          #expect(
            firstDifference(activated.dense(), result) == nil && activated.isIntact,
            "\(context), \(layer.algorithm), with its argument")
        }
      }
    }
  }

  /// The instruction sets share the reference, which takes most of the time.
  @Test(arguments: cases + winogradCases) func gradientIsThatOfTheReference(item: Case) {
    let seed = UInt64(item.input.width * 1000 + item.outputChannels)
    var generator = SeededGenerator(seed: seed)
    let (shape, window) = (item.input, item.window)
    let weight = generator.floats(item.weightCount)
    let bias = generator.floats(item.outputChannels)
    let values = generator.floats(shape.pixelCount * shape.channels)
    let output = window.outputShape(shape, channels: item.outputChannels)
    let weights = generator.floats(output.pixelCount * item.outputChannels)
    let residual = generator.floats(values.count)
    let places = Array(stride(from: 0, to: values.count, by: max(1, values.count / 40 | 1)))
    let differences = finiteDifferences(
      ReferenceMap(height: shape.height, width: shape.width, channels: shape.channels, values: values),
      weights: weights, places: places
    ) {
      $0.convolution(
        weight: weight, bias: bias, kernelSize: window.kernelSize, stride: window.stride,
        padding: window.padding.reference)
    }
    let below = zip(places, differences).map { place, difference in
      values[place] > 0 ? difference + Double(residual[place]) : 0
    }
    for kernels in KernelChoice.runnable {
      let context = "\(kernels.testDescription), \(item.testDescription), seed \(seed)"
      for algorithm in item.algorithms {
        let layer = Convolution2D(
          weight: weight, bias: bias, inputChannels: shape.channels, window: window, activation: .identity,
          algorithm: algorithm, kernels: kernels)
        let gradient = Convolution2DGradient(layer)
        let outputGradient = GuardedMap(weights, output, kernels: kernels)
        let added = GuardedMap(residual, shape, kernels: kernels)
        let arguments = GuardedMap(values, shape, kernels: kernels)
        for pool in Pools.all {
          let scratch = GuardedBuffer(count: gradient.scratchCount(shape, pool: pool))
          let result = GuardedMap(shape, kernels: kernels)
          gradient(outputGradient.map, into: result.map, scratch: scratch.pointer, pool: pool)
          expectGradient(result.dense(), differences, places: places, context)
          gradient(
            outputGradient.map, residual: added.map, below: ActivationBelow(.relu, at: arguments.map),
            into: result.map, scratch: scratch.pointer, pool: pool)
          expectGradient(result.dense(), below, places: places, "\(context), with residual")
          #expect(result.isIntact && scratch.firstBrokenGuard == nil, "\(context), \(algorithm)")
        }
      }
    }
  }

  @Test func foldedBatchNormIsConvolutionThenBatchNorm() {
    let seed: UInt64 = 41
    var generator = SeededGenerator(seed: seed)
    let kernels = KernelChoice.current
    let shape = FeatureShape(height: 6, width: 7, channels: 5)
    let channels = 11
    let values = generator.floats(shape.pixelCount * 5, scale: 2)
    let weight = generator.floats(channels * 5 * 9)
    let norm = BatchNormalization(
      scale: generator.floats(channels, scale: 3), offset: generator.floats(channels),
      mean: generator.floats(channels, scale: 2), variance: generator.floats(channels, in: 0...4),
      epsilon: 1e-3)
    let fold = norm.fold
    let window = Window(kernelSize: 3, padding: .symmetric(1))
    let layer = Convolution2D(
      weight: fold.applied(to: weight), bias: fold.bias, inputChannels: 5, window: window,
      activation: .identity, algorithm: .windows, kernels: kernels)
    let output = GuardedMap(window.outputShape(shape, channels: channels), kernels: kernels)
    let scratch = GuardedBuffer(count: layer.scratchCount(shape, pool: Pools.alone))
    let input = GuardedMap(values, shape, kernels: kernels)
    withExtendedLifetime(input) {
      layer(input.map, into: output.map, scratch: scratch.pointer, pool: Pools.alone)
    }
    let expected = ReferenceMap(height: 6, width: 7, channels: 5, values: values)
      .convolution(
        weight: weight, bias: [Float](repeating: 0, count: channels), kernelSize: 3, padding: .symmetric(1)
      )
      .batchNormalized(
        scale: norm.scale, offset: norm.offset, mean: norm.mean, variance: norm.variance, epsilon: 1e-3)
    #expect(
      expected.mismatch(output.dense(), factor: Tolerances.foldedBatchNorm) == nil, "seed \(seed)")
  }
}
