package import KernelInterface
import SystemModule

/// The mean of each channel over all pixels.
package enum GlobalAveragePooling {
  /// Writes the means, padded channels included.
  ///
  /// Rows of pixels are summed first and then the rows, which keeps the rounding error of a large map small and does
  /// not depend on the number of threads.
  ///
  /// - Parameters:
  ///   - means: Channels rounded up to whole vectors.
  ///   - scratch: As many floats.
  package static func compute(
    _ input: FeatureMap, into means: UnsafeMutablePointer<Float>, scratch: UnsafeMutablePointer<Float>,
    kernels: KernelSet
  ) {
    let channels = input.shape.channels.roundedUp(toMultipleOf: kernels.vectorWidth)
    means.update(repeating: 0, count: channels)
    for y in 0..<input.shape.height {
      scratch.update(repeating: 0, count: channels)
      kernels.addRows(
        RowSum(
          sums: scratch, matrix: input.pointer + y * input.shape.width * input.pixelStride,
          rowCount: input.shape.width, columnCount: channels, rowStride: input.pixelStride))
      kernels.addRows(
        RowSum(sums: means, matrix: scratch, rowCount: 1, columnCount: channels, rowStride: channels))
    }
    let factor = 1 / Float(input.shape.pixelCount)
    for channel in 0..<channels { means[channel] *= factor }
  }
}
