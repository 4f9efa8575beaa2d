import ImagePipeline
import Testing

@testable import ImageCodecs

@Suite struct BMPDecoderTests {
  /// A Windows header of 40 bytes and what follows it.
  private func file(
    width: Int = 2, height: Int = 2, bits: Int = 24, compression: Int = 0, after: [UInt8] = [],
    pixels: [UInt8]
  ) -> [UInt8] {
    func bytes(_ value: Int, _ count: Int) -> [UInt8] {
      (0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }
    let start = 54 + after.count
    return Array("BM".utf8) + bytes(start + pixels.count, 4) + bytes(0, 4) + bytes(start, 4) + bytes(40, 4)
      + bytes(width, 4) + bytes(height, 4) + bytes(1, 2) + bytes(bits, 2) + bytes(compression, 4)
      + bytes(pixels.count, 4) + bytes(0, 16) + after + pixels
  }

  @Test func rowsStandUpsideDownUnlessTheHeightIsNegative() throws {
    let pixels: [UInt8] = [1, 2, 3, 4, 5, 6, 0, 0, 7, 8, 9, 10, 11, 12, 0, 0]
    #expect(try ImageDecoder.decode(file(pixels: pixels)).pixels == [9, 8, 7, 12, 11, 10, 3, 2, 1, 6, 5, 4])
    #expect(
      try ImageDecoder.decode(file(height: -2, pixels: pixels)).pixels == [
        3, 2, 1, 6, 5, 4, 9, 8, 7, 12, 11, 10,
      ])
  }

  /// The last row need not be filled up.
  @Test func aMissingFillerIsNoTruncation() throws {
    let pixels = [UInt8](repeating: 5, count: 14)
    #expect(try ImageDecoder.decode(file(pixels: pixels)).pixels == [UInt8](repeating: 5, count: 12))
    expectRefusal(
      of: file(pixels: Array(pixels.dropLast())),
      .truncated(.bmp, reason: "13 bytes of pixels where 14 are needed"))
  }

  @Test func kindsThatPillowDoesNotReadAreNamed() {
    let pixels = [UInt8](repeating: 0, count: 64)
    for (bits, compression, reason) in [
      (24, 4, "compression 4 with 24 bits per pixel"), (8, 5, "compression 5 with 8 bits per pixel"),
      (24, 1, "compression 1 with 24 bits per pixel"), (2, 0, "2 bits per pixel"),
    ] {
      expectRefusal(
        of: file(bits: bits, compression: compression, pixels: pixels),
        .unsupportedVariant(.bmp, reason: reason))
    }
    let masks: [UInt8] = [0, 15, 0, 0, 240, 0, 0, 0, 15, 0, 0, 0]
    expectRefusal(
      of: file(bits: 16, compression: 3, after: masks, pixels: pixels),
      .unsupportedVariant(.bmp, reason: "16 bits per pixel with the masks F00, F0, F"))
  }

  /// Nothing is allocated for a size that the file only claims.
  @Test func sizesThatAreNotThereAreRefused() {
    expectRefusal(
      of: file(width: 13_000, height: 13_000, pixels: [1, 2, 3]),
      .truncated(.bmp, reason: "3 bytes of pixels where 507000000 are needed"))
    expectRefusal(
      of: file(width: 1 << 20, height: 1 << 20, pixels: []),
      .tooManyPixels(width: 1 << 20, height: 1 << 20, limit: PixelLimit.count))
    expectRefusal(of: file(width: 0, pixels: []), .corrupt(.bmp, reason: "the size is 0x2"))
    let palette = [UInt8](repeating: 0, count: 1024)
    expectRefusal(
      of: file(width: 8000, height: 8000, bits: 8, compression: 1, after: palette, pixels: [5, 1, 0, 1]),
      .truncated(.bmp, reason: "the runs end after 5 of 64000000 pixels"))
  }

  @Test func twoLettersDoNotMakeABitmap() {
    expectRefusal(of: Array("BMW is a car".utf8), .unrecognizedFormat(leadingBytes: Array("BMW is a".utf8)))
  }
}
