import SystemModule

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
    let pixels = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initializedCount in
      guard let start = buffer.baseAddress else { return }
      do throws(Failure) {
        unsafe try body(start)
        initializedCount = count
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    self.init(width: width, height: height, pixels: pixels)
  }

  /// The order of a pixel's bytes in memory, one byte for each channel.
  public enum Layout: Sendable, CaseIterable {
    /// Red, green, blue.
    case rgb
    /// Red, green, blue and a byte that is not looked at: alpha is dropped, as it is from files.
    case rgba
    /// Blue, green, red and a byte that is not looked at, as cameras on Apple's systems give it.
    case bgra

    fileprivate var places: (red: Int, green: Int, blue: Int) {
      switch self {
      case .rgb, .rgba: (0, 1, 2)
      case .bgra: (2, 1, 0)
      }
    }

    /// Bytes from one pixel to the next: 3 or 4.
    public var bytesPerPixel: Int { self == .rgb ? 3 : 4 }
  }

  /// Copies pixels from memory that a program has them in, with or without bytes after each row.
  ///
  /// - Parameters:
  ///   - bytes: the rows from the top, `bytesPerRow` bytes each; of the last one the pixels suffice.
  ///   - width: the number of columns, at least 1.
  ///   - height: the number of rows, at least 1.
  ///   - bytesPerRow: from the start of one row to that of the next, at least `width` pixels.
  ///   - layout: the order of a pixel's bytes.
  /// - Throws: ``DermaFusionError/Code/invalidImage`` where such an image does not lie in so many bytes, or is too large.
  public init(
    copying bytes: UnsafeRawBufferPointer, width: Int, height: Int, bytesPerRow: Int, layout: Layout
  ) throws(DermaFusionError) {
    func wrong() -> DermaFusionError {
      .invalidImage(
        "\(bytes.count) bytes do not hold \(width)x\(height) pixels in rows of \(bytesPerRow) bytes")
    }
    guard width > 0, height > 0 else { throw wrong() }
    try PixelLimit.check(width: width, height: height)
    let step = layout.bytesPerPixel
    let (skipped, overflows) = (height - 1).multipliedReportingOverflow(by: bytesPerRow)
    guard bytesPerRow >= width * step, !overflows, bytes.count - width * step >= skipped else {
      throw wrong()
    }
    let (red, green, blue) = layout.places
    unsafe self.init(width: width, height: height) { pixels in
      var target = unsafe pixels
      for row in 0..<height {
        for start in stride(from: row * bytesPerRow, to: row * bytesPerRow + width * step, by: step) {
          unsafe target[0] = unsafe bytes[start + red]
          unsafe target[1] = unsafe bytes[start + green]
          unsafe target[2] = unsafe bytes[start + blue]
          unsafe target += 3
        }
      }
    }
  }
}

package enum PixelLimit {
  /// The most pixels that are decoded: twice 89,478,485, where Pillow refuses too.
  package static let count = 178_956_970

  /// Checks a size from a file's header before anything is allocated for it.
  package static func check(width: Int, height: Int, limit: Int = count) throws(DermaFusionError) {
    let (area, overflows) = width.multipliedReportingOverflow(by: height)
    guard !overflows, area <= limit else {
      throw .tooManyPixels(width: width, height: height, limit: limit)
    }
  }
}

extension DermaFusionError {
  package static func invalidImage(_ message: Sentence) -> DermaFusionError {
    DermaFusionError(
      .invalidImage, message: message, remedy: "Use a whole image file of at least 32x32 pixels.")
  }

  /// More pixels than anyone photographs: probably a decompression bomb.
  package static func tooManyPixels(width: Int, height: Int, limit: Int) -> DermaFusionError {
    invalidImage("the image is too large: \(width)x\(height) is more than \(limit) pixels")
  }

  package static func tooSmall(width: Int, height: Int, minimumSide: Int) -> DermaFusionError {
    invalidImage("the image is too small: \(width)x\(height) is under \(minimumSide)x\(minimumSide)")
  }
}
