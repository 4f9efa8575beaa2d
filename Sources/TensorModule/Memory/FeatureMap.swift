package import KernelInterface
import SystemModule

/// The extent of a feature map: pixels down, pixels across, channels.
package struct FeatureShape: Sendable, Equatable, CustomStringConvertible {
  /// Pixels down.
  package var height: Int
  /// Pixels across.
  package var width: Int
  /// Values in a pixel.
  package var channels: Int

  /// A shape of the given extent.
  package init(height: Int, width: Int, channels: Int) {
    self.height = height
    self.width = width
    self.channels = channels
  }

  /// Pixels.
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
      pointer, shape: shape, pixelStride: shape.channels.roundedUp(toMultipleOf: kernels.vectorWidth))
  }

  /// Floats that a map of the given shape takes with channels padded for the kernels.
  package static func count(_ shape: FeatureShape, kernels: KernelSet) -> Int {
    shape.pixelCount * shape.channels.roundedUp(toMultipleOf: kernels.vectorWidth)
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
