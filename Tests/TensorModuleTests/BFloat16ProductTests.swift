import KernelInterface
import ReferenceLayers
import SystemModule
import Testing

@testable import TensorModule

/// bfloat16 and what a product of it gives, computed one number at a time. `model/bfloat16.py` defines the same in Python.
enum BFloat16Samples {
  /// The nearest float whose lower half is 0, halves to the even one; numbers too small for a normal one become 0.
  static func rounded(_ value: Float) -> Float {
    guard value.isFinite else { return value }
    if abs(value) < 0x1p-126 { return value.sign == .minus ? -0.0 : 0 }
    let step: UInt32 = 1 << 16
    let low = value.bitPattern / step * step
    let rest = value.bitPattern - low
    let isUp = rest > step / 2 || (rest == step / 2 && low / step % 2 == 1)
    return Float(bitPattern: isUp ? low + step : low)
  }

  /// The words of `[rows, depth]` values, each row `wordStride` words long.
  static func words(_ values: [Float], depth: Int, wordStride: Int) -> [UInt32] {
    var words = [UInt32](repeating: 0, count: values.count / depth * wordStride)
    for (place, value) in values.enumerated() {
      let (row, k) = place.quotientAndRemainder(dividingBy: depth)
      words[row * wordStride + k / 2] |= (rounded(value).bitPattern >> 16) << UInt32(k % 2 * 16)
    }
    return words
  }

  /// `bias + sum over k of a[k] b[k]` of rounded values: of each two neighbours the second is added first, and every sum
  /// is rounded.
  static func sum(_ a: ArraySlice<Float>, _ b: ArraySlice<Float>, bias: Float) -> Float {
    var sum = bias
    for k in stride(from: 0, to: a.count, by: 2) {
      let (inA, inB) = (a.startIndex + k, b.startIndex + k)
      // A depth that is odd ends with a product of zeros.
      sum += k + 1 < a.count ? a[inA + 1] * b[inB + 1] : 0
      sum += a[inA] * b[inB]
    }
    return sum
  }
}

/// Products of bfloat16, which have one right answer to the bit.
@Suite struct BFloat16ProductTests {
  static let kernels = KernelChoice.runnable.filter { $0.products.bfloat16 != nil }

  private static func layer(
    inputs: Int, outputs: Int, weight: [Float], bias: [Float], activation: Activation, kernels: KernelSet
  ) -> Convolution2D {
    Convolution2D(
      matrix: PackedMatrix(
        columnCount: outputs, depth: inputs, bias: bias, kernels: kernels, type: .bfloat16
      ) { column, start, target in
        for k in target.indices { target[k] = weight[column * inputs + start + k] }
      }, activation: activation)
  }

