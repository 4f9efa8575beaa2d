import KernelInterface
import ReferenceLayers
import SystemModule
import TensorModule
import TestModels
import Testing

@testable import DermaFusion
@testable import NetworkModule

/// A whole block's gradient by central differences of the same block in Double.
@Suite struct BlockGradientTests {
  struct Shape: Sendable, CustomTestStringConvertible {
    let inputs: Int
    let expansion: Int
    let outputs: Int
    let kernelSize: Int
    let stride: Int
    let hasSqueeze: Bool
    var height = 7
    var width = 6
    var testDescription: String {
      "\(inputs) x\(expansion) to \(outputs), \(kernelSize)x\(kernelSize)/\(stride)\(hasSqueeze ? ", gated" : "")"
    }
  }

  static let shapes = [
    Shape(inputs: 5, expansion: 1, outputs: 5, kernelSize: 3, stride: 1, hasSqueeze: true),
    Shape(inputs: 5, expansion: 1, outputs: 7, kernelSize: 3, stride: 1, hasSqueeze: false),
    Shape(inputs: 6, expansion: 6, outputs: 6, kernelSize: 5, stride: 1, hasSqueeze: true),
    Shape(inputs: 6, expansion: 6, outputs: 9, kernelSize: 5, stride: 2, hasSqueeze: true),
    Shape(inputs: 9, expansion: 6, outputs: 9, kernelSize: 3, stride: 1, hasSqueeze: false),
    Shape(inputs: 9, expansion: 4, outputs: 4, kernelSize: 3, stride: 2, hasSqueeze: false),
    // High enough to be cut into bands.
    Shape(
      inputs: 3, expansion: 2, outputs: 3, kernelSize: 3, stride: 1, hasSqueeze: true, height: 50, width: 4),
    Shape(
      inputs: 3, expansion: 2, outputs: 2, kernelSize: 3, stride: 2, hasSqueeze: true, height: 53, width: 4),
  ]

  @Test(arguments: shapes) func gradientIsThatOfTheBlockInDouble(shape: Shape) {
    let (height, width) = (shape.height, shape.width)
    var generator = SeededGenerator(seed: UInt64(shape.inputs * 100 + shape.kernelSize))
    let expanded = shape.inputs * shape.expansion
    let reduced = 2
    let expandWeight = generator.floats(expanded * shape.inputs)
    let expandBias = generator.floats(expanded)
    let filterWeight = generator.floats(expanded * shape.kernelSize * shape.kernelSize)
    let filterBias = generator.floats(expanded)
    let squeeze = (
      generator.floats(reduced * expanded), generator.floats(reduced), generator.floats(reduced * expanded),
      generator.floats(expanded)
    )
    let projectWeight = generator.floats(shape.outputs * expanded)
    let projectBias = generator.floats(shape.outputs)
    let hasSkip = shape.stride == 1 && shape.inputs == shape.outputs
    func reference(_ x: ReferenceMap) -> ReferenceMap {
      var map = x
      if shape.expansion != 1 {
        map = map.pointwise(weight: expandWeight, bias: expandBias).activated(.silu)
      }
      map = map.depthwise(
        weight: filterWeight, bias: filterBias, kernelSize: shape.kernelSize, stride: shape.stride,
        padding: .same
      ).activated(.silu)
      if shape.hasSqueeze {
        map = map.scaled(
          by: map.squeezeExciteGate(
            reduceWeight: squeeze.0, reduceBias: squeeze.1, expandWeight: squeeze.2, expandBias: squeeze.3,
            activation: .silu))
      }
      map = map.pointwise(weight: projectWeight, bias: projectBias)
      return hasSkip ? map.adding(x) : map
    }

    let inputShape = FeatureShape(height: height, width: width, channels: shape.inputs)
    let values = generator.floats(inputShape.pixelCount * shape.inputs)
    let x = ReferenceMap(height: height, width: width, channels: shape.inputs, values: values)
    let result = reference(x)
    let outputShape = FeatureShape(height: result.height, width: result.width, channels: result.channels)
    // Two values at once must not disturb each other.
    let weights = [generator.floats(result.values.count), generator.floats(result.values.count)]
    let expected = weights.map { Differences(of: reference, at: x, weights: $0) }
    for kernels in KernelChoice.runnable {
      let block = MBConvBlock(
        name: "blocks.0.0", input: FeatureShape(height: height, width: width, channels: shape.inputs),
        filter: ExpandedDepthwise(
          expansion: shape.expansion == 1
            ? nil
            : PointwiseConvolution(
              weight: expandWeight, bias: expandBias, inputChannels: shape.inputs, activation: .silu,
              kernels: kernels),
          depthwise: DepthwiseConvolution2D(
            weight: filterWeight, bias: filterBias,
            window: Window(kernelSize: shape.kernelSize, stride: shape.stride, padding: .same),
            activation: .silu,
            kernels: kernels)),
        squeezeExcite: shape.hasSqueeze
          ? SqueezeExcite(
            reduceWeight: squeeze.0, reduceBias: squeeze.1, expandWeight: squeeze.2, expandBias: squeeze.3,
            activation: .silu, kernels: kernels) : nil,
        projection: PointwiseConvolution(
          weight: projectWeight, bias: projectBias, inputChannels: expanded, activation: .identity,
          kernels: kernels),
        hasSkip: hasSkip)
      let input = Padded(values, inputShape, kernels)
      let outputGradients = weights.map { Padded($0, outputShape, kernels) }
      let inputGradients = weights.map { _ in
        Padded([Float](repeating: .nan, count: values.count), inputShape, kernels)
      }
      let backward = MBConvBlockGradient(block)
      let pool = ThreadPool(threadCount: 2)
      let scratch = AlignedBuffer(count: backward.scratchCount)
      backward(
        at: input.map, output: nil, outputGradients: outputGradients.map(\.map),
        into: inputGradients.map(\.map),
        scratch: scratch.pointer, pool: pool)

      let first = inputGradients.map { gradient in withExtendedLifetime(gradient) { gradient.map.dense() } }
      for threadCount in [1, 3] {
        let pool = ThreadPool(threadCount: threadCount)
        let scratch = AlignedBuffer(count: backward.scratchCount)
        backward(
          at: input.map, output: nil, outputGradients: outputGradients.map(\.map),
          into: inputGradients.map(\.map),
          scratch: scratch.pointer, pool: pool)
        let again = inputGradients.map { gradient in withExtendedLifetime(gradient) { gradient.map.dense() } }
        withExtendedLifetime(scratch) {}
        #expect(again == first, "\(shape.testDescription) on \(threadCount) threads")
      }

      withExtendedLifetime((input, outputGradients, scratch)) {}
      for (expected, gradient) in zip(expected, inputGradients) {
        expected.expectEqual(gradient, "\(shape.testDescription), \(kernels.instructionSet)")
      }
    }
  }

