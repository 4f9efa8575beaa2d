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
  package let color: ColorMeasures

  /// The addition of rounding to whole levels to the square of a second difference of luma, on average: 6 x 1/12 of the
  /// squares of luma's weights.
  private static let rounding = Double(77 * 77 + 150 * 150 + 29 * 29) / 2

  /// - Parameter image: `[side, side, 3]`, a side of at least 32.
  package init(_ image: PixelImage) {
    precondition(
      image.width == image.height && image.width >= Preprocessor.minimumSide,
      "measures of an image of \(image.width)x\(image.height) pixels")
    let pixels = PixelSums(image)
    let count = Double(pixels.luma.count)
    green = Double(pixels.greenCount) / count
    brightness = Double(pixels.total) / count / 256
    let sums = BlockSums.of(image)
    contrast = (0..<3).map { channel in Self.deviationFromPlane(sums.map { $0[channel] }) }.max()!
    let coarse = Self.secondDifferences(pixels.luma, side: image.width, step: 8)
    let fine = Self.secondDifferences(pixels.luma, side: image.width, step: 2)
    sharpness = coarse > 0 ? fine / coarse : 0
    structure = Self.structure(sums, variance: pixels.lumaVariance)
    color = ColorMeasures(pixels, blockSums: sums)
  }

  private static func structure(_ sums: [SIMD3<Int>], variance: Double) -> Double {
    let means = sums.map { mean(77 * $0[0] + 150 * $0[1] + 29 * $0[2]) }
    let centre = means.reduce(0, +) / Double(means.count)
    let between = means.reduce(0) { $0 + ($1 - centre) * ($1 - centre) } / Double(means.count)
    return variance > 0 ? between / variance : 0
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
    unsafe luma.withUnsafeBufferPointer { luma in
      var total: UInt64 = 0
      for row in 0..<side {
        unsafe total &+= squares(luma, row * side + step..<(row + 1) * side - step, distance: step)
      }
      unsafe total &+= squares(luma, step * side..<(side - step) * side, distance: step * side)
      return max(Double(total) / Double(2 * side * (side - 2 * step)) - rounding, 0)
    }
  }

  /// The sum of the squares of second differences at these places.
  private static func squares(
    _ luma: UnsafeBufferPointer<Int32>, _ places: Range<Int>, distance: Int
  ) -> UInt64 {
    var total: UInt64 = 0
    for place in places {
      let difference = unsafe 2 &* luma[place] &- luma[place &- distance] &- luma[place &+ distance]
      let magnitude = UInt64(difference.magnitude)
      total &+= magnitude &* magnitude
    }
    return total
  }
}

