import KernelInterface
import ReferenceLayers
import SystemModule
import TestModels
import Testing

@testable import TensorModule

@Suite struct GroupedConvolution2DTests {
  struct Case: CustomTestStringConvertible {
    let input: FeatureShape
    let groups: Int
    let outputChannels: Int
    let window: Window

    let algorithm: Convolution2D.Algorithm

    /// - Parameter algorithm: If it is not the window's best one.
    init(
      _ height: Int, _ width: Int, _ channels: Int, to outputChannels: Int, groups: Int, _ window: Window,
      _ algorithm: Convolution2D.Algorithm? = nil
    ) {
      input = FeatureShape(height: height, width: width, channels: channels)
      self.outputChannels = outputChannels
      self.groups = groups
      self.window = window
      self.algorithm = algorithm ?? .best(for: window)
    }

    var testDescription: String {
      "\(input) to \(outputChannels) in \(groups), \(window.kernelSize) / \(window.stride), \(window.padding)"
        + ", \(algorithm)"
    }
  }

  /// Groups narrower than a vector, of whole vectors and in between; a stride, both paddings, one pixel.
  static let cases: [Case] = [
    Case(9, 8, 32, to: 32, groups: 8, Window(kernelSize: 3, padding: .symmetric(1))),
    Case(10, 9, 24, to: 24, groups: 3, Window(kernelSize: 3, stride: 2, padding: .symmetric(1))),
    Case(7, 7, 72, to: 72, groups: 3, Window(kernelSize: 3, padding: .symmetric(1))),
    // Pairs of groups, with vectors of 16, of 8 and of 4.
    Case(9, 8, 120, to: 120, groups: 5, Window(kernelSize: 3, stride: 2, padding: .symmetric(1))),
    Case(6, 7, 36, to: 36, groups: 3, Window(kernelSize: 3, padding: .symmetric(1))),
    Case(7, 6, 24, to: 24, groups: 4, Window(kernelSize: 3, padding: .symmetric(1))),
    Case(13, 6, 48, to: 48, groups: 1, Window(kernelSize: 3, stride: 2, padding: .same)),
    Case(5, 4, 6, to: 15, groups: 3, Window(kernelSize: 5, padding: .same)),
    Case(1, 1, 8, to: 4, groups: 4, Window(kernelSize: 3, padding: .symmetric(1))),
    Case(6, 9, 9, to: 9, groups: 9, Window(kernelSize: 3, stride: 3, padding: .symmetric(0))),
    Case(4, 5, 40, to: 40, groups: 5, Window(kernelSize: 1, padding: .symmetric(0))),
    // Groups that end inside a vector, of which the last does not fill one.
    Case(11, 8, 60, to: 60, groups: 5, Window(kernelSize: 3, padding: .symmetric(1))),
    // Several chunks of tiles, and several bands of rows.
    Case(48, 40, 32, to: 32, groups: 2, Window(kernelSize: 3, padding: .symmetric(1))),
    Case(48, 40, 32, to: 32, groups: 2, Window(kernelSize: 3, padding: .symmetric(1)), .windows),
    Case(7, 7, 72, to: 72, groups: 3, Window(kernelSize: 3, padding: .symmetric(1)), .windows),
  ]

  private struct Sample {
    let weight: [Float]
    let bias: [Float]
    let values: [Float]
    let seed: UInt64

    init(_ item: Case) {
      seed = UInt64(item.input.height * 1000 + item.outputChannels)
      var generator = SeededGenerator(seed: seed)
      let fan = item.input.channels / item.groups * item.window.kernelSize * item.window.kernelSize
      weight = generator.floats(item.outputChannels * fan)
      bias = generator.floats(item.outputChannels)
      values = generator.floats(item.input.pixelCount * item.input.channels, scale: 2)
    }

    func layer(_ item: Case, _ activation: Activation, _ kernels: KernelSet) -> GroupedConvolution2D {
      GroupedConvolution2D(
        weight: weight, bias: bias, inputChannels: item.input.channels, groups: item.groups,
        window: item.window, activation: activation, algorithm: item.algorithm, kernels: kernels)
    }

    func reference(_ item: Case, _ map: ReferenceMap) -> ReferenceMap {
      map.convolution(
        weight: weight, bias: bias, kernelSize: item.window.kernelSize, stride: item.window.stride,
        groups: item.groups, padding: item.window.padding.reference)
    }

    func map(_ item: Case) -> ReferenceMap {
      ReferenceMap(
        height: item.input.height, width: item.input.width, channels: item.input.channels, values: values)
    }
  }

  @Test(arguments: KernelChoice.runnable, cases)
  func equalsTheReferenceForAnyNumberOfThreads(kernels: KernelSet, item: Case) {
    let sample = Sample(item)
    let sums = sample.reference(item, sample.map(item))
    let layer = sample.layer(item, .silu, kernels)
    let output = item.window.outputShape(item.input, channels: item.outputChannels)
    let input = GuardedMap(sample.values, item.input, kernels: kernels)
    var first: [Float]?
    for pool in Pools.all {
      let context: Comment = "\(item), \(pool.threadCount) threads, seed \(sample.seed)"
      for activation in [nil, Activation.identity] {
        let map = GuardedMap(output, kernels: kernels)
        let scratch = GuardedBuffer(count: layer.scratchCount(item.input))
        layer(
          input.map, activation: activation, into: map.map, scratch: scratch.pointer, pool: pool)
        #expect(map.isIntact && input.isIntact && scratch.firstBrokenGuard == nil, context)
        let expected = activation == nil ? sums.activated(.silu) : sums
        #expect(expected.mismatch(map.dense(), factor: Tolerances.convolution) == nil, context)
        if activation == nil {
          first = first ?? map.dense()
          #expect(firstDifference(map.dense(), first ?? []) == nil, context)
        }
      }
    }
  }

  @Test(arguments: cases) func gradientIsThatOfTheReference(item: Case) {
    let sample = Sample(item)
    var generator = SeededGenerator(seed: sample.seed + 1)
    let output = item.window.outputShape(item.input, channels: item.outputChannels)
    let gradient = generator.floats(output.pixelCount * output.channels)
    let places = Array(stride(from: 0, to: sample.values.count, by: max(sample.values.count / 40, 1) | 1))
    let expected = finiteDifferences(sample.map(item), weights: gradient, places: places) {
      sample.reference(item, $0)
    }
    for kernels in KernelChoice.runnable {
      let layer = GroupedConvolution2DGradient(sample.layer(item, .relu, kernels))
      for pool in Pools.all {
        let result = GuardedMap(item.input, kernels: kernels)
        let outputGradient = GuardedMap(gradient, output, kernels: kernels)
        let scratch = GuardedBuffer(count: layer.scratchCount(item.input))
        layer(outputGradient.map, into: result.map, scratch: scratch.pointer, pool: pool)
        #expect(result.isIntact && outputGradient.isIntact && scratch.firstBrokenGuard == nil)
        expectGradient(
          result.dense(), expected, places: places,
          "\(item), \(kernels.testDescription), seed \(sample.seed)")
      }
    }
  }
}
