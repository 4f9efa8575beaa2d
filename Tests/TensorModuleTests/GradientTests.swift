import KernelInterface
import ReferenceLayers
import SystemModule
import TestModels
import Testing

@testable import TensorModule

/// The gradient of `sum of weights[i] * function(x)[i]` by central differences in Double.
///
/// - Parameter places: The elements of `x` to vary.
func finiteDifferences(
  _ x: ReferenceMap, weights: [Float], places: [Int], _ function: (ReferenceMap) -> ReferenceMap
) -> [Double] {
  let step = 1e-5
  func value(_ place: Int, _ change: Double) -> Double {
    var moved = x
    moved.values[place] += change
    let result = function(moved).values
    return result.indices.reduce(0) { $0 + result[$1] * Double(weights[$1]) }
  }
  return places.map { (value($0, step) - value($0, -step)) / (2 * step) }
}

/// Compares gradients at some places, relative to the largest.
func expectGradient(
  _ actual: [Float], _ expected: [Double], places: [Int], tolerance: Double = 2e-5, _ comment: String
) {
  #expect(!places.isEmpty && places.count == expected.count, "\(comment): nothing to compare")
  let scale = expected.reduce(1e-3) { max($0, abs($1)) }
  for (place, value) in zip(places, expected) where !(abs(Double(actual[place]) - value) <= tolerance * scale)
  {
    Issue.record("\(comment): at index \(place) \(actual[place]), by finite differences \(value)")
    return
  }
}

@Suite struct GradientTests {
  @Test(arguments: KernelChoice.runnable, Activation.allCases)
  func derivativesOfActivations(kernels: KernelSet, activation: Activation) {
    let seed: UInt64 = 11
    var generator = SeededGenerator(seed: seed)
    let (rows, columns) = (7, 3 * kernels.vectorWidth)
    let stride = columns + kernels.vectorWidth
    let x = generator.floats(rows * stride, scale: 8).map { value in
      // Not at the kinks of the piecewise activations.
      [-3, 0, 3, 6].contains { abs(value - $0) < 0.01 } ? 0.5 : value
    }
    let gradient = generator.floats(rows * stride)
    let factors = generator.floats(columns)
    let offsets = generator.floats(columns)
    for (usesFactors, usesOffsets) in [(false, false), (true, false), (false, true), (true, true)] {
      let result = GuardedBuffer(gradient)
      factors.withUnsafeBufferPointer { factors in
        offsets.withUnsafeBufferPointer { offsets in
          x.withPointer {
            kernels.applyDerivative(
              DerivativePass(
                gradient: result.pointer, preActivation: $0, rowCount: rows, columnCount: columns,
                rowStride: stride, factors: usesFactors ? factors.baseAddress : nil,
                offsets: usesOffsets ? offsets.baseAddress : nil, activation: activation))
          }
        }
      }
      #expect(result.firstBrokenGuard == nil)
      let values = result.values
      for i in values.indices {
        let column = i % stride
        var expected = Double(gradient[i])
        if column < columns {
          if usesFactors { expected *= Double(factors[column]) }
          if usesOffsets { expected += Double(offsets[column]) }
          let step = 1e-6
          expected *=
            (activation.reference(Double(x[i]) + step) - activation.reference(Double(x[i]) - step))
            / (2 * step)
        }
        #expect(abs(Double(values[i]) - expected) < 1e-5, "index \(i), seed \(seed)")
        if column < columns {
          let derivative = activation.derivative(at: Double(x[i]))
          let difference =
            (activation.reference(Double(x[i]) + 1e-6) - activation.reference(Double(x[i]) - 1e-6)) / 2e-6
          #expect(abs(derivative - difference) < 1e-6, "derivative at \(x[i])")
        }
      }
    }
  }

