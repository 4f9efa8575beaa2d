/// One of the eight ways to lay a square onto itself: a quarter turn repeated 0 to 3 times, then a mirror or none.
package enum SquareSymmetry: Int, CaseIterable, Sendable {
  case identity, quarterTurn, halfTurn, threeQuarterTurn
  case mirror, mirroredQuarterTurn, mirroredHalfTurn, mirroredThreeQuarterTurn

  /// The place in a square array, row by row, that each place of the turned array is read from:
  /// `first + y * row + x * column`. Turns are counterclockwise, like numpy's `rot90`; the mirror reverses each row.
  func source(side: Int) -> (first: Int, row: Int, column: Int) {
    let last = side - 1
    let turned =
      switch rawValue % 4 {
      case 0: (first: 0, row: side, column: 1)
      case 1: (first: last, row: -1, column: side)
      case 2: (first: side * side - 1, row: -side, column: -1)
      default: (first: last * side, row: 1, column: -side)
      }
    guard rawValue >= 4 else { return turned }
    return (turned.first + last * turned.column, turned.row, -turned.column)
  }
}

extension PixelImage {
  /// The square image with its pixels in the places where a symmetry puts them; none is resampled.
  ///
  /// - Precondition: the width is the height.
  func turned(by symmetry: SquareSymmetry) -> PixelImage {
    precondition(width == height, "a symmetry of the square for an image of \(width)x\(height)")
    if symmetry == .identity { return self }
    let source = symmetry.source(side: width)
    return rearranged(
      width: width, height: height, first: source.first, rowStep: source.row, columnStep: source.column)
  }

  /// An image whose pixel at (x, y) is that at the place `first + y * rowStep + x * columnStep` of this one.
  package func rearranged(width: Int, height: Int, first: Int, rowStep: Int, columnStep: Int) -> PixelImage {
    pixels.withUnsafeBufferPointer { old in
      PixelImage(width: width, height: height) { new in
        var target = new
        for y in 0..<height {
          var place = (first + y * rowStep) * 3
          for _ in 0..<width {
            target[0] = old[place]
            target[1] = old[place + 1]
            target[2] = old[place + 2]
            target += 3
            place += columnStep * 3
          }
        }
      }
    }
  }
}
