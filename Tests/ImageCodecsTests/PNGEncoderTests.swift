import ImagePipeline
import TestImages
import Testing

@testable import ImageCodecs

@Suite struct PNGEncoderTests {
  @Test(arguments: [(1, 1), (3, 2), (17, 31), (640, 5)])
  func whatIsEncodedDecodesToTheSamePixels(width: Int, height: Int) throws {
    let pixels = (0..<width * height * 3).map { UInt8(truncatingIfNeeded: $0 * 151 + $0 / 7) }
    let image = PixelImage(width: width, height: height, pixels: pixels)
    let bytes = try PNGEncoder.encode(image, text: [("Disclaimer", "Not a medical device."), ("Title", "x")])
    #expect(try ImageDecoder.decode(bytes) == image)
    #expect(
      try PNGEncoder.encode(image, text: [("Disclaimer", "Not a medical device."), ("Title", "x")]) == bytes)
  }

  @Test func textStandsInChunksOfItsOwn() throws {
    let image = PixelImage(width: 1, height: 1, pixels: [1, 2, 3])
    let bytes = try PNGEncoder.encode(image, text: [("Disclaimer", "Not a medical device.")])
    let chunk = Array("tEXtDisclaimer".utf8) + [0] + Array("Not a medical device.".utf8)
    #expect(bytes.indices.contains { bytes[$0...].starts(with: chunk) })
  }

  @Test func anImageKeepsItsPixelsAtItsOwnSize() {
    let image = PixelImage(width: 2, height: 2, pixels: (0..<12).map { UInt8($0 * 20) })
    #expect(image.resized(width: 2, height: 2) == image)
    #expect(image.resized(width: 1, height: 3).height == 3)
  }
}
