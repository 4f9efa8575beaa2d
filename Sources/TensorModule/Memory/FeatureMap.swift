package import KernelInterface
import SystemModule

extension KernelSet {
  /// The floats of a row of so many values: whole vectors.
  package func padded(_ count: Int) -> Int { count.roundedUp(toMultipleOf: vectorWidth) }
}

/// The extent of a feature map: pixels down, pixels across, channels.
package struct FeatureShape: Sendable, Equatable, CustomStringConvertible {
  /// Pixels down.
  package var height: Int
  /// Pixels across.
  package var width: Int
  /// Values in a pixel.
  package var channels: Int

  package init(height: Int, width: Int, channels: Int) {
    self.height = height
    self.width = width
    self.channels = channels
  }

  package var pixelCount: Int { height * width }

  package var description: String { "[\(height), \(width), \(channels)]" }
}

/// A view of a feature map in memory it does not own. Layout: NHWC, Float32, the channels of a pixel padded with zeros
/// to whole vectors: kernels need no code for a rest of channels.
package struct FeatureMap {
  /// The first channel of the first pixel.
  package let pointer: UnsafeMutablePointer<Float>
  /// The extent without the padding.
  package let shape: FeatureShape
  /// Floats from one pixel to the next.
  package let pixelStride: Int

  /// Views memory whose pixels are `pixelStride` floats apart.
  package init(_ pointer: UnsafeMutablePointer<Float>, shape: FeatureShape, pixelStride: Int) {
    precondition(
      pixelStride >= shape.channels, "pixel stride \(pixelStride) is less than the channels of \(shape)")
    self.pointer = pointer
    self.shape = shape
    self.pixelStride = pixelStride
  }

  /// A map whose channels are padded for the kernels, in memory for ``count(_:kernels:)`` values.
  package init(_ pointer: UnsafeMutablePointer<Float>, _ shape: FeatureShape, kernels: KernelSet) {
    self.init(
      pointer, shape: shape, pixelStride: kernels.padded(shape.channels))
  }

  /// Floats that a map of the given shape takes with channels padded for the kernels.
  package static func count(_ shape: FeatureShape, kernels: KernelSet) -> Int {
    shape.pixelCount * kernels.padded(shape.channels)
  }

  /// A copy of the values, dense: `[height, width, channels]`.
  package func dense() -> [Float] {
    if pixelStride == shape.channels {
      return [Float](UnsafeBufferPointer(start: pointer, count: shape.pixelCount * pixelStride))
    }
    var values = [Float]()
    values.reserveCapacity(shape.pixelCount * shape.channels)
    for pixel in 0..<shape.pixelCount {
      values.append(
        contentsOf: UnsafeBufferPointer(start: pointer + pixel * pixelStride, count: shape.channels))
    }
    return values
  }
}

/// The number of zeros that a convolution or a pooling puts around its input.
package enum Padding: Sendable, Equatable {
  /// TensorFlow's SAME: the output has `ceil(input / stride)` pixels; an odd zero goes after.
  case same
  /// So many zeros on each side, at most so many that each window meets the input; `kernelSize / 2` is PyTorch's usual
  /// choice.
  case symmetric(Int)

  /// Zeros before the input, and pixels in the output, along one dimension.
  package func resolve(input: Int, kernelSize: Int, stride: Int) -> (before: Int, output: Int) {
    switch self {
    case .same:
      let output = (input + stride - 1) / stride
      return (max((output - 1) * stride + kernelSize - input, 0) / 2, output)
    case .symmetric(let zeros):
      precondition(
        (0..<kernelSize).contains(zeros),
        "a window of \(kernelSize) at the edge lies in \(zeros) zeros altogether")
      precondition(
        input + 2 * zeros >= kernelSize,
        "a window of \(kernelSize) does not fit into \(input) with \(zeros) zeros around")
      return (zeros, (input + 2 * zeros - kernelSize) / stride + 1)
    }
  }
}

/// A window that slides over an input, the same in both directions.
package struct Window: Sendable, Equatable {
  /// Taps down and across.
  package let kernelSize: Int
  /// Input pixels from one output to the next.
  package let stride: Int
  /// Zeros around the input.
  package let padding: Padding

  /// A window of `kernelSize` by `kernelSize` taps.
  package init(kernelSize: Int, stride: Int = 1, padding: Padding) {
    precondition(
      kernelSize > 0 && stride > 0, "kernel size \(kernelSize) and stride \(stride) must be positive")
    self.kernelSize = kernelSize
    self.stride = stride
    self.padding = padding
  }

  /// Each pixel alone.
  package static let pixel = Window(kernelSize: 1, padding: .symmetric(0))

  /// Zeros above and to the left of an input, and the pixels of the output.
  package func resolve(height: Int, width: Int) -> (top: Int, left: Int, height: Int, width: Int) {
    let (top, outputHeight) = padding.resolve(input: height, kernelSize: kernelSize, stride: stride)
    let (left, outputWidth) = padding.resolve(input: width, kernelSize: kernelSize, stride: stride)
    return (top, left, outputHeight, outputWidth)
  }

  package func outputShape(_ input: FeatureShape, channels: Int) -> FeatureShape {
    let resolved = resolve(height: input.height, width: input.width)
    return FeatureShape(height: resolved.height, width: resolved.width, channels: channels)
  }
}

/// Float32 values with a shape, dense and row-major: the last dimension varies fastest.
package struct Tensor: Sendable, Equatable {
  /// The extent of each dimension, outermost first.
  package let shape: [Int]
  /// The values; as many as the product of the shape.
  package var values: [Float]

  /// A tensor of the given shape.
  ///
  /// - Precondition: `values` holds as many values as the shape says.
  package init(shape: [Int], values: [Float]) {
    precondition(
      shape.reduce(1, *) == values.count, "\(values.count) values do not fill the shape \(shape)")
    self.shape = shape
    self.values = values
  }

  package init(shape: [Int]) {
    self.init(shape: shape, values: [Float](repeating: 0, count: shape.reduce(1, *)))
  }
}
