import KernelInterface
import ReferenceLayers
import SystemModule
import TestModels
import Testing

@testable import TensorModule

/// Attention against plain loops in Double, over sets of one block of rows and of several; windows are tested in whole
/// networks (`RandomNetworkTests`).
@Suite struct AttentionTests {
  private struct Sample {
    let layer: Attention
    let input: ReferenceMap
    let gradient: [Float]

    init(count: Int, heads: Int, size: Int, kernels: KernelSet, seed: UInt64) {
      var generator = SeededGenerator(seed: seed)
      layer = Attention(
        rows: Array(0..<count), setSize: count, headCount: heads, headSize: size, kernels: kernels)
      let channels = 3 * heads * size
      input = ReferenceMap(
        height: count, width: 1, channels: channels, values: generator.floats(count * channels, scale: 2))
      gradient = generator.floats(count * channels / 3)
    }

    /// The output and the gradient of the input, dense.
    func run(kernels: KernelSet, threadCount: Int) -> (output: [Float], gradient: [Float]) {
      let pool = ThreadPool(threadCount: threadCount)
      func map(_ channels: Int, _ values: [Float]) -> (buffer: AlignedBuffer, map: FeatureMap) {
        let shape = FeatureShape(height: input.height, width: 1, channels: channels)
        let buffer = AlignedBuffer(count: FeatureMap.count(shape, kernels: kernels))
        let map = FeatureMap(buffer.pointer, shape, kernels: kernels)
        for (row, first) in stride(from: 0, to: values.count, by: channels).enumerated() {
          (map.pointer + row * map.pixelStride).update(
            from: Array(values[first..<first + channels]), count: channels)
        }
        return (buffer, map)
      }
      let (x, output) = (map(input.channels, input.rounded), map(input.channels / 3, []))
      let (upper, lower) = (map(input.channels / 3, gradient), map(input.channels, []))
      let scratch = AlignedBuffer(count: max(layer.scratchCount, layer.gradientScratchCount))
      return withExtendedLifetime((x, output, upper, lower, scratch)) {
        // What lay there before must not stay behind the channels, where the next operation may look.
        for map in [output.map, lower.map] {
          map.pointer.update(repeating: .nan, count: map.shape.pixelCount * map.pixelStride)
        }
        layer(x.map, into: output.map, scratch: scratch.pointer, pool: pool)
        layer.inputGradient(upper.map, at: x.map, into: lower.map, scratch: scratch.pointer, pool: pool)
        for map in [output.map, lower.map] {
          for row in 0..<map.shape.pixelCount {
            let lanes = (map.shape.channels..<map.pixelStride).map {
              map.pointer[row * map.pixelStride + $0]
            }
            #expect(lanes.allSatisfy { $0 == 0 }, "behind row \(row) of \(map.shape): \(lanes)")
          }
        }
        return (output.map.dense(), lower.map.dense())
      }
    }
  }

  @Test(
    arguments: KernelChoice.runnable,
    [(1, 1, 1), (3, 2, 5), (50, 3, 64), (97, 1, 17), (197, 2, 32), (601, 1, 64)])
  func rowsAttendToAllRows(kernels: KernelSet, shape: (Int, Int, Int)) {
    let (count, heads, size) = shape
    let seed = UInt64(count)
    let sample = Sample(
      count: count, heads: heads, size: size, kernels: kernels, seed: seed)
    let found = sample.run(kernels: kernels, threadCount: 1)
    let expected = sample.input.attention(heads: heads)
    for (place, value) in expected.values.enumerated()
    where !(abs(Double(found.output[place]) - value) < 5e-6) {
      Issue.record("\(shape), seed \(seed), at index \(place): \(found.output[place]) for \(value)")
      break
    }
    guard count < 200 else { return }
    let places = stride(from: 0, to: sample.input.values.count, by: sample.input.values.count / 9 | 1)
    expectGradient(
      found.gradient,
      finiteDifferences(sample.input, weights: sample.gradient, places: Array(places)) {
        $0.attention(heads: heads)
      }, places: Array(places), "\(shape), seed \(seed)")
  }

  @Test(arguments: KernelChoice.runnable) func threadsChangeNoBit(kernels: KernelSet) {
    let sample = Sample(count: 301, heads: 3, size: 24, kernels: kernels, seed: 5)
    let (one, three) = (1, 3)
    #expect(
      sample.run(kernels: kernels, threadCount: one) == sample.run(kernels: kernels, threadCount: three))
  }
}