  /// PyTorch's choice where the derivative jumps, and no NaN far out.
  @Test(arguments: KernelChoice.runnable)
  func derivativesAtKinksAndFarOut(kernels: KernelSet) {
    let cases: [(Activation, Float, Float)] = [
      (.relu, 0, 0), (.relu6, 0, 0), (.relu6, 6, 0), (.silu, 0, 0.5), (.silu, -200, 0), (.silu, -1e30, 0),
      (.silu, 1e30, 1), (.gelu, -1e30, 0), (.gelu, 1e30, 1), (.gelu, 0, 0.5), (.sigmoid, -1e30, 0),
      (.sigmoid, 1e30, 0),
    ]
    for (activation, x, expected) in cases {
      let gradient = GuardedBuffer([Float](repeating: 1, count: kernels.vectorWidth))
      let arguments = [Float](repeating: x, count: kernels.vectorWidth)
      arguments.withPointer {
        kernels.applyDerivative(
          DerivativePass(
            gradient: gradient.pointer, preActivation: $0, rowCount: 1, columnCount: kernels.vectorWidth,
            rowStride: kernels.vectorWidth, activation: activation))
      }
      #expect(
        gradient.values.allSatisfy { abs($0 - expected) < 1e-6 },
        "\(activation) at \(x): \(gradient.values[0])")
      #expect(abs(activation.derivative(at: Double(x)) - Double(expected)) < 1e-6, "\(activation) at \(x)")
    }
  }

  /// The bits of ReLU and ReLU6 do what their derivatives do, at the kinks and for NaN too. A pixel has room for more channels.
  @Test(arguments: KernelChoice.runnable, [1, 2, 3, 5])
  func masksAreDerivatives(kernels: KernelSet, vectorCount: Int) {
    let special: [Float] = [
      0, -0, 6, Float(6).nextDown, Float(6).nextUp, .leastNormalMagnitude, -1e30, 1e30, .nan,
    ]
    let (rows, columns) = (7, vectorCount * kernels.vectorWidth)
    let stride = columns + kernels.vectorWidth
    var generator = SeededGenerator(seed: UInt64(vectorCount))
    let x = generator.floats(rows * stride, scale: 8).enumerated().map { index, value in
      index % 5 == 2 ? special[index / 5 % special.count] : value
    }
    let gradient = generator.floats(rows * stride)
    let byteCount = MaskPass.byteCount(vectorWidth: kernels.vectorWidth)
    let bitStride = (vectorCount + 1) * byteCount
    for activation in [Activation.relu, .relu6] {
      let (values, found) = (GuardedBuffer(x), GuardedBuffer(gradient))
      let expected = GuardedBuffer(gradient)
      let bits = GuardedBuffer(count: (rows * bitStride + 3) / 4)
      let before = UnsafeRawBufferPointer(start: bits.pointer, count: rows * bitStride).map { $0 }
      func pass(_ values: GuardedBuffer) -> MaskPass {
        MaskPass(
          values: values.pointer, rowCount: rows, columnCount: columns, rowStride: stride, bits: bits.pointer,
          bitStride: bitStride, limit: activation == .relu6 ? 6 : .infinity)
      }
      kernels.writeMask(pass(values))
      kernels.applyMask(pass(found))
      x.withPointer {
        kernels.applyDerivative(
          DerivativePass(
            gradient: expected.pointer, preActivation: $0, rowCount: rows, columnCount: columns,
            rowStride: stride, activation: activation))
      }
      #expect(
        found.values.map(\.bitPattern) == expected.values.map(\.bitPattern), "\(activation)")
      #expect([values, found, bits].allSatisfy { $0.firstBrokenGuard == nil })
      let after = UnsafeRawBufferPointer(start: bits.pointer, count: rows * bitStride).map { $0 }
      for i in after.indices where i % bitStride >= vectorCount * byteCount {
        #expect(after[i] == before[i], "byte \(i), of another vector")
      }
    }
  }

  @Test(arguments: KernelChoice.runnable, Activation.allCases)
  func productsWithActivatedValuesAreSummed(kernels: KernelSet, activation: Activation) {
    var generator = SeededGenerator(seed: 12)
    let (rows, columns) = (9, 3 * kernels.vectorWidth)
    let stride = columns + kernels.vectorWidth
    let gradient = generator.floats(rows * stride)
    let x = generator.floats(rows * stride, scale: 4)
    let before = generator.floats(columns)
    let sums = GuardedBuffer(before)
    gradient.withPointer { gradient in
      x.withPointer {
        kernels.addProducts(
          ProductSum(
            sums: sums.pointer, gradient: gradient, preActivation: $0, rowCount: rows, columnCount: columns,
            rowStride: stride, activation: activation))
      }
    }
    #expect(sums.firstBrokenGuard == nil)
    for column in 0..<columns {
      let expected = (0..<rows).reduce(Double(before[column])) {
        $0 + Double(gradient[$1 * stride + column]) * activation.reference(Double(x[$1 * stride + column]))
      }
      #expect(abs(Double(sums.values[column]) - expected) < 1e-4, "column \(column)")
    }
  }

  /// The instruction sets share the reference, which takes most of the time.
  @Test(arguments: [(3, 5, 7, 11), (1, 1, 1, 1), (4, 6, 40, 24), (5, 9, 19, 33)])
  func pointwiseConvolution(height: Int, width: Int, inputs: Int, outputs: Int) {
    var generator = SeededGenerator(seed: UInt64(inputs))
    let weight = generator.floats(inputs * outputs)
    let bias = generator.floats(outputs)
    let shape = FeatureShape(height: height, width: width, channels: outputs)
    let gradient = generator.floats(shape.pixelCount * outputs)
    let target = FeatureShape(height: height, width: width, channels: inputs)
    let residual = generator.floats(target.pixelCount * inputs)
    let places = Array(0..<target.pixelCount * inputs)
    let x = ReferenceMap(
      height: height, width: width, channels: inputs, values: generator.floats(places.count))
    let differences = finiteDifferences(x, weights: gradient, places: places) {
      $0.pointwise(weight: weight, bias: bias)
    }
    for kernels in KernelChoice.runnable {
      let layer = Convolution2D(
        linear: weight, bias: bias, inputChannels: inputs, activation: .relu, kernels: kernels)
      for hasResidual in [true, false] {
        let result = GuardedMap(target, kernels: kernels)
        let outputGradient = GuardedMap(gradient, shape, kernels: kernels)
        let residualMap = GuardedMap(residual, target, kernels: kernels)
        let scratch = GuardedBuffer(count: 0)
        Convolution2DGradient(layer)(
          outputGradient.map, residual: hasResidual ? residualMap.map : nil, into: result.map,
          scratch: scratch.pointer, pool: Pools.three)
        #expect(outputGradient.isIntact && residualMap.isIntact && result.isIntact)
        #expect(scratch.firstBrokenGuard == nil)
        let expected = places.map { differences[$0] + (hasResidual ? Double(residual[$0]) : 0) }
        expectGradient(
          result.dense(), expected, places: places,
          "\(target) from \(shape), residual \(hasResidual), \(kernels.testDescription)")
      }
    }
  }

  @Test(arguments: [1, 3, 5, 7], 1...3)
  func depthwiseConvolution(kernelSize: Int, stride: Int) {
    for padding in [Padding.same, .symmetric(kernelSize / 2), .symmetric(0)] {
      for (height, width, channels) in [(9, 11, 5), (10, 12, 17)] {
        let window = Window(kernelSize: kernelSize, stride: stride, padding: padding)
        checkDepthwise(window, FeatureShape(height: height, width: width, channels: channels))
      }
    }
  }

  private func checkDepthwise(_ window: Window, _ input: FeatureShape) {
    var generator = SeededGenerator(seed: UInt64(window.kernelSize * 10 + window.stride))
    let weight = generator.floats(input.channels * window.kernelSize * window.kernelSize)
    let bias = generator.floats(input.channels)
    let output = window.outputShape(input, channels: input.channels)
    let gradient = generator.floats(output.pixelCount * output.channels)
    // All of the border and some of the rest.
    let places = (0..<input.pixelCount * input.channels).filter {
      $0 % 7 == 0 || $0 / input.channels < input.width
    }
    let x = ReferenceMap(
      height: input.height, width: input.width, channels: input.channels,
      values: generator.floats(input.pixelCount * input.channels))
    let expected = finiteDifferences(x, weights: gradient, places: places) {
      $0.depthwise(
        weight: weight, bias: bias, kernelSize: window.kernelSize, stride: window.stride,
        padding: window.padding.reference)
    }
    for kernels in KernelChoice.runnable {
      let layer = DepthwiseConvolution2D(
        weight: weight, bias: bias, window: window, activation: .silu, kernels: kernels)
      let result = GuardedMap(input, kernels: kernels)
      let outputGradient = GuardedMap(gradient, output, kernels: kernels)
      DepthwiseConvolution2DGradient(layer)(outputGradient.map, into: result.map, pool: Pools.two)
      #expect(result.isIntact && outputGradient.isIntact)
      expectGradient(
        result.dense(), expected, places: places, "\(window) on \(input), \(kernels.testDescription)")
    }
  }

  @Test(arguments: KernelChoice.runnable)
  func squeezeExcite(kernels: KernelSet) {
    for (channels, reduced) in [(5, 2), (24, 6), (33, 9)] {
      var generator = SeededGenerator(seed: UInt64(channels))
      let reduceWeight = generator.floats(channels * reduced)
      let reduceBias = generator.floats(reduced)
      let expandWeight = generator.floats(channels * reduced)
      let expandBias = generator.floats(channels)
      let layer = SqueezeExcite(
        reduceWeight: reduceWeight, reduceBias: reduceBias, expandWeight: expandWeight,
        expandBias: expandBias,
        activation: .silu, kernels: kernels)
      let padding = [Float](
        repeating: 0, count: channels.roundedUp(toMultipleOf: kernels.vectorWidth) - channels)
      let means = generator.floats(channels, scale: 2)
      let gradient = generator.floats(channels)
      let state = layer.state(means: means + padding, pool: Pools.two)
      let result = SqueezeExciteGradient(layer).meansGradient(
        gradient + padding, state: state, pool: Pools.two)
      let places = Array(0..<channels)
      let expected = finiteDifferences(ReferenceMap(vector: means), weights: gradient, places: places) {
        $0.squeezeExciteGate(
          reduceWeight: reduceWeight, reduceBias: reduceBias, expandWeight: expandWeight,
          expandBias: expandBias,
          activation: .silu)
      }
      expectGradient(result, expected, places: places, "\(channels) channels")
    }
  }

  @Test(arguments: [1, 2, 7, 256])
  func layerNormalization(count: Int) {
    var generator = SeededGenerator(seed: UInt64(count))
    let layer = LayerNormalization(
      scale: generator.floats(count, scale: 2), offset: generator.floats(count), epsilon: 1e-5)
    let x = generator.floats(count, scale: 3)
    let gradient = generator.floats(count)
    let result = layer.inputGradient(gradient.map(Double.init), at: x)
    let places = Array(0..<count)
    let expected = finiteDifferences(ReferenceMap(vector: x), weights: gradient, places: places) {
      var map = $0
      map.values = Reference.layerNormalized(
        $0.values, scale: layer.scale.map(Double.init), offset: layer.offset.map(Double.init),
        epsilon: layer.epsilon)
      return map
    }
    expectGradient(result.map { Float($0) }, expected, places: places, "\(count) values")
  }

  @Test(arguments: KernelChoice.runnable, [Activation.identity, .silu])
  func denseLayer(kernels: KernelSet, activation: Activation) {
    for (inputs, outputs) in [(1, 1), (13, 7), (40, 256)] {
      var generator = SeededGenerator(seed: UInt64(inputs))
      let weight = generator.floats(inputs * outputs, scale: 0.5)
      let bias = generator.floats(outputs)
      let layer = Dense(weight: weight, bias: bias, activation: activation, kernels: kernels)
      let x = generator.floats(inputs)
      let gradient = generator.floats(outputs)
      let result = layer.inputGradient(gradient.map(Double.init), at: x)
      let places = Array(0..<inputs)
      let expected = finiteDifferences(ReferenceMap(vector: x), weights: gradient, places: places) {
        $0.pointwise(weight: weight, bias: bias).activated(activation.reference)
      }
      expectGradient(result.map { Float($0) }, expected, places: places, "[\(outputs), \(inputs)]")
      let range = inputs / 3..<inputs
      let part = layer.inputGradient(gradient.map(Double.init), at: x, inputRange: range)
      #expect(part == Array(result[range]))
    }
  }

  @Test(arguments: KernelChoice.runnable)
  func globalAveragePooling(kernels: KernelSet) {
    let shape = FeatureShape(height: 3, width: 5, channels: 13)
    var generator = SeededGenerator(seed: 13)
    let gradient = generator.floats(13)
    let result = GuardedMap(shape, kernels: kernels)
    GlobalAveragePooling.inputGradient(gradient, into: result.map)
    #expect(result.isIntact)
    let places = Array(0..<shape.pixelCount * 13)
    let x = ReferenceMap(height: 3, width: 5, channels: 13, values: generator.floats(places.count))
    let expected = finiteDifferences(x, weights: gradient, places: places) { $0.globalAverage() }
    expectGradient(result.dense(), expected, places: places, "\(shape)")
  }
}
