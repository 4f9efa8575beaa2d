/// One of the eight ways to turn and mirror an image: how a file's pixels lie, and the symmetries of a square. The raw values
/// are those of the Exif tag Orientation (274).
package enum Orientation: Int, Sendable {
  case upright = 1
  case mirroredHorizontally
  case rotatedHalfTurn
  case mirroredVertically
  case transposed
  case rotatedQuarterTurnClockwise
  case transverse
  case rotatedQuarterTurnCounterclockwise

  /// Whether stored columns run from right to left.
  var mirrorsColumns: Bool {
    switch self {
    case .mirroredHorizontally, .rotatedQuarterTurnCounterclockwise, .rotatedHalfTurn, .transverse: true
    default: false
    }
  }

  /// Whether stored rows run from bottom to top.
  var mirrorsRows: Bool {
    switch self {
    case .mirroredVertically, .rotatedQuarterTurnClockwise, .rotatedHalfTurn, .transverse: true
    default: false
    }
  }

  /// Whether rows and columns change places, after both were mirrored.
  package var transposes: Bool { rawValue >= Orientation.transposed.rawValue }

  /// Turns the stored pixels upright. No pixel is resampled.
  package func applied(to image: PixelImage) -> PixelImage {
    guard self != .upright else { return image }
    let (width, height) = (image.width, image.height)
    // Where the first pixel of the result lies in the stored image, and how far a step in the result leads there.
    let first = (mirrorsRows ? height - 1 : 0) * width + (mirrorsColumns ? width - 1 : 0)
    let (column, row) = (mirrorsColumns ? -1 : 1, mirrorsRows ? -width : width)
    return transposes
      ? Self.rearranged(image, width: height, height: width, first: first, rowStep: column, columnStep: row)
      : Self.rearranged(image, width: width, height: height, first: first, rowStep: row, columnStep: column)
  }

  /// An image whose pixel at (x, y) is that at the place `first + y * rowStep + x * columnStep` of another.
  private static func rearranged(
    _ image: PixelImage, width: Int, height: Int, first: Int, rowStep: Int, columnStep: Int
  ) -> PixelImage {
    unsafe image.pixels.withUnsafeBufferPointer { old in
      unsafe PixelImage(width: width, height: height) { new in
        var target = unsafe new
        for y in 0..<height {
          var place = (first + y * rowStep) * 3
          for _ in 0..<width {
            unsafe target[0] = unsafe old[place]
            unsafe target[1] = unsafe old[place + 1]
            unsafe target[2] = unsafe old[place + 2]
            unsafe target += 3
            place += columnStep * 3
          }
        }
      }
    }
  }
}
