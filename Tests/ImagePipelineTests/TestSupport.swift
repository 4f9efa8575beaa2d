import ReferenceLayers
import Testing

@testable import ImagePipeline

extension PreprocessingConfiguration {
  /// 380 pixels, Shades of Gray with p = 6, ImageNet's mean and deviation.
  static let standard = PreprocessingConfiguration(
    size: 380, colorConstancy: .shadesOfGray(p: 6, rounding: .round), mean: [0.485, 0.456, 0.406],
    standardDeviation: [0.229, 0.224, 0.225])
}

extension PixelImage {
  /// Noise: every value 0...255 with the same probability.
  static func noise(width: Int, height: Int, seed: UInt64) -> PixelImage {
    var generator = SeededGenerator(seed: seed)
    let pixels = (0..<width * height * 3).map { _ in UInt8.random(in: 0...255, using: &generator) }
    return PixelImage(width: width, height: height, pixels: pixels)
  }

  /// One colour everywhere.
  static func solid(width: Int, height: Int, _ red: UInt8, _ green: UInt8, _ blue: UInt8) -> PixelImage {
    PixelImage(
      width: width, height: height, pixels: (0..<width * height).flatMap { _ in [red, green, blue] })
  }
}

/// Records the first differing value and its place.
func expectEqual(
  _ actual: PixelImage, _ expected: PixelImage, _ comment: @autoclosure () -> String = "",
  sourceLocation: SourceLocation = #_sourceLocation
) {
  guard actual.width == expected.width, actual.height == expected.height else {
    Issue.record(
      "\(comment()): \(actual.width)x\(actual.height) instead of \(expected.width)x\(expected.height)",
      sourceLocation: sourceLocation)
    return
  }
  guard let index = zip(actual.pixels, expected.pixels).enumerated().first(where: { $1.0 != $1.1 })?.offset
  else {
    return
  }
  let place = "x \(index / 3 % actual.width), y \(index / 3 / actual.width), channel \(index % 3)"
  Issue.record(
    "\(comment()): \(actual.pixels[index]) instead of \(expected.pixels[index]) at \(place)",
    sourceLocation: sourceLocation)
}

/// Expects the decoder to refuse the bytes with exactly this error.
func expectRefusal(
  of bytes: [UInt8], _ expected: ImageError, sourceLocation: SourceLocation = #_sourceLocation
) {
  #expect(throws: expected, sourceLocation: sourceLocation) { try ImageDecoder.decode(bytes) }
}

private let crcTable: [UInt32] = (0..<256).map { byte in
  (0..<8).reduce(UInt32(byte)) { crc, _ in crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
}

/// zlib's CRC-32, written so that it is fast enough in an unoptimised build.
func crc32(_ bytes: ArraySlice<UInt8>) -> UInt32 {
  var crc = ~UInt32(0)
  crcTable.withUnsafeBufferPointer { table in
    bytes.withUnsafeBufferPointer { bytes in
      var index = 0
      while index < bytes.count {
        crc = crc &>> 8 ^ table[Int((crc ^ UInt32(bytes[index])) & 0xFF)]
        index &+= 1
      }
    }
  }
  return ~crc
}
