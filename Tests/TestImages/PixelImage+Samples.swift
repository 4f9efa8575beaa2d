import ImagePipeline
import ReferenceLayers

extension PreprocessingConfiguration {
  /// 380 pixels, Shades of Gray with p = 6, ImageNet's mean and deviation.
  package static let standard = PreprocessingConfiguration(
    size: 380, colorConstancy: .shadesOfGray(p: 6, rounding: .round), mean: [0.485, 0.456, 0.406],
    standardDeviation: [0.229, 0.224, 0.225])
}

extension PixelImage {
  /// Noise: every value 0...255 with the same probability.
  package static func noise(width: Int, height: Int, seed: UInt64) -> PixelImage {
    var generator = SeededGenerator(seed: seed)
    let pixels = (0..<width * height * 3).map { _ in UInt8.random(in: 0...255, using: &generator) }
    return PixelImage(width: width, height: height, pixels: pixels)
  }

  /// One colour everywhere.
  package static func solid(
    width: Int, height: Int, _ red: UInt8, _ green: UInt8, _ blue: UInt8
  ) -> PixelImage {
    PixelImage(
      width: width, height: height, pixels: (0..<width * height).flatMap { _ in [red, green, blue] })
  }

  /// The first difference from the image that was expected, in words; nil when the two are equal.
  package func firstDifference(from expected: PixelImage) -> String? {
    guard width == expected.width, height == expected.height else {
      return "\(width)x\(height) instead of \(expected.width)x\(expected.height)"
    }
    guard let index = zip(pixels, expected.pixels).enumerated().first(where: { $1.0 != $1.1 })?.offset
    else {
      return nil
    }
    let place = "x \(index / 3 % width), y \(index / 3 / width), channel \(index % 3)"
    return "\(pixels[index]) instead of \(expected.pixels[index]) at \(place)"
  }
}
