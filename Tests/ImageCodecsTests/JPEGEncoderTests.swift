import ImagePipeline
import SystemModule
import TestImages
import Testing

@testable import ImageCodecs

@Suite struct JPEGEncoderTests {
  /// The decoded pixels differ from the encoded ones by no more than the eye lets pass.
  @Test(arguments: [(1, 1), (8, 8), (33, 17), (640, 480)])
  func aPictureComesBackNearlyTheSame(width: Int, height: Int) throws {
    var pixels: [UInt8] = []
    for y in 0..<height {
      for x in 0..<width { pixels += [UInt8(40 + 120 * x / width), UInt8(30 + 150 * y / height), 90] }
    }
    let image = PixelImage(width: width, height: height, pixels: pixels)
    let bytes = try JPEGEncoder.encode(image, quality: 90)
    let decoded = try ImageDecoder.decode(bytes)
    #expect(decoded.width == width && decoded.height == height)
    let difference = zip(decoded.pixels, pixels).map { abs(Int($0) - Int($1)) }.max() ?? 0
    #expect(difference <= 6, "\(difference)")
    #expect(try JPEGEncoder.encode(image, quality: 90) == bytes)
    #expect(try JPEGEncoder.encode(image, quality: 30).count <= bytes.count)
  }

  /// libjpeg's own words, and not that memory is short.
  @Test func anImageThatIsTooLargeIsNamed() {
    let image = PixelImage(width: 65501, height: 1) { $0.update(repeating: 7, count: 65501 * 3) }
    #expect(
      throws: DermaFusionError.encodingFailed(reason: "Maximum supported image dimension is 65500 pixels")
    ) {
      try JPEGEncoder.encode(image, quality: 90)
    }
  }
}
