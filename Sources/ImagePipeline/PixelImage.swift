/// An upright image of 8-bit RGB pixels.
public struct PixelImage: Sendable, Equatable {
  /// The number of columns, at least 1.
  public let width: Int

  /// The number of rows, at least 1.
  public let height: Int

  /// Red, green and blue of every pixel, 0...255, row-major `[height, width, 3]` without padding.
  public let pixels: [UInt8]

  /// Wraps pixels that a program already has, for instance from a camera.
  ///
  /// - Parameters:
  ///   - width: The number of columns, at least 1.
  ///   - height: The number of rows, at least 1.
  ///   - pixels: RGB, row-major `[height, width, 3]`.
  /// - Precondition: there are exactly `width * height * 3` values, of at least one pixel.
  public init(width: Int, height: Int, pixels: [UInt8]) {
    precondition(width > 0 && height > 0, "an image of \(width)x\(height) pixels")
    let (area, areaOverflows) = width.multipliedReportingOverflow(by: height)
    let (count, countOverflows) = area.multipliedReportingOverflow(by: 3)
    precondition(
      !areaOverflows && !countOverflows && pixels.count == count,
      "\(pixels.count) values given for [\(height), \(width), 3]")
    self.width = width
    self.height = height
    self.pixels = pixels
  }
}

extension PixelImage {
  /// Makes an image whose pixels `body` writes: every one of the `width * height * 3` values, unless it throws.
  package init<Failure>(
    width: Int, height: Int, writingPixels body: (UnsafeMutablePointer<UInt8>) throws(Failure) -> Void
  ) throws(Failure) {
    let count = width * height * 3
    var failure: Failure?
    let pixels = [UInt8](unsafeUninitializedCapacity: count) { buffer, initializedCount in
      guard let start = buffer.baseAddress else { return }
      do throws(Failure) {
        try body(start)
        initializedCount = count
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    self.init(width: width, height: height, pixels: pixels)
  }
}
