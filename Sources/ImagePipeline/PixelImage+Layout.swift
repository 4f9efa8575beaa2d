import SystemModule

extension PixelImage {
  /// The order of a pixel's bytes in memory, one byte for each channel.
  public enum Layout: Sendable, CaseIterable {
    /// Red, green, blue.
    case rgb
    /// Red, green, blue and a byte that is not looked at: alpha is dropped, as it is from files.
    case rgba
    /// Blue, green, red and a byte that is not looked at, as cameras on Apple's systems give it.
    case bgra

    /// Where red, green and blue stand.
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
    let wrong = DermaFusionError.wrongMemory(
      byteCount: bytes.count, width: width, height: height, bytesPerRow: bytesPerRow)
    guard width > 0, height > 0 else { throw wrong }
    try PixelLimit.check(width: width, height: height)
    let step = layout.bytesPerPixel
    let (skipped, overflows) = (height - 1).multipliedReportingOverflow(by: bytesPerRow)
    guard bytesPerRow >= width * step, !overflows, bytes.count - width * step >= skipped else { throw wrong }
    let (red, green, blue) = layout.places
    self.init(width: width, height: height) { pixels in
      var target = pixels
      for row in 0..<height {
        for start in stride(from: row * bytesPerRow, to: row * bytesPerRow + width * step, by: step) {
          target[0] = bytes[start + red]
          target[1] = bytes[start + green]
          target[2] = bytes[start + blue]
          target += 3
        }
      }
    }
  }
}
