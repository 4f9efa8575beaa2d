/// Measures of a resized image before colour constancy that tell whether there is something to judge. Whole numbers
/// up to the last steps, so that the same image gives the same measures everywhere.
public struct ImageMeasures: Sendable, Equatable {
  /// Mean luma, 0...255.
  public let brightness: Double
  /// Standard deviation of the means of blocks about the plane that fits them best, of the channel where it is
  /// greatest: light that falls off to one side is no contrast.
  public let contrast: Double
  /// Mean square of second differences over 2 pixels against those over 8: close to 0 where blur hides all detail,
  /// about 1 in noise.
  public let sharpness: Double
  /// The share of luma's variance that the means of blocks explain, 0...1: close to 0 in noise.
  public let structure: Double
  /// The share of pixels that are greener than red, 0...1; skin through a dermatoscope hardly ever is.
  public let green: Double

  /// Pixels of a side of a block.
  static let block = 20
  /// Levels by which green exceeds red in a pixel that counts as green.
  private static let greener = 8
  /// What rounding to whole levels adds to the square of a second difference of luma, on average: 6 x 1/12 of the
  /// squares of luma's weights.
  private static let rounding = Double(77 * 77 + 150 * 150 + 29 * 29) / 2

  /// - Parameter image: `[side, side, 3]`, a side of at least 32.
  public init(_ image: PixelImage) {
    precondition(
      image.width == image.height && image.width >= Preprocessor.minimumSide,
      "measures of an image of \(image.width)x\(image.height) pixels")
    let luma = Self.luma(image)
    green = Double(Self.greenCount(image)) / Double(luma.count)
    let total = luma.reduce(0) { $0 + Int($1) }
    let mean = Double(total) / Double(luma.count)
    brightness = mean / 256
    contrast =
      (0..<3).map { channel in
        let sums = Self.blockSums(side: image.width) { Int(image.pixels[$0 * 3 + channel]) }
        return Self.deviationFromPlane(sums)
      }.max()!
    let coarse = Self.secondDifferences(luma, side: image.width, step: 8)
    let fine = Self.secondDifferences(luma, side: image.width, step: 2)
    sharpness = coarse > 0 ? fine / coarse : 0
    var variance = 0.0
    for value in luma { variance += (Double(value) - mean) * (Double(value) - mean) }
    variance /= Double(luma.count)
    let means = Self.blockSums(side: image.width) { Int(luma[$0]) }.map(Self.mean)
    let centre = means.reduce(0, +) / Double(means.count)
    let between = means.reduce(0) { $0 + ($1 - centre) * ($1 - centre) } / Double(means.count)
    structure = variance > 0 ? between / variance : 0
  }

  private static func greenCount(_ image: PixelImage) -> Int {
    image.pixels.withUnsafeBufferPointer { pixels in
      stride(from: 0, to: pixels.count, by: 3).count { Int(pixels[$0 + 1]) > Int(pixels[$0]) + greener }
    }
  }

  /// `[side * side]`, 0...65280.
  private static func luma(_ image: PixelImage) -> [Int32] {
    image.pixels.withUnsafeBufferPointer { pixels in
      (0..<image.width * image.height).map { index in
        let (red, green, blue) = (pixels[index * 3], pixels[index * 3 + 1], pixels[index * 3 + 2])
        return 77 * Int32(red) + 150 * Int32(green) + 29 * Int32(blue)
      }
    }
  }

  private static func mean(_ sum: Int) -> Double { Double(sum) / Double(block * block) }

  /// The sum of every whole block, row-major.
  private static func blockSums(side: Int, value: (Int) -> Int) -> [Int] {
    let count = side / block
    var sums = [Int](repeating: 0, count: count * count)
    for row in 0..<count * block {
      for column in 0..<count * block {
        sums[row / block * count + column / block] += value(row * side + column)
      }
    }
    return sums
  }

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
      var total = 0
      for row in 0..<side {
        for column in step..<side - step {
          let (here, there) = (row * side + column, column * side + row)
          let across = Int(2 * luma[here] - luma[here - step] - luma[here + step])
          let down = Int(2 * luma[there] - luma[there - step * side] - luma[there + step * side])
          total += across * across + down * down
        }
      }
      return max(Double(total) / Double(2 * side * (side - 2 * step)) - rounding, 0)
    }
  }
}
