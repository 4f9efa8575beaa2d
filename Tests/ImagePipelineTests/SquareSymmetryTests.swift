import TestImages
import Testing

@testable import ImagePipeline

@Suite struct SquareSymmetryTests {
  /// numpy's `rot90` by its definition, so many times, then a mirror of the rows.
  private static func turned(_ image: PixelImage, quarterTurns: Int, isMirrored: Bool) -> PixelImage {
    let side = image.width
    func colour(_ image: [UInt8], _ y: Int, _ x: Int) -> ArraySlice<UInt8> {
      image[(y * side + x) * 3..<(y * side + x + 1) * 3]
    }
    var pixels = image.pixels
    for _ in 0..<quarterTurns {
      let before = pixels
      pixels = (0..<side * side).flatMap { colour(before, $0 % side, side - 1 - $0 / side) }
    }
    if isMirrored {
      let before = pixels
      pixels = (0..<side * side).flatMap { colour(before, $0 / side, side - 1 - $0 % side) }
    }
    return PixelImage(width: side, height: side, pixels: pixels)
  }

  @Test(arguments: [1, 2, 7, 12]) func eachIsSoManyTurnsAndAMirrorOrNone(side: Int) {
    let image = PixelImage.noise(width: side, height: side, seed: 11)
    for (index, symmetry) in ImageViews.symmetries.symmetriesOfSquare.enumerated() {
      #expect(
        symmetry.applied(to: image)
          == Self.turned(image, quarterTurns: index % 4, isMirrored: index >= 4),
        "\(symmetry) at side \(side)")
    }
  }

  @Test func theEightDiffer() {
    let image = PixelImage.noise(width: 5, height: 5, seed: 12)
    let views = ImageViews.symmetries.symmetriesOfSquare.map { $0.applied(to: image).pixels }
    #expect(Set(views).count == 8)
  }

  @Test func aTurnedInputHoldsTheSameValuesInOtherPlaces() throws {
    let configuration = PreprocessingConfiguration(
      size: 33, colorConstancy: .shadesOfGray(p: 6, rounding: .none), mean: [0.5, 0.25, 0],
      standardDeviation: [0.5, 0.25, 2])
    let image = try Preprocessor(configuration)(.noise(width: 70, height: 60, seed: 13))
    let turned = image.turned(by: .rotatedQuarterTurnCounterclockwise)
    let (upright, values) = (image.normalizedCHW(), turned.normalizedCHW())
    for index in values.indices {
      let (channel, y, x) = (index / (33 * 33), index / 33 % 33, index % 33)
      #expect(values[index] == upright[(channel * 33 + x) * 33 + 32 - y], "\([channel, y, x])")
    }
    #expect(turned.cropped == image.cropped)
  }
}
