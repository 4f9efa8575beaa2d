import KernelInterface
import ReferenceLayers
import Testing

@testable import TensorModule

@Suite struct Convolution2DTests {
  struct Case: CustomTestStringConvertible {
    let input: FeatureShape
    let outputChannels: Int
    let groups: Int
    let window: Window

    init(
      _ height: Int, _ width: Int, _ channels: Int, to outputChannels: Int, groups: Int = 1, _ window: Window
    ) {
      input = FeatureShape(height: height, width: width, channels: channels)
      self.outputChannels = outputChannels
      self.groups = groups
      self.window = window
    }

    var testDescription: String {
      """
      \(input) to \(outputChannels) in \(groups), \
      window \(window.kernelSize) / \(window.stride) / \(window.dilation)
      """
    }
  }

  static let cases: [Case] = [
    Case(13, 17, 3, to: 19, Window(kernelSize: 3, stride: 2, padding: .same)),
    Case(12, 12, 3, to: 24, Window(kernelSize: 3, stride: 2, padding: .same)),
    Case(12, 13, 3, to: 40, Window(kernelSize: 3, stride: 2, padding: .symmetric(1))),
    Case(1, 1, 5, to: 1, Window(kernelSize: 3, padding: .same)),
    Case(2, 3, 1, to: 8, Window(kernelSize: 7, padding: .symmetric(3))),
    Case(9, 5, 4, to: 8, Window(kernelSize: 7, stride: 3, padding: .same)),
    Case(10, 11, 5, to: 7, Window(kernelSize: 3, dilation: 2, padding: .same)),
    Case(2, 2, 3, to: 5, Window(kernelSize: 5, stride: 2, dilation: 3, padding: .symmetric(9))),
    Case(11, 10, 8, to: 9, Window(kernelSize: 5, stride: 2, dilation: 2, padding: .symmetric(4))),
    Case(6, 7, 12, to: 33, Window(kernelSize: 1, padding: .symmetric(0))),
    Case(8, 7, 6, to: 9, Window(kernelSize: 2, stride: 2, padding: .same)),
    Case(7, 9, 8, to: 12, groups: 2, Window(kernelSize: 3, padding: .same)),
    Case(8, 8, 6, to: 9, groups: 3, Window(kernelSize: 1, padding: .symmetric(0))),
    Case(6, 6, 12, to: 6, groups: 6, Window(kernelSize: 5, stride: 2, padding: .same)),
    Case(5, 6, 7, to: 14, groups: 7, Window(kernelSize: 3, dilation: 2, padding: .symmetric(2))),
    Case(4, 9, 32, to: 64, groups: 2, Window(kernelSize: 3, stride: 3, padding: .same)),
  ]

  @Test(arguments: KernelChoice.runnable, cases)
  func equalsTheReferenceForAnyNumberOfThreads(kernels: KernelSet, item: Case) {
    let seed = UInt64(item.input.height * 1000 + item.outputChannels)
    var generator = SeededGenerator(seed: seed)
    let shape = item.input
    let window = item.window
    let values = generator.floats(shape.pixelCount * shape.channels, scale: 2)
    let weight = generator.floats(
      item.outputChannels * (shape.channels / item.groups) * window.kernelSize * window.kernelSize)
    let bias = generator.floats(item.outputChannels)
    let activation = Activation.allCases[(shape.height + shape.width) % Activation.allCases.count]
    let layer = Convolution2D(
      weight: weight, bias: bias, inputChannels: shape.channels, groups: item.groups, window: window,
      activation: activation, kernels: kernels)
    let expected = ReferenceMap(
      height: shape.height, width: shape.width, channels: shape.channels, values: values
    ).convolution(
      weight: weight, bias: bias, kernelSize: window.kernelSize, stride: window.stride,
      dilation: window.dilation, groups: item.groups, padding: window.padding.reference
    ).activated(activation.reference)
    var first: [Float]?
    // Rows of dense pixels are copied at once, others pixel by pixel.
    for pixelStride in [shape.channels, shape.channels.roundedUp(toMultipleOf: kernels.vectorWidth) + 3] {
      let input = GuardedMap(values, shape, pixelStride: pixelStride)
      for pool in Pools.all {
        let context: Comment = """
          \(kernels.testDescription), \(item.testDescription), \(activation), stride \(pixelStride), \
          \(pool.threadCount) threads, seed \(seed)
          """
        let output = GuardedMap(
          window.outputShape(shape, channels: item.outputChannels), kernels: kernels)
        let scratch = GuardedBuffer(count: layer.scratchCount(shape))
        layer(input.map, into: output.map, scratch: scratch.pointer, pool: pool)
        #expect(output.isIntact && input.isIntact && scratch.firstBrokenGuard == nil, context)
        let dense = output.dense()
        if let first {
          #expect(firstDifference(dense, first) == nil, context)
        } else {
          #expect(expected.mismatch(dense, factor: Tolerances.convolution) == nil, context)
          first = dense
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
    let folded = norm.folded(into: weight)
    let window = Window(kernelSize: 3, padding: .symmetric(1))
    let layer = Convolution2D(
      weight: folded.weight, bias: folded.bias, inputChannels: 5, window: window, activation: .identity,
      kernels: kernels)
    let output = GuardedMap(window.outputShape(shape, channels: channels), kernels: kernels)
    let scratch = GuardedBuffer(count: layer.scratchCount(shape))
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

  @Test func channelsThatTheGroupsDoNotDivideAreRefused() async {
    await #expect(processExitsWith: .failure) {
      _ = Convolution2D(
        weight: [Float](repeating: 0, count: 12), bias: [0, 0, 0, 0], inputChannels: 6, groups: 4,
        window: Window(kernelSize: 1, padding: .same), activation: .identity, kernels: KernelChoice.current)
    }
  }
}