  @Test(arguments: kernels, [1, 2, 3, 16, 23, 144, 301])
  func equalsRoundedSumsForAnyNumberOfThreads(kernels: KernelSet, depth: Int) {
    for (pixels, outputs) in [(1, 1), (5, 17), (13, 24), (37, 40), (190, 112)] {
      let seed = UInt64(depth * 1000 + outputs)
      var generator = SeededGenerator(seed: seed)
      let weight = generator.floats(outputs * depth)
      let bias = generator.floats(outputs)
      let values = generator.floats(pixels * depth, scale: 3)
      let gate = generator.floats(depth.roundedUp(toMultipleOf: kernels.vectorWidth), in: 0...1)
      let layer = Self.layer(
        inputs: depth, outputs: outputs, weight: weight, bias: bias, activation: .relu6, kernels: kernels)
      let roundedWeight = weight.map(BFloat16Samples.rounded)
      for isGated in [false, true] {
        let factors = isGated ? gate : [Float](repeating: 1, count: gate.count)
        let scaled = values.indices.map { BFloat16Samples.rounded(values[$0] * factors[$0 % depth]) }
        let expected = (0..<pixels).flatMap { pixel in
          (0..<outputs).map { output in
            let sum = BFloat16Samples.sum(
              scaled[pixel * depth..<(pixel + 1) * depth],
              roundedWeight[output * depth..<(output + 1) * depth], bias: bias[output])
            return min(max(sum, 0), 6)
          }
        }
        for pool in Pools.all {
          let input = FilledMap(values, FeatureShape(height: pixels, width: 1, channels: depth), kernels)
          let output = GuardedMap(
            FeatureShape(height: pixels, width: 1, channels: outputs), kernels: kernels)
          let scratch = GuardedBuffer(count: layer.scratchCount(input.map.shape, pool: pool))
          gate.withUnsafeBufferPointer { gate in
            layer(
              input.map, gate: isGated ? gate.baseAddress : nil, into: output.map,
              scratch: scratch.pointer, pool: pool)
          }
          #expect(
            firstDifference(output.dense(), expected) == nil,
            "\(pixels) pixels of \(depth) to \(outputs), \(pool.threadCount) threads, seed \(seed)")
          #expect(output.isIntact && scratch.firstBrokenGuard == nil)
        }
      }
    }
  }

  /// Halves, numbers of both signs, zeros, and numbers that are too small.
  @Test(arguments: kernels, [1, 2, 3, 4])
  func valuesAreRoundedToTheNearest(kernels: KernelSet, vectors: Int) {
    let count = vectors * kernels.vectorWidth
    var generator = SeededGenerator(seed: 3)
    var values = generator.floats(count, scale: 100)
    let awkward: [Float] = [
      0, -0.0, Float(bitPattern: 0x3F80_8000), Float(bitPattern: 0x3F81_8000), Float(bitPattern: 0x3F80_8001),
      -Float(bitPattern: 0x3F81_8000), 0x1p-126, 0x1.8p-127, -0x1p-140, 1e38, -1e-38, .infinity,
    ]
    for (place, value) in awkward.enumerated() { values[place] = value }
    let words = GuardedBuffer(count: count / 2)
    values.withPointer {
      kernels.products.bfloat16!.pack!(
        PackingPass(
          values: $0, valueStride: count, rowCount: 1, columnCount: count,
          words: UnsafeMutableRawPointer(words.pointer).assumingMemoryBound(to: Int32.self),
          wordStride: count / 2, factors: nil, zeroPoint: 0))
    }
    #expect(
      words.values.map { $0.bitPattern } == BFloat16Samples.words(values, depth: count, wordStride: count / 2)
    )
    #expect(words.firstBrokenGuard == nil)
    for value in values where value.isFinite && abs(value) >= 0x1p-126 {
      #expect(UInt32(value.bfloat16Bits) << 16 == BFloat16Samples.rounded(value).bitPattern, "\(value)")
    }
  }

  @Test(arguments: kernels, [1, 7, 24, 40, 112])
  func theWeightsComeBackRounded(kernels: KernelSet, outputs: Int) {
    let depth = 27
    var generator = SeededGenerator(seed: 9)
    let weight = generator.floats(outputs * depth)
    let matrix = Self.layer(
      inputs: depth, outputs: outputs, weight: weight, bias: generator.floats(outputs), activation: .identity,
      kernels: kernels
    ).matrix
    let expected = (0..<depth).flatMap { k in
      (0..<outputs).map { BFloat16Samples.rounded(weight[$0 * depth + k]) }
    }
    #expect(firstDifference(matrix.floats.unpacked(), expected) == nil)
  }

  /// An expansion and the depthwise convolution after it: the rows of the words give what a whole map does.
  @Test(arguments: kernels, [(9, 7, 5, 19), (12, 12, 8, 120), (70, 95, 3, 40)])
  func expandedRowsAreThoseOfTheWholeMap(kernels: KernelSet, size: (Int, Int, Int, Int)) {
    let (height, width, inputs, channels) = size
    var generator = SeededGenerator(seed: 11)
    let window = Window(kernelSize: 3, stride: 1, padding: .same)
    let expansion = Self.layer(
      inputs: inputs, outputs: channels, weight: generator.floats(channels * inputs),
      bias: generator.floats(channels), activation: .silu, kernels: kernels)
    let depthwise = DepthwiseConvolution2D(
      weight: generator.floats(channels * 9), bias: generator.floats(channels), window: window,
      activation: .silu, kernels: kernels)
    let shape = FeatureShape(height: height, width: width, channels: inputs)
    let input = FilledMap(generator.floats(shape.pixelCount * inputs), shape, kernels)
    let expandedShape = FeatureShape(height: height, width: width, channels: channels)
    let expanded = FilledMap(
      [Float](repeating: 0, count: expandedShape.pixelCount * channels), expandedShape, kernels)
    let scratch = AlignedBuffer(count: expansion.scratchCount(shape, pool: Pools.alone))
    expansion(input.map, into: expanded.map, scratch: scratch.pointer, pool: Pools.alone)

    let plain = ExpandedDepthwise(expansion: nil, depthwise: depthwise)
    let whole = ExpandedDepthwise(expansion: expansion, depthwise: depthwise)
    let expected = GuardedMap(expandedShape, kernels: kernels)
    let plainPlan = plain.plan(expandedShape, threadCount: 1)
    let plainScratch = AlignedBuffer(count: plainPlan.scratchCount)
    plain(
      expanded.map, into: expected.map, sums: nil, plan: plainPlan,
      scratch: plainScratch.pointer, pool: Pools.alone)
    let packed = GuardedBuffer(count: whole.packedCount(shape))
    let words = GuardedBuffer(count: PackedMap.count(expandedShape, .bfloat16, kernels: kernels))
    for pool in Pools.all {
      let plan = whole.plan(shape, threadCount: pool.threadCount)
      let found = GuardedMap(expandedShape, kernels: kernels)
      let taskScratch = AlignedBuffer(count: plan.scratchCount + plan.widestRowCount)
      whole(
        input.map, packed: packed.pointer, into: found.map, sums: nil, plan: plan,
        scratch: taskScratch.pointer, pool: pool)
      #expect(firstDifference(found.dense(), expected.dense()) == nil, "\(pool.threadCount) threads")
      let map = PackedMap(words.pointer, expandedShape, .bfloat16, kernels: kernels)
      whole(
        input.map, packed: packed.pointer, into: map, plan: plan, scratch: taskScratch.pointer, pool: pool)
      let padded = channels.roundedUp(toMultipleOf: kernels.vectorWidth)
      let expectedWords = BFloat16Samples.words(
        expected.dense(), depth: channels, wordStride: padded / 2)
      for (place, word) in words.values.map({ $0.bitPattern }).enumerated()
      where place % (padded / 2) < channels / 2 && word != expectedWords[place] {
        Issue.record("word \(place) is \(word) for \(expectedWords[place]), \(pool.threadCount) threads")
        break
      }
    }
    #expect(packed.firstBrokenGuard == nil && words.firstBrokenGuard == nil)
  }
}

/// A map whose padding is zeros, as layers leave it.
private final class FilledMap {
  private let buffer: AlignedBuffer
  let map: FeatureMap

  init(_ values: [Float], _ shape: FeatureShape, _ kernels: KernelSet) {
    buffer = AlignedBuffer(count: FeatureMap.count(shape, kernels: kernels))
    map = FeatureMap(buffer.pointer, shape, kernels: kernels)
    for pixel in 0..<shape.pixelCount {
      for channel in 0..<shape.channels {
        map.pointer[pixel * map.pixelStride + channel] = values[pixel * shape.channels + channel]
      }
    }
  }
}
