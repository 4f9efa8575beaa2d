import KernelInterface
import ReferenceLayers
import Testing

@testable import TensorModule

@Suite struct DepthwiseRowTests {
  static let widths = Array(1...13) + [27, 38]

  @Test(arguments: KernelChoice.runnable, [3, 5, 7])
  func equalsTheReferenceAndStaysInside(kernels: KernelSet, kernelSize: Int) {
    for stride in 1...3 {
      for (i, width) in Self.widths.enumerated() {
        let channels = [1, 3, 8, 12, 17, 24, 33, 40][(i + stride) % 8]
        let activation = Activation.allCases[(i + stride) % Activation.allCases.count]
        let padding: Padding =
          (i + stride) % 2 == 0 || width < kernelSize ? .same : .symmetric([0, 1, kernelSize / 2][i % 3])
        check(
          kernels: kernels, width: width, channels: channels, activation: activation,
          window: Window(kernelSize: kernelSize, stride: stride, padding: padding))
      }
    }
  }

  @Test(arguments: KernelChoice.runnable, Activation.allCases)
  func everyActivationIsApplied(kernels: KernelSet, activation: Activation) {
    for (kernelSize, stride) in [(1, 1), (2, 1), (3, 1), (3, 2), (4, 3), (5, 1), (5, 2), (9, 1)] {
      check(
        kernels: kernels, width: 14, channels: 19, activation: activation,
        window: Window(kernelSize: kernelSize, stride: stride, padding: .same))
    }
  }

  private func check(
    kernels: KernelSet, width: Int, channels: Int, activation: Activation, window: Window
  ) {
    let seed = UInt64(width * 1000 + channels)
    var generator = SeededGenerator(seed: seed)
    let input = FeatureShape(height: max(window.kernelSize, 4), width: width, channels: channels)
    let values = generator.floats(input.pixelCount * channels, scale: 2)
    let weight = generator.floats(channels * window.kernelSize * window.kernelSize)
    let bias = generator.floats(channels)
    let layer = DepthwiseConvolution2D(
      weight: weight, bias: bias, window: window, activation: activation, kernels: kernels)
    let source = GuardedMap(values, input, kernels: kernels)
    let rowWidth = window.resolve(height: window.kernelSize * 2, width: width).width
    let padLeft = window.resolve(height: window.kernelSize * 2, width: width).left
    // The first row of the window lies outside the image.
    let rows: [UnsafePointer<Float>?] = (0..<window.kernelSize).map {
      $0 == 0
        ? nil
        : UnsafePointer(source.map.pointer + ($0 % input.height) * width * source.map.pixelStride)
    }
    let output = GuardedMap(
      FeatureShape(height: 1, width: rowWidth, channels: channels), kernels: kernels)
    let before = generator.floats(layer.paddedChannels)
    let sums = GuardedBuffer(before)
    layer.computeRow(
      rows: rows, inputPixelStride: source.map.pixelStride, inputWidth: width, padLeft: padLeft,
      channelRange: 0..<layer.paddedChannels, output: output.map.pointer,
      outputPixelStride: output.map.pixelStride, outputWidth: rowWidth, sums: sums.pointer)

    // As an image of these rows, with zeros in place of the missing one.
    var image = [Float](repeating: 0, count: window.kernelSize * width * channels)
    for ky in 1..<max(window.kernelSize, 1) {
      let row = ky % input.height * width * channels
      let place = ky * width * channels
      image.replaceSubrange(place..<place + width * channels, with: values[row..<row + width * channels])
    }
    let geometry = window.padding.reference.resolve(
      input: width, kernelSize: window.kernelSize, stride: window.stride)
    let expected = ReferenceMap(height: window.kernelSize, width: width, channels: channels, values: image)
      .convolution(
        weight: weight, bias: bias, kernelSize: window.kernelSize, stride: window.stride,
        groups: channels, top: 0, left: geometry.before, outputHeight: 1,
        outputWidth: geometry.count
      ).activated(activation.reference)
    let mismatch = expected.mismatch(output.dense(), factor: Tolerances.depthwise)
    let context: Comment = """
      \(kernels.testDescription), \(window), width \(width), \(channels) channels, \(activation), seed \(seed)
      """
    #expect(mismatch == nil, context)
    #expect(output.isIntact && source.isIntact && sums.firstBrokenGuard == nil, context)
    let total = expected.summed().adding(ReferenceMap(vector: Array(before[..<channels])))
    #expect(total.mismatch(Array(sums.values[..<channels]), factor: Tolerances.sumOfPixels) == nil, context)
  }

  /// Channels outside the range asked for are left alone.
  @Test(arguments: KernelChoice.runnable)
  func aRangeOfChannelsIsComputedAlone(kernels: KernelSet) {
    let width = kernels.vectorWidth
    let channels = 4 * width
    var generator = SeededGenerator(seed: 3)
    let shape = FeatureShape(height: 3, width: 9, channels: channels)
    let window = Window(kernelSize: 3, padding: .symmetric(1))
    let layer = DepthwiseConvolution2D(
      weight: generator.floats(channels * 9), bias: generator.floats(channels), window: window,
      activation: .identity, kernels: kernels)
    let source = GuardedMap(generator.floats(27 * channels), shape, kernels: kernels)
    let outputShape = FeatureShape(height: 1, width: 9, channels: channels)
    func compute(_ range: Range<Int>) -> GuardedMap {
      let output = GuardedMap(outputShape, kernels: kernels)
      let rows: [UnsafePointer<Float>?] = (0..<3).map {
        UnsafePointer(source.map.pointer + ($0 * 9 * channels + range.lowerBound))
      }
      layer.computeRow(
        rows: rows, inputPixelStride: channels, inputWidth: 9, padLeft: 1, channelRange: range,
        output: output.map.pointer + range.lowerBound, outputPixelStride: channels, outputWidth: 9, sums: nil)
      return output
    }
    let whole = compute(0..<channels).dense()
    let part = compute(width..<3 * width)
    for (i, value) in part.dense().enumerated() {
      let expected =
        (width..<3 * width).contains(i % channels) ? whole[i].bitPattern : GuardedBuffer.poison.bitPattern
      #expect(value.bitPattern == expected, "index \(i), seed 3")
    }
    #expect(part.isIntact)
  }
}
