/// Measures of the colours of a resized image before colour constancy. They tell a picture that lost its colours, or has
/// others than skin through a dermatoscope, which the network would answer as if nothing were wrong. Whole numbers up to
/// the last steps, so that the same image gives the same measures everywhere.
package struct ColorMeasures: Sendable, Equatable {
  /// How many colours pixels of equal luma have, at least 0: 0 where luma tells the colour, as in grey, one channel, sepia
  /// and any tint; small in washed-out pictures. It is the mean square by which red - green and green - blue differ among
  /// pixels of equal luma, over mean luma and over the square root of the standard deviation of the blocks' luma,
  /// softened, times how far the darkest pixels are from white.
  package let variety: Double
  /// How far the image is from one with red and blue exchanged, about -5...5: positive where the middle third is redder
  /// than blue and its blue has more contrast than its red, because melanin absorbs blue most. Pen marks are blue too, but lie
  /// around the lesion.
  package let warmth: Double

  /// Added to the standard deviation of luma, in levels: rounding makes some variety in a picture without contrast.
  private static let softening = 5.0
  /// One pixel in so many is among the darkest.
  private static let darkShare = 1000
  /// How much the mean colour counts against the contrast.
  private static let meanWeight = 4.0

  /// - Parameters:
  ///   - image: `[side, side, 3]`
  ///   - luma: of each pixel, 256 x 0...255.
  ///   - blockSums: of red, green and blue of every whole block, row-major, in as many rows as columns.
  init(_ image: PixelImage, luma: [Int32], blockSums: [SIMD3<Int>]) {
    variety = Self.variety(image, luma, blockSums)
    warmth = Self.warmth(blockSums)
  }

  private static func variety(
    _ image: PixelImage, _ luma: [Int32], _ blockSums: [SIMD3<Int>]
  ) -> Double {
    // Pixels, red - green, green - blue, by level of luma. A sum of 2048 x 2048 pixels fits.
    var levels = [SIMD4<Int32>](repeating: SIMD4(), count: 256)
    var squares: Int64 = 0
    levels.withUnsafeMutableBufferPointer { levels in
      image.pixels.withUnsafeBufferPointer { pixels in
        for index in luma.indices {
          let place = index &* 3
          let green = Int32(pixels[place &+ 1])
          let (first, second) = (Int32(pixels[place]) &- green, green &- Int32(pixels[place &+ 2]))
          levels[Int(luma[index] >> 8)] &+= SIMD4(1, first, second, 0)
          squares &+= Int64(first &* first &+ second &* second)
        }
      }
    }
    var between = 0.0
    var (darkest, darkCount) = (0, 0)
    for (level, sums) in levels.enumerated() where sums[0] > 0 {
      if darkCount * darkShare <= luma.count { darkest = level }
      darkCount += Int(sums[0])
      let (first, second) = (Int64(sums[1]), Int64(sums[2]))
      between += Double(first * first + second * second) / Double(sums[0])
    }
    let within = max(Double(squares) - between, 0) / Double(luma.count)
    let brightness = Double(luma.reduce(0) { $0 + Int64($1) }) / Double(luma.count) / 256
    guard brightness > 0 else { return 0 }
    let spread = (deviation(ofLuma: blockSums) + softening).squareRoot()
    return within * Double(256 - darkest) / (brightness * spread)
  }

  /// The standard deviation of the blocks' mean luma, 0...255.
  private static func deviation(ofLuma blockSums: [SIMD3<Int>]) -> Double {
    let count = Int64(blockSums.count)
    var (sum, sumOfSquares): (Int64, Int64) = (0, 0)
    for block in blockSums {
      let luma = (77 * Int64(block[0]) + 150 * Int64(block[1]) + 29 * Int64(block[2])) >> 8
      sum += luma
      sumOfSquares += luma * luma
    }
    return Double(count * sumOfSquares - sum * sum).squareRoot()
      / Double(count * Int64(BlockSums.pixelCount))
  }

  private static func warmth(_ blockSums: [SIMD3<Int>]) -> Double {
    let side = Int(Double(blockSums.count).squareRoot())
    let middle = side / 3..<side - side / 3
    var (count, red, green, blue): (Int64, Int64, Int64, Int64) = (0, 0, 0, 0)
    var (redSquares, blueSquares): (Int64, Int64) = (0, 0)
    for row in middle {
      for column in middle {
        let block = blockSums[row * side + column]
        let (blockRed, blockBlue) = (Int64(block[0]), Int64(block[2]))
        count += 1
        red += blockRed
        green += Int64(block[1])
        blue += blockBlue
        redSquares += blockRed * blockRed
        blueSquares += blockBlue * blockBlue
      }
    }
    guard red + green + blue > 0 else { return 0 }
    // The standard deviations of red and of blue, each over its own mean, times both means.
    let redContrast = Double(count * redSquares - red * red).squareRoot() * Double(blue)
    let blueContrast = Double(count * blueSquares - blue * blue).squareRoot() * Double(red)
    let contrasts = redContrast + blueContrast
    return meanWeight * (Double(red - blue) / Double(red + green + blue))
      - (contrasts > 0 ? (redContrast - blueContrast) / contrasts : 0)
  }
}
