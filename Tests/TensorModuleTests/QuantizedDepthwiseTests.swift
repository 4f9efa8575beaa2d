import KernelInterface
import ReferenceLayers
import SystemModule
import Testing

@testable import TensorModule

/// An expansion, a depthwise convolution and a projection of levels, against one number at a time.
@Suite struct QuantizedDepthwiseTests {
  struct Case: CustomTestStringConvertible {
    let height: Int
    let width: Int
    let inputs: Int
    let channels: Int
    let outputs: Int
    let window: Window

    var testDescription: String {
      "\(height)x\(width)x\(inputs) to \(channels) to \(outputs), window \(window.kernelSize) / \(window.stride)"
    }
  }

  static let cases = [
    Case(
      height: 1, width: 1, inputs: 2, channels: 9, outputs: 3,
      window: Window(kernelSize: 3, stride: 2, padding: .same)),
    Case(
      height: 9, width: 7, inputs: 5, channels: 19, outputs: 5,
      window: Window(kernelSize: 3, padding: .same)),
    Case(
      height: 12, width: 12, inputs: 8, channels: 120, outputs: 17,
      window: Window(kernelSize: 5, padding: .symmetric(2))),
    Case(
      height: 6, width: 11, inputs: 4, channels: 33, outputs: 6,
      window: Window(kernelSize: 3, padding: .symmetric(0))),
    Case(
      height: 13, width: 24, inputs: 7, channels: 72, outputs: 24,
      window: Window(kernelSize: 5, stride: 2, padding: .same)),
    Case(
      height: 70, width: 95, inputs: 3, channels: 40, outputs: 2,
      window: Window(kernelSize: 3, stride: 2, padding: .same)),
  ]
  static let input = Quantization(scale: 0.05, zeroPoint: 131)
  static let expanded = Quantization(scale: 6 / 255, zeroPoint: 0)
  static let filtered = Quantization(scale: 0.031, zeroPoint: 0)

  @Test(arguments: KernelChoice.runnable, cases)
  func equalsWholeNumbersForAnyNumberOfThreads(kernels: KernelSet, item: Case) throws {
    let seed = UInt64(item.height * 1000 + item.channels)
    var generator = SeededGenerator(seed: seed)
    let expansionWeight = QuantizedSamples.weight(
      outputs: item.channels, depth: item.inputs, keepsPairs: true, &generator)
    let filterWeight = QuantizedSamples.weight(
      outputs: item.channels, depth: item.window.kernelSize * item.window.kernelSize, keepsPairs: false,
      &generator)
    let projectionWeight = QuantizedSamples.weight(
      outputs: item.outputs, depth: item.channels, keepsPairs: true, &generator)
    let shape = FeatureShape(height: item.height, width: item.width, channels: item.inputs)
    let values = generator.floats(shape.pixelCount * shape.channels, scale: 7)
    let expansion = Convolution2D(
      matrix: try #require(
        PackedMatrix(
          expansionWeight, input: Self.input, outputScale: Self.expanded.scale, kernels: kernels)),
      activation: .relu6)
    let filter = try #require(
      QuantizedDepthwise(
        expansion: expansion, weight: filterWeight, input: Self.expanded, output: Self.filtered,
        window: item.window, activation: .relu6, kernels: kernels))
    let projection = Convolution2D(
      matrix: try #require(PackedMatrix(projectionWeight, input: Self.filtered, kernels: kernels)),
      activation: .identity)
    let plan = filter.plan(shape, threadCount: 7)
    var outputShape = plan.output
    outputShape.channels = item.outputs
    let residual = generator.floats(outputShape.pixelCount * item.outputs, scale: 3)
    let expected = reference(
      item, values, expansionWeight, filterWeight, projectionWeight, residual: residual, output: plan.output)

    let input = GuardedMap(values, shape, kernels: kernels)
    let added = GuardedMap(residual, outputShape, kernels: kernels)
    for pool in Pools.all {
      let context: Comment =
        "\(kernels.testDescription), \(item.testDescription), \(pool.threadCount) threads, seed \(seed)"
      let levels = GuardedBuffer(count: PackedMap.count(shape, .int8, kernels: kernels))
      let filtered = GuardedBuffer(count: PackedMap.count(plan.output, .int8, kernels: kernels))
      let scratch = GuardedBuffer(count: filter.scratchCount(plan))
      let output = GuardedMap(outputShape, kernels: kernels)
      let words = PackedMap(levels.pointer, shape, .int8, kernels: kernels)
      let between = PackedMap(filtered.pointer, plan.output, .int8, kernels: kernels)
      // The padding of a map's pixels may hold anything.
      Quantizer(Self.input, channels: item.inputs, kernels: kernels).write(input.map, into: words, pool: pool)
      filter(.levels(words), into: between, plan: plan, scratch: scratch.pointer, pool: pool)
      projection(
        between, residual: added.map, into: output.map, scratch: scratch.pointer, pool: pool)
      #expect(firstDifference(output.dense(), expected) == nil, context)
      #expect(
        levels.firstBrokenGuard == nil && filtered.firstBrokenGuard == nil
          && scratch.firstBrokenGuard == nil && output.isIntact && input.isIntact, context)
    }
  }

  private func reference(
    _ item: Case, _ values: [Float], _ expansion: QuantizedWeight, _ filter: QuantizedWeight,
    _ projection: QuantizedWeight, residual: [Float], output: FeatureShape
  ) -> [Float] {
    let levels = values.map {
      QuantizedSamples.level($0, factor: 1 / Self.input.scale, zeroPoint: Self.input.zeroPoint)
    }
    let expanded = requantized(
      QuantizedSamples.sums(levels, expansion, input: Self.input), expansion, from: Self.input,
      to: Self.expanded)
    let window = item.window.resolve(height: item.height, width: item.width)
    let size = item.window.kernelSize
    var sums: [Int] = []
    for y in 0..<output.height {
      for x in 0..<output.width {
        for channel in 0..<item.channels {
          var sum = QuantizedSamples.wholeBias(filter, input: Self.expanded, output: channel)
          for ky in 0..<size {
            for kx in 0..<size {
              let row = y * item.window.stride - window.top + ky
              let column = x * item.window.stride - window.left + kx
              guard (0..<item.height).contains(row), (0..<item.width).contains(column) else { continue }
              sum +=
                expanded[(row * item.width + column) * item.channels + channel]
                * Int(filter.levels[channel * size * size + ky * size + kx])
            }
          }
          sums.append(sum)
        }
      }
    }
    let filtered = requantized(sums, filter, from: Self.expanded, to: Self.filtered)
    let projected = QuantizedSamples.sums(filtered, projection, input: Self.filtered)
    return projected.indices.map { place in
      let step = QuantizedSamples.step(projection, input: Self.filtered, output: place % item.outputs)
      return Float(projected[place]) * step + residual[place]
    }
  }

  private func requantized(
    _ sums: [Int], _ weight: QuantizedWeight, from input: Quantization, to output: Quantization
  ) -> [Int] {
    let factors = weight.scale.indices.map { channel in
      Float(
        Double(QuantizedSamples.step(weight, input: input, output: channel)) / Double(output.scale))
    }
    return sums.indices.map {
      QuantizedSamples.level(Float(sums[$0]), factor: factors[$0 % factors.count], zeroPoint: 0)
    }
  }
}
