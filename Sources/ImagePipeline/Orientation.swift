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

  /// True if stored columns run from right to left.
  var mirrorsColumns: Bool {
    switch self {
    case .mirroredHorizontally, .rotatedQuarterTurnCounterclockwise, .rotatedHalfTurn, .transverse: true
    default: false
    }
  }

  /// True if stored rows run from bottom to top.
  var mirrorsRows: Bool {
    switch self {
    case .mirroredVertically, .rotatedQuarterTurnClockwise, .rotatedHalfTurn, .transverse: true
    default: false
    }
  }

  /// True if rows and columns change places, after both were mirrored.
  package var transposes: Bool { rawValue >= Orientation.transposed.rawValue }

  /// Turns the stored pixels upright. No pixel is resampled.
  package func applied(to image: PixelImage) -> PixelImage {
    guard self != .upright else { return image }
    let (width, height) = transposes ? (image.height, image.width) : (image.width, image.height)
    let (first, rowStep, columnStep) = steps(width: image.width, height: image.height)
    return unsafe image.pixels.withUnsafeBufferPointer { old in
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

  /// The place in the stored image from which each place of the upright one comes, row by row, of squares.
  package func places(side: Int) -> [Int] {
    let (first, rowStep, columnStep) = steps(width: side, height: side)
    return (0..<side * side).map { first + $0 / side * rowStep + $0 % side * columnStep }
  }

  /// The place of the upright image's first pixel in the stored one, and how far a step in the upright image leads there.
  private func steps(width: Int, height: Int) -> (first: Int, row: Int, column: Int) {
    let first = (mirrorsRows ? height - 1 : 0) * width + (mirrorsColumns ? width - 1 : 0)
    let (column, row) = (mirrorsColumns ? -1 : 1, mirrorsRows ? -width : width)
    return transposes ? (first, column, row) : (first, row, column)
  }
}
