import Foundation
import SystemModule
import TestImages
import Testing

@testable import ImagePipeline

@Suite struct PreprocessorTests {
  private static func configuration(
    size: Int, _ colorConstancy: PreprocessingConfiguration.ColorConstancy
  ) -> PreprocessingConfiguration {
    PreprocessingConfiguration(
      size: size, colorConstancy: colorConstancy, mean: [0.5, 0.25, 0], standardDeviation: [0.5, 0.25, 2])
  }

  /// The left half one colour, the right half another; 32x32, so that it is not resized at size 32.
  private static func halves(_ left: [UInt8], _ right: [UInt8]) -> PixelImage {
    PixelImage(width: 32, height: 32, pixels: (0..<1024).flatMap { $0 % 32 < 16 ? left : right })
  }

  @Test func cropsTheCentreRoundedDown() throws {
    let wide = PixelImage.noise(width: 37, height: 32, seed: 1)
    let cropped = try Preprocessor(.standard)(wide).cropped
    #expect(cropped.width == 32 && cropped.height == 32)
    for y in 0..<32 {
      #expect(
        cropped.pixels[y * 96..<y * 96 + 96] == wide.pixels[(y * 37 + 2) * 3..<(y * 37 + 34) * 3], "row \(y)")
    }
    let tall = PixelImage.noise(width: 33, height: 40, seed: 2)
    #expect(try Preprocessor(.standard)(tall).cropped.pixels[...] == tall.pixels[3 * 99..<36 * 99])
  }

  @Test func resizesToTheConfiguredSide() throws {
    let image = try Preprocessor(Self.configuration(size: 45, .none))(.noise(width: 60, height: 50, seed: 3))
    #expect(image.resized.width == 45 && image.resized.height == 45)
    #expect(image.normalizedCount == 45 * 45 * 3)
    #expect(image.constancy == image.resized)
  }

  /// Written out in Double from the definition, pixel by pixel.
  private static func shadesOfGray(_ image: PixelImage, p: Double) -> (gains: [Double], means: [Double]) {
    var sums = [0.0, 0.0, 0.0]
    for (index, value) in image.pixels.enumerated() { sums[index % 3] += pow(Double(value), p) }
    let means = sums.map { pow($0 / Double(image.width * image.height), 1 / p) }
    return (means.map { (means[0] + means[1] + means[2]) / 3 / $0 }, means)
  }

  @Test(arguments: [1.0, 2.0, 6.0, 2.5])
  func equalisesTheChannels(p: Double) throws {
    let image = Self.halves([200, 40, 10], [90, 60, 3])
    let gains = Self.shadesOfGray(image, p: p).gains
    let rounded = try Preprocessor(Self.configuration(size: 32, .shadesOfGray(p: p, rounding: .round)))(image)
    let truncated = try Preprocessor(Self.configuration(size: 32, .shadesOfGray(p: p, rounding: .truncate)))(
      image)
    for (index, value) in image.pixels.enumerated() {
      let corrected = min(Double(value) * gains[index % 3], 255)
      #expect(
        rounded.constancy.pixels[index] == UInt8(min((corrected + 0.5).rounded(.down), 255)), "value \(index)"
      )
      #expect(truncated.constancy.pixels[index] == UInt8(corrected.rounded(.down)), "value \(index)")
    }
    #expect(rounded.warnings == [.smallImage])
  }

  @Test func correctsByHandComputedGains() throws {
    // p = 1: the means are 100, 50 and 30, their mean is 60, so the gains are 0.6, 1.2 and 2.
    let image = Self.halves([150, 25, 21], [50, 75, 39])
    let result = try Preprocessor(Self.configuration(size: 32, .shadesOfGray(p: 1, rounding: .round)))(image)
    #expect(Array(result.constancy.pixels.prefix(3)) == [90, 30, 42])
    #expect(Array(result.constancy.pixels.suffix(3)) == [30, 90, 78])
  }

  @Test func clipsAtWhite() throws {
    let image = Self.halves([255, 255, 2], [255, 250, 4])
    let result = try Preprocessor(Self.configuration(size: 32, .shadesOfGray(p: 6, rounding: .round)))(image)
    let blueGain = Self.shadesOfGray(image, p: 6).gains[2]
    #expect(result.constancy.pixels[2] == UInt8(2 * blueGain + 0.5))
    #expect(result.constancy.pixels[95] == UInt8(min(4 * blueGain + 0.5, 255)))
    #expect(result.constancy.pixels[95] > 150)
  }

  @Test func normalisesInBothLayouts() throws {
    let image = PixelImage.noise(width: 33, height: 35, seed: 5)
    let result = try Preprocessor(Self.configuration(size: 34, .none))(image)
    let channelsFirst = result.normalizedCHW()
    var channelsLast = [Float](repeating: .nan, count: result.normalizedCount)
    channelsLast.withUnsafeMutableBufferPointer { buffer in
      if let start = buffer.baseAddress { result.writeNormalizedNHWC(to: start) }
    }
    let mean = [0.5, 0.25, 0]
    let deviation = [0.5, 0.25, 2]
    for (index, value) in result.resized.pixels.enumerated() {
      let channel = index % 3
      let expected = Float((Double(value) / 255 - mean[channel]) / deviation[channel])
      #expect(channelsLast[index] == expected, "value \(index)")
      #expect(channelsFirst[channel * 34 * 34 + index / 3] == expected, "value \(index)")
    }
  }

  @Test func keepsFractionsWhenNothingIsRounded() throws {
    let image = Self.halves([200, 40, 10], [90, 60, 3])
    let gains = Self.shadesOfGray(image, p: 6).gains
    let result = try Preprocessor(Self.configuration(size: 32, .shadesOfGray(p: 6, rounding: .none)))(image)
    let red = 90 * gains[0]
    #expect(abs(red - red.rounded()) > 0.01)
    #expect(abs(Double(result.normalizedCHW()[31]) - (red / 255 - 0.5) / 0.5) < 1e-6)
    #expect(result.constancy.pixels[93] == UInt8(red + 0.5))
  }

  @Test func skipsColorConstancyOnOneColor() throws {
    // Every channel spans 1 level: skipped. Blue spans 2: corrected.
    let flat = Self.halves([200, 40, 10], [201, 41, 11])
    let skipped = try Preprocessor(Self.configuration(size: 32, .shadesOfGray(p: 6, rounding: .round)))(flat)
    #expect(skipped.warnings == [.smallImage, .solidColor])
    #expect(skipped.constancy == flat)
    let varied = Self.halves([200, 40, 10], [201, 41, 12])
    let corrected = try Preprocessor(Self.configuration(size: 32, .shadesOfGray(p: 6, rounding: .round)))(
      varied)
    #expect(corrected.warnings == [.smallImage])
    #expect(corrected.constancy != varied)
  }

  @Test func skipsColorConstancyNearBlack() throws {
    let noBlue = Self.halves([200, 40, 0], [20, 4, 0])
    let skipped = try Preprocessor(Self.configuration(size: 32, .shadesOfGray(p: 6, rounding: .round)))(
      noBlue)
    #expect(skipped.warnings == [.smallImage, .nearBlack])
    #expect(skipped.constancy == noBlue)
    let black = PixelImage.solid(width: 120, height: 120, 0, 0, 0)
    #expect(try Preprocessor(.standard)(black).warnings == [.solidColor, .nearBlack])
    // A mean of exactly 1 is not below 1.
    let one = Self.halves([200, 40, 1], [20, 4, 1])
    #expect(
      try Preprocessor(Self.configuration(size: 32, .shadesOfGray(p: 6, rounding: .round)))(one).warnings
        == [.smallImage])
  }

  @Test func neverWarnsOfSkippingWhatIsSwitchedOff() throws {
    let result = try Preprocessor(Self.configuration(size: 32, .none))(
      .solid(width: 100, height: 100, 0, 0, 0))
    #expect(result.warnings == [])
  }

  @Test func refusesAndWarnsBySize() throws {
    let preprocessor = Preprocessor(Self.configuration(size: 32, .none))
    #expect(throws: DermaFusionError.tooSmall(width: 200, height: 31, minimumSide: 32)) {
      try preprocessor(.solid(width: 200, height: 31, 1, 2, 3))
    }
    #expect(throws: DermaFusionError.tooSmall(width: 31, height: 200, minimumSide: 32)) {
      try preprocessor(.solid(width: 31, height: 200, 1, 2, 3))
    }
    #expect(try preprocessor(.solid(width: 32, height: 400, 1, 2, 3)).warnings == [.smallImage])
    #expect(try preprocessor(.solid(width: 99, height: 100, 1, 2, 3)).warnings == [.smallImage])
    #expect(try preprocessor(.solid(width: 100, height: 100, 1, 2, 3)).warnings == [])
  }
}
