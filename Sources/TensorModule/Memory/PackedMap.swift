package import KernelInterface
package import SystemModule

/// A view of a feature map in memory it does not own, for each pixel the words that the products of a type of values read:
/// levels of 8 bits or bfloat16.
package struct PackedMap {
  /// The first pixel's first word.
  package let words: UnsafeMutablePointer<Int32>
  /// The extent without the padding.
  package let shape: FeatureShape
  /// Words from one pixel to the next.
  package let pixelStride: Int
  private let product: ProductKernels
  private let vectorWidth: Int

  /// A map in memory for ``count(_:_:kernels:)`` floats.
  package init(
    _ memory: UnsafeMutablePointer<Float>, _ shape: FeatureShape, _ type: ElementType, kernels: KernelSet
  ) {
    words = UnsafeMutableRawPointer(memory).assumingMemoryBound(to: Int32.self)
    self.shape = shape
    product = kernels.products[type]!
    vectorWidth = kernels.vectorWidth
    pixelStride = Self.wordCount(shape.channels, type, kernels: kernels)
  }

  /// Words of a pixel.
  package static func wordCount(_ channels: Int, _ type: ElementType, kernels: KernelSet) -> Int {
    kernels.padded(channels) / kernels.products[type]!.valuesPerWord
  }

  /// Words that a map of the given shape takes: as many floats.
  package static func count(_ shape: FeatureShape, _ type: ElementType, kernels: KernelSet) -> Int {
    shape.pixelCount * wordCount(shape.channels, type, kernels: kernels)
  }

  /// Writes some pixels of some channels, as ``PackingPass`` says.
  ///
  /// - Parameters:
  ///   - pixel: The first of `count` pixels.
  ///   - channels: Whole vectors, or to the map's end.
  ///   - values: The first pixel at the first of the channels, pixels `valueStride` floats apart.
  ///   - factors: One for each channel of the map.
  package func write(
    pixel: Int, count: Int, channels: Range<Int>, values: UnsafePointer<Float>, valueStride: Int,
    factors: UnsafePointer<Float>?, zeroPoint: Int = 0
  ) {
    product.pack!(
      PackingPass(
        values: values, valueStride: valueStride, rowCount: count,
        columnCount: channels.count.roundedUp(toMultipleOf: vectorWidth),
        words: words + pixel * pixelStride + channels.lowerBound / product.valuesPerWord,
        wordStride: pixelStride, factors: factors.map { $0 + channels.lowerBound },
        zeroPoint: Float(zeroPoint)))
  }

  /// Pixels of a task of ``write(_:factors:zeroPoint:pool:)``.
  private static let pixelsPerTask = 1024

  /// Writes a whole map; the threads share it.
  package func write(
    _ map: FeatureMap, factors: UnsafePointer<Float>?, zeroPoint: Int = 0, pool: ThreadPool
  ) {
    precondition(map.shape == shape, "words of \(map.shape) into \(shape)")
    pool.run(taskCount: (shape.pixelCount + Self.pixelsPerTask - 1) / Self.pixelsPerTask) { task, _ in
      let first = task * Self.pixelsPerTask
      write(
        pixel: first, count: min(Self.pixelsPerTask, shape.pixelCount - first), channels: 0..<shape.channels,
        values: map.pointer + first * map.pixelStride, valueStride: map.pixelStride, factors: factors,
        zeroPoint: zeroPoint)
    }
  }
}
