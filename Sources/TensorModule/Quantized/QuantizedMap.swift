package import KernelInterface
import SystemModule

/// A view of a feature map in 8 bits, in memory it does not own: for each pixel the words that the kernels read.
package struct QuantizedMap {
  /// The first pixel's first word.
  package let words: UnsafeMutablePointer<Int32>
  /// The extent without the padding.
  package let shape: FeatureShape
  /// Words from one pixel to the next.
  package let pixelStride: Int
  private let kernels: KernelSet

  /// A map in memory for ``count(_:kernels:)`` floats.
  package init(_ memory: UnsafeMutablePointer<Float>, _ shape: FeatureShape, kernels: KernelSet) {
    words = UnsafeMutableRawPointer(memory).assumingMemoryBound(to: Int32.self)
    self.shape = shape
    self.kernels = kernels
    pixelStride =
      shape.channels.roundedUp(toMultipleOf: kernels.vectorWidth) / kernels.products.int8.valuesPerWord
  }

  /// Words that a map of the given shape takes: as many floats.
  package static func count(_ shape: FeatureShape, kernels: KernelSet) -> Int {
    shape.pixelCount * shape.channels.roundedUp(toMultipleOf: kernels.vectorWidth)
      / kernels.products.int8.valuesPerWord
  }

  /// Writes some pixels of some channels: the levels of `values * factors + zeroPoint`.
  ///
  /// - Parameters:
  ///   - pixel: The first of `count` pixels.
  ///   - channels: Whole vectors, or to the map's end.
  ///   - values: The first pixel at the first of the channels, pixels `valueStride` floats apart.
  ///   - factors: One for each channel of the map.
  package func write(
    pixel: Int, count: Int, channels: Range<Int>, values: UnsafePointer<Float>, valueStride: Int,
    factors: UnsafePointer<Float>, zeroPoint: Int
  ) {
    kernels.products.int8.pack!(
      PackingPass(
        values: values, valueStride: valueStride, rowCount: count,
        columnCount: channels.count.roundedUp(toMultipleOf: kernels.vectorWidth),
        words: words + pixel * pixelStride + channels.lowerBound / kernels.products.int8.valuesPerWord,
        wordStride: pixelStride, factors: factors + channels.lowerBound, zeroPoint: Float(zeroPoint)))
  }
}