  struct ResidualShape: Sendable, CustomTestStringConvertible {
    let inputs: Int
    /// Kernel size, stride and channels of each convolution.
    let layers: [[Int]]
    var height = 7
    var width = 6
    var testDescription: String { "\(inputs) channels of \(height)x\(width) through \(layers)" }

    var stride: Int { layers.reduce(1) { $0 * $1[1] } }
    var outputs: Int { layers[layers.count - 1][2] }
    var hasDownsample: Bool { stride > 1 || inputs != outputs }
  }

  static let residualShapes = [
    ResidualShape(inputs: 5, layers: [[3, 1, 5], [3, 1, 5]]),
    ResidualShape(inputs: 5, layers: [[3, 2, 9], [3, 1, 9]]),
    ResidualShape(inputs: 9, layers: [[1, 1, 3], [3, 1, 3], [1, 1, 9]]),
    ResidualShape(inputs: 8, layers: [[1, 1, 3], [3, 2, 3], [1, 1, 12]], height: 8),
    ResidualShape(inputs: 4, layers: [[1, 1, 4], [3, 1, 4], [1, 1, 16]], height: 29, width: 5),
  ]

  @Test(arguments: residualShapes) func gradientIsThatOfTheResidualBlockInDouble(shape: ResidualShape) {
    var generator = SeededGenerator(seed: UInt64(shape.inputs * 100 + shape.outputs))
    var inputs = shape.inputs
    let layers = shape.layers.map { layer in
      let (size, channels) = (layer[0], layer[2])
      defer { inputs = channels }
      return (
        window: Window(kernelSize: size, stride: layer[1], padding: .symmetric((size - 1) / 2)),
        inputs: inputs, weight: generator.floats(channels * inputs * size * size),
        // Mostly above 0, so that few of the differences meet a kink.
        bias: generator.floats(channels, in: 0.5...3)
      )
    }
    let downsample = (
      weight: generator.floats(shape.outputs * shape.inputs), bias: generator.floats(shape.outputs)
    )
    let inputShape = FeatureShape(height: shape.height, width: shape.width, channels: shape.inputs)
    func reference(_ x: ReferenceMap) -> ReferenceMap {
      var map = x
      for (index, layer) in layers.enumerated() {
        map = map.convolution(
          weight: layer.weight, bias: layer.bias, kernelSize: layer.window.kernelSize,
          stride: layer.window.stride, padding: .symmetric((layer.window.kernelSize - 1) / 2))
        if index + 1 < layers.count { map = map.activated(.relu) }
      }
      let shortcut =
        shape.hasDownsample
        ? x.convolution(weight: downsample.weight, bias: downsample.bias, stride: shape.stride) : x
      return map.adding(shortcut).activated(.relu)
    }
    let values = generator.floats(inputShape.pixelCount * shape.inputs)
    let x = ReferenceMap(height: shape.height, width: shape.width, channels: shape.inputs, values: values)
    let result = reference(x)
    let outputShape = FeatureShape(height: result.height, width: result.width, channels: result.channels)
    let weights = [generator.floats(result.values.count), generator.floats(result.values.count)]
    let expected = weights.map { Differences(of: reference, at: x, weights: $0) }
    for kernels in KernelChoice.runnable {
      let input = Padded(values, inputShape, kernels)
      let output = Padded(result.values.map { Float($0) }, outputShape, kernels)
      for threadCount in [1, 3] {
        let pool = ThreadPool(threadCount: threadCount)
        let block = ResidualBlock(
          name: "layer1.0", input: inputShape,
          convolutions: layers.map {
            Convolution2D(
              weight: $0.weight, bias: $0.bias, inputChannels: $0.inputs, window: $0.window,
              activation: .relu,
              kernels: kernels)
          },
          downsample: shape.hasDownsample
            ? Convolution2D(
              weight: downsample.weight, bias: downsample.bias, inputChannels: shape.inputs,
              window: Window(kernelSize: 1, stride: shape.stride, padding: .symmetric(0)),
              activation: .identity, kernels: kernels) : nil,
          pool: pool)
        #expect(block.output == outputShape)
        let outputGradients = weights.map { Padded($0, outputShape, kernels) }
        let inputGradients = weights.map { _ in
          Padded([Float](repeating: .nan, count: values.count), inputShape, kernels)
        }
        let backward = ResidualBlockGradient(block, pool: pool)
        let scratch = AlignedBuffer(count: backward.scratchCount)
        backward(
          at: input.map, output: output.map, outputGradients: outputGradients.map(\.map),
          into: inputGradients.map(\.map), scratch: scratch.pointer, pool: pool)
        withExtendedLifetime((input, output, outputGradients, scratch)) {}
        for (expected, gradient) in zip(expected, inputGradients) {
          expected.expectEqual(gradient, "\(shape.testDescription), \(kernels.instructionSet)")
        }
      }
    }
  }

