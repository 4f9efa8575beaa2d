package import KernelInterface
package import SystemModule

/// The bits that tell for each value of a map whether an activation lets the gradient through. ReLU's and ReLU6's backward
/// passes need no more of the forward pass, and a bit is a 32nd of a value.
///
/// Layout: NHWC, for each vector of channels whole bytes (see ``KernelInterface/MaskPass``).
package struct GradientMask {
  package let activation: Activation
  let shape: FeatureShape
  private let pointer: UnsafeMutableRawPointer
  private let kernels: KernelSet

  /// - Parameters:
  ///   - activation: One that ``KernelInterface/Activation/hasMask``.
  ///   - pointer: ``count(_:kernels:)`` floats.
  package init(
    _ activation: Activation, _ pointer: UnsafeMutablePointer<Float>, _ shape: FeatureShape,
    kernels: KernelSet
  ) {
    precondition(activation.hasMask, "\(activation) lets through more than all or nothing")
    self.activation = activation
    self.pointer = UnsafeMutableRawPointer(pointer)
    self.shape = shape
    self.kernels = kernels
  }

  /// Floats that a mask takes: whole cache lines.
  package static func count(_ shape: FeatureShape, kernels: KernelSet) -> Int {
    let vectors = FeatureMap.count(shape, kernels: kernels) / kernels.vectorWidth
    return (vectors * MaskPass.byteCount(vectorWidth: kernels.vectorWidth)).roundedUp(toMultipleOf: 64) / 4
  }

  /// Floats from one pixel to the next of a map with these bits.
  var pixelStride: Int { kernels.padded(shape.channels) }

  /// - Parameters:
  ///   - values: The first of the channels of the first of the pixels, the next `stride` floats on.
  ///   - channels: Whole vectors.
  private func pass(
    _ values: UnsafeMutablePointer<Float>, stride: Int, pixels: Range<Int>, channels: Range<Int>
  ) -> MaskPass {
    let (width, byteCount) = (kernels.vectorWidth, MaskPass.byteCount(vectorWidth: kernels.vectorWidth))
    let bitStride = pixelStride / width * byteCount
    return MaskPass(
      values: values, rowCount: pixels.count, columnCount: channels.count, rowStride: stride,
      bits: pointer + pixels.lowerBound * bitStride + channels.lowerBound / width * byteCount,
      bitStride: bitStride, limit: activation == .relu6 ? 6 : .infinity)
  }

  /// Writes the bits of some channels of some pixels. Each task has pixels or channels of its own.
  ///
  /// - Parameter values: The activation's input or output, as in ``pass(_:stride:pixels:channels:)``.
  func write(
    _ values: UnsafeMutablePointer<Float>, stride: Int, pixels: Range<Int>, channels: Range<Int>
  ) {
    kernels.writeMask(pass(values, stride: stride, pixels: pixels, channels: channels))
  }

  /// Writes all bits.
  package func write(_ map: FeatureMap, pool: ThreadPool) {
    precondition(map.shape == shape && map.pixelStride == pixelStride, "a mask \(shape) of \(map.shape)")
    pool.run(taskCount: shape.height) { y, _ in
      write(
        map.pointer + y * map.rowStride, stride: pixelStride, pixels: y * shape.width..<(y + 1) * shape.width,
        channels: 0..<pixelStride)
    }
  }

  /// Multiplies the gradient of some pixels by their bits.
  ///
  /// - Parameter gradient: The first of the pixels, which lie as far apart as the mask's map.
  func apply(to gradient: UnsafeMutablePointer<Float>, pixels: Range<Int>) {
    kernels.applyMask(pass(gradient, stride: pixelStride, pixels: pixels, channels: 0..<pixelStride))
  }
}

extension Activation {
  /// True if the derivative is 0 or 1.
  package var hasMask: Bool { self == .relu || self == .relu6 }
}