/// Measures of the colours of a resized image before colour constancy. They tell a picture that lost its colours, or has
/// others than skin through a dermatoscope, which the network would answer as if nothing were wrong. Whole numbers up to
/// the last steps, so that the same image gives the same measures everywhere.
package struct ColorMeasures: Sendable, Equatable {
  /// The variety of colours among pixels of equal luma, at least 0: 0 where luma tells the colour, as in grey, one channel, sepia
  /// and any tint; small in washed-out pictures. The numerator is the mean square by which red - green and green - blue differ
  /// among pixels of equal luma. The denominator is mean luma times the square root of the standard deviation of the blocks'
  /// luma, softened. A factor is how far the darkest pixels are from white.
  package let variety: Double
  /// The distance of the image from one with red and blue exchanged, about -5...5: positive where the middle third is redder
  /// than blue and its blue has more contrast than its red, because melanin absorbs blue most. Pen marks are blue too, but lie
  /// around the lesion.
  package let warmth: Double

  /// Added to the standard deviation of luma, in levels: rounding makes some variety in a picture without contrast.
  private static let softening = 5.0
  /// One pixel in so many is among the darkest.
  private static let darkShare = 1000
  /// The weight of the mean colour against the contrast.
  private static let meanWeight = 4.0

  /// - Parameter blockSums: of red, green and blue of every whole block, row-major, in as many rows as columns.
  init(_ pixels: PixelSums, blockSums: [SIMD3<Int>]) {
    variety = Self.variety(pixels, blockSums)
    warmth = Self.warmth(blockSums)
  }

  private static func variety(_ pixels: PixelSums, _ blockSums: [SIMD3<Int>]) -> Double {
    let count = pixels.luma.count
    var between = 0.0
    var (darkest, darkCount) = (0, 0)
    for (level, sums) in pixels.levels.enumerated() where sums[0] > 0 {
      if darkCount * darkShare <= count { darkest = level }
      darkCount += Int(sums[0])
      let (first, second) = (Int64(sums[1]), Int64(sums[2]))
      between += Double(first * first + second * second) / Double(sums[0])
    }
    let within = max(Double(pixels.colorSquares) - between, 0) / Double(count)
    let brightness = Double(pixels.total) / Double(count) / 256
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

/// Sums that one pass over the pixels finds.
struct PixelSums {
  /// `[side * side]`, 0...65280.
  let luma: [Int32]
  /// The sums of luma and of its squares: at most 2048 x 2048 pixels, whose sums are past the 32 bits of WebAssembly's Int.
  private(set) var (total, sumOfSquares): (Int64, Int64) = (0, 0)
  private(set) var greenCount = 0
  /// Pixels, red - green and green - blue, by 256 levels of luma.
  private(set) var levels = [SIMD4<Int32>](repeating: SIMD4(), count: 256)
  /// The sum of the squares of red - green and green - blue.
  private(set) var colorSquares: Int64 = 0

  /// Levels by which green exceeds red in a pixel that counts as green.
  private static let greener: Int32 = 8

  init(_ image: PixelImage) {
    let count = image.width * image.height
    // Neighbours of one level would wait for each other: two pixels in turn have tables of their own.
    var tables = [SIMD4<Int32>](repeating: SIMD4(), count: 512)
    var (total, squares, greenCount, colorSquares): (Int64, Int64, Int, Int64) = (0, 0, 0, 0)
    luma = unsafe [Int32](unsafeUninitializedCapacity: count) { values, initialized in
      unsafe tables.withUnsafeMutableBufferPointer { tables in
        unsafe image.pixels.withUnsafeBufferPointer { pixels in
          for index in 0..<count {
            let place = index &* 3
            let (red, green, blue) = unsafe (
              Int32(pixels[place]), Int32(pixels[place &+ 1]), Int32(pixels[place &+ 2])
            )
            let value = 77 &* red &+ 150 &* green &+ 29 &* blue
            unsafe values[index] = value
            total &+= Int64(value)
            squares &+= Int64(value) &* Int64(value)
            // The sign, which no branch has to be foreseen for.
            greenCount &+= Int(UInt32(bitPattern: red &+ Self.greener &- green) >> 31)
            let (first, second) = (red &- green, green &- blue)
            unsafe tables[Int(value >> 8) &* 2 &+ index & 1] &+= SIMD4(1, first, second, 0)
            colorSquares &+= Int64(first &* first &+ second &* second)
          }
        }
      }
      initialized = count
    }
    for level in 0..<256 { levels[level] = tables[2 * level] &+ tables[2 * level + 1] }
    (self.total, sumOfSquares, self.greenCount, self.colorSquares) = (
      total, squares, greenCount, colorSquares
    )
  }

  /// About a whole number near the mean, which needs no rounding.
  var lumaVariance: Double {
    let count = Int64(luma.count)
    let centre = total / count
    let rest = Double(total - centre * count) / Double(count)
    return Double(sumOfSquares - 2 * centre * total + centre * centre * count) / Double(count) - rest * rest
  }
}

/// The blocks that an image is measured by, rather than by its pixels.
enum BlockSums {
  /// Pixels of a side of a block.
  private static let side = 20
  static let pixelCount = side * side

  /// The sums of red, green and blue of every whole block, row-major.
  static func of(_ image: PixelImage) -> [SIMD3<Int>] {
    let (count, stride) = (image.width / side, image.width * 3)
    var sums: [SIMD3<Int>] = []
    sums.reserveCapacity(count * count)
    unsafe image.pixels.withUnsafeBufferPointer { pixels in
      unsafe withUnsafeTemporaryAllocation(of: UInt16.self, capacity: stride) { columns in
        for blockRow in 0..<count {
          // Whole rows first, which is one vector instruction for many values: 20 x 255 fits.
          unsafe columns.initialize(repeating: 0)
          for row in blockRow * side..<(blockRow + 1) * side {
            let line = unsafe UnsafeBufferPointer(rebasing: pixels[row * stride..<(row + 1) * stride])
            for index in 0..<stride { unsafe columns[index] &+= UInt16(line[index]) }
          }
          for blockColumn in 0..<count {
            var (red, green, blue) = (0, 0, 0)
            for column in blockColumn * side..<(blockColumn + 1) * side {
              unsafe red += Int(columns[column * 3])
              unsafe green += Int(columns[column * 3 + 1])
              unsafe blue += Int(columns[column * 3 + 2])
            }
            sums.append(SIMD3(red, green, blue))
          }
        }
      }
    }
    return sums
  }
}

extension PixelImage {
  /// The distance of the dark part's centre from the middle, as a share of the side; nil if all blocks are alike. Only the circle
  /// that fills the square counts: a dermatoscope leaves the corners black. Each block weighs as much as it is darker than the
  /// mean of the darkest one and of one that is brighter than nine in ten.
  ///
  /// The image is square.
  package var darkPartDistance: Double? {
    let sums = BlockSums.of(self)
    let side = Int(Double(sums.count).squareRoot())
    var blocks: [(x: Double, y: Double, luma: Double)] = []
    for (index, sum) in sums.enumerated() {
      let x = (Double(index % side) + 0.5) / Double(side) - 0.5
      let y = (Double(index / side) + 0.5) / Double(side) - 0.5
      if x * x + y * y < 0.25 { blocks.append((x, y, Double(77 * sum[0] + 150 * sum[1] + 29 * sum[2]))) }
    }
    let lumas = blocks.map { $0.luma }.sorted()
    guard let darkest = lumas.first else { return nil }
    let limit = (darkest + lumas[lumas.count * 9 / 10]) / 2
    var (weight, across, down) = (0.0, 0.0, 0.0)
    for block in blocks where block.luma < limit {
      weight += limit - block.luma
      across += (limit - block.luma) * block.x
      down += (limit - block.luma) * block.y
    }
    return weight > 0 ? (across * across + down * down).squareRoot() / weight : nil
  }
}