  /// About 60 elements of the gradient of the weighted sum of a function by central differences. They cost far more
  /// than the gradient, and all instruction sets share them.
  private struct Differences {
    let expected: [(index: Int, value: Double)]

    init(of function: (ReferenceMap) -> ReferenceMap, at x: ReferenceMap, weights: [Float]) {
      func value(_ index: Int, _ change: Double) -> Double {
        var moved = x
        moved.values[index] += change
        let result = function(moved).values
        return result.indices.reduce(0) { $0 + result[$1] * Double(weights[$1]) }
      }
      expected = stride(from: 0, to: x.values.count, by: max(3, x.values.count / 60 | 1)).map {
        ($0, (value($0, 1e-5) - value($0, -1e-5)) / 2e-5)
      }
    }

    func expectEqual(_ gradient: Padded, _ description: String) {
      let actual = withExtendedLifetime(gradient) { gradient.map.dense() }
      let scale = expected.reduce(0) { max($0, abs($1.value)) }
      for (index, value) in expected where !(abs(Double(actual[index]) - value) <= 5e-5 * scale) {
        Issue.record("\(description): at index \(index) \(actual[index]), by differences \(value)")
        return
      }
    }
  }

  /// A feature map with memory of its own.
  private struct Padded {
    let buffer: AlignedBuffer
    let map: FeatureMap

    init(_ values: [Float], _ shape: FeatureShape, _ kernels: KernelSet) {
      let stride = shape.channels.roundedUp(toMultipleOf: kernels.vectorWidth)
      buffer = AlignedBuffer(count: shape.pixelCount * stride)
      for pixel in 0..<shape.pixelCount {
        for channel in 0..<shape.channels {
          buffer.pointer[pixel * stride + channel] = values[pixel * shape.channels + channel]
        }
      }
      map = FeatureMap(buffer.pointer, shape: shape, pixelStride: stride)
    }
  }
}
