/// Measures of a resized image before colour constancy that tell whether there is something to judge. Whole numbers
/// up to the last steps, so that the same image gives the same measures everywhere.
package struct ImageMeasures: Sendable, Equatable {
  /// Mean luma, 0...255.
  package let brightness: Double
  /// Standard deviation of the means of blocks about the plane that fits them best, of the channel where it is
  /// greatest: light that falls off to one side is no contrast.
  package let contrast: Double
  /// Mean square of second differences over 2 pixels against those over 8: close to 0 where blur hides all detail,
  /// about 1 in noise.
  package let sharpness: Double
  /// The share of luma's variance that the means of blocks explain, 0...1: close to 0 in noise.
  package let structure: Double
  /// The share of pixels that are greener than red, 0...1; skin through a dermatoscope hardly ever is.
  package let green: Double
  /// Whether there is colour, and that of skin.
  package let color: ColorMeasures

  /// Levels by which green exceeds red in a pixel that counts as green.
  private static let greener: Int32 = 8
  /// What rounding to whole levels adds to the square of a second difference of luma, on average: 6 x 1/12 of the
  /// squares of luma's weights.
  private static let rounding = Double(77 * 77 + 150 * 150 + 29 * 29) / 2

  /// - Parameter image: `[side, side, 3]`, a side of at least 32.
  package init(_ image: PixelImage) {
    precondition(
      image.width == image.height && image.width >= Preprocessor.minimumSide,
      "measures of an image of \(image.width)x\(image.height) pixels")
    let (luma, total, greenCount) = Self.luma(image)
    green = Double(greenCount) / Double(luma.count)
    let mean = Double(total) / Double(luma.count)
    brightness = mean / 256
    let sums = BlockSums.of(image)
    contrast = (0..<3).map { channel in Self.deviationFromPlane(sums.map { $0[channel] }) }.max()!
    let coarse = Self.secondDifferences(luma, side: image.width, step: 8)
    let fine = Self.secondDifferences(luma, side: image.width, step: 2)
    sharpness = coarse > 0 ? fine / coarse : 0
    var variance = 0.0
    for value in luma { variance += (Double(value) - mean) * (Double(value) - mean) }
    variance /= Double(luma.count)
    let means = sums.map { Self.mean(77 * $0[0] + 150 * $0[1] + 29 * $0[2]) }
    let centre = means.reduce(0, +) / Double(means.count)
    let between = means.reduce(0) { $0 + ($1 - centre) * ($1 - centre) } / Double(means.count)
    structure = variance > 0 ? between / variance : 0
    color = ColorMeasures(image, luma: luma, blockSums: sums)
  }

  /// `[side * side]`, 0...65280, with their sum and the number of pixels that count as green.
  private static func luma(_ image: PixelImage) -> (values: [Int32], total: Int64, greenCount: Int) {
    let count = image.width * image.height
    // The sum is past 32 bits, which is all that an Int has in WebAssembly.
    var (total, greenCount): (Int64, Int) = (0, 0)
    let values = [Int32](unsafeUninitializedCapacity: count) { values, initialized in
      image.pixels.withUnsafeBufferPointer { pixels in
        for index in 0..<count {
          let place = index &* 3
          let (red, green) = (Int32(pixels[place]), Int32(pixels[place &+ 1]))
          let value = 77 &* red &+ 150 &* green &+ 29 &* Int32(pixels[place &+ 2])
          values[index] = value
          total &+= Int64(value)
          // The sign, which no branch has to be foreseen for.
          greenCount &+= Int(UInt32(bitPattern: red &+ greener &- green) >> 31)
        }
      }
      initialized = count
    }
    return (values, total, greenCount)
  }

  private static func mean(_ sum: Int) -> Double { Double(sum) / Double(BlockSums.pixelCount) }

  private static func deviationFromPlane(_ sums: [Int]) -> Double {
    let count = Int(Double(sums.count).squareRoot())
    let means = sums.map(mean)
    func position(_ index: Int) -> Double { Double(index) - Double(count - 1) / 2 }
    let centre = means.reduce(0, +) / Double(means.count)
    var (norm, across, down) = (0.0, 0.0, 0.0)
    for index in means.indices {
      let (row, column) = (position(index / count), position(index % count))
      norm += column * column
      across += means[index] * column
      down += means[index] * row
    }
    // One block alone lies on every plane.
    guard norm > 0 else { return 0 }
    var squares = 0.0
    for index in means.indices {
      let plane = across / norm * position(index % count) + down / norm * position(index / count)
      let rest = means[index] - centre - plane
      squares += rest * rest
    }
    return (squares / Double(means.count)).squareRoot()
  }

  /// Mean square along rows and columns, without what rounding adds.
  private static func secondDifferences(_ luma: [Int32], side: Int, step: Int) -> Double {
    luma.withUnsafeBufferPointer { luma in
      var total: UInt64 = 0
      for row in 0..<side {
        total &+= squares(luma, row * side + step..<(row + 1) * side - step, distance: step)
      }
      total &+= squares(luma, step * side..<(side - step) * side, distance: step * side)
      return max(Double(total) / Double(2 * side * (side - 2 * step)) - rounding, 0)
    }
  }

  /// The sum of the squares of second differences at these places.
  private static func squares(
    _ luma: UnsafeBufferPointer<Int32>, _ places: Range<Int>, distance: Int
  ) -> UInt64 {
    var total: UInt64 = 0
    for place in places {
      let difference = 2 &* luma[place] &- luma[place &- distance] &- luma[place &+ distance]
      let magnitude = UInt64(difference.magnitude)
      total &+= magnitude &* magnitude
    }
    return total
  }
}
