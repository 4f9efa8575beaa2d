import ImagePipeline
import TestImages
import Testing

@testable import ImageCodecs

@Suite struct PNMDecoderTests {
  private func gray(_ text: String, _ data: [UInt8] = []) throws -> [UInt8] {
    let image = try ImageDecoder.decode(Array(text.utf8) + data)
    for start in stride(from: 0, to: image.pixels.count, by: 3) {
      #expect(
        image.pixels[start] == image.pixels[start + 1] && image.pixels[start] == image.pixels[start + 2])
    }
    return stride(from: 0, to: image.pixels.count, by: 3).map { image.pixels[$0] }
  }

  @Test func readsBinaryColorRowByRow() throws {
    let image = try ImageDecoder.decode(Array("P6 2 1 255\n".utf8) + [1, 2, 3, 4, 5, 6])
    #expect(image == PixelImage(width: 2, height: 1, pixels: [1, 2, 3, 4, 5, 6]))
  }

  @Test func readsPlainColor() throws {
    let image = try ImageDecoder.decode(Array("P3\n1 2\n255\n1 2 3\n250 251 252".utf8))
    #expect(image == PixelImage(width: 1, height: 2, pixels: [1, 2, 3, 250, 251, 252]))
  }

  @Test func takesOnePlainOrPackedBitAsBlack() throws {
    #expect(try gray("P1 3 2 1 0 1\n011") == [0, 255, 0, 255, 0, 0])
    #expect(
      try gray("P4 10 2\n", [0b1010_0000, 0b0111_1111, 0, 0b1000_0000]) == [
        0, 255, 0, 255, 255, 255, 255, 255, 255, 0, 255, 255, 255, 255, 255, 255, 255, 255, 0, 255,
      ])
  }

  @Test func scalesAnyMaximumWithTiesToEven() throws {
    // 255 / 2 = 127.5 -> 128; 255 * 1 / 6 = 42.5 -> 42; 255 * 3 / 6 = 127.5 -> 128.
    #expect(try gray("P2 3 1 2 0 1 2") == [0, 128, 255])
    #expect(try gray("P5 3 1 6\n", [1, 3, 6]) == [42, 128, 255])
  }

  @Test func clipsBinaryValuesAboveTheMaximum() throws {
    #expect(try gray("P5 2 1 100\n", [100, 200]) == [255, 255])
  }

  @Test func takesSixteenBitGrayByItsHighByte() throws {
    #expect(try gray("P5 3 1 65535\n", [0x12, 0xFF, 0xFF, 0xFF, 0, 0xFF]) == [0x12, 0xFF, 0])
    #expect(try gray("P2 2 1 65535 4863 65535") == [0x12, 0xFF])
    // 1000 of 4000 is 16383.75 of 65535, rounded to 16384 = 0x4000.
    #expect(try gray("P5 1 1 4000\n", [0x03, 0xE8]) == [0x40])
  }

  @Test func scalesSixteenBitColorToEight() throws {
    let image = try ImageDecoder.decode(Array("P6 1 1 65535\n".utf8) + [0x12, 0xFF, 0x80, 0x00, 0xFF, 0xFF])
    // 0x12FF is 18.92 of 255, 0x8000 is 127.502.
    #expect(image.pixels == [19, 128, 255])
  }

  @Test func skipsCommentsEverywhere() throws {
    #expect(try gray("P2\n# made by hand\n2#width\n 1 # height\r255\n7 #seven\n8") == [7, 8])
    #expect(try gray("P2 2 1 255 1#joined\n2 3") == [12, 3])
  }

  @Test func refusesWhatIsNotANumber() {
    expectRefusal(
      of: Array("P5 x 1 255\n0".utf8),
      .corrupt(.pnm, reason: "the width is not a number: byte 120 in it is no digit"))
    expectRefusal(
      of: Array("P5 1 -1 255\n0".utf8),
      .corrupt(.pnm, reason: "the height is not a number: byte 45 in it is no digit"))
    expectRefusal(of: Array("P1 2 1 1 2".utf8), .corrupt(.pnm, reason: "a value is neither 0 nor 1"))
    expectRefusal(
      of: Array("P5 12345678901 1 255\n0".utf8), .corrupt(.pnm, reason: "the width has more than 10 digits"))
  }

  @Test func refusesValuesOutsideTheirRange() {
    expectRefusal(of: Array("P5 0 1 255\n".utf8), .corrupt(.pnm, reason: "the size is 0x1"))
    expectRefusal(of: Array("P5 1 1 0\n0".utf8), .corrupt(.pnm, reason: "the maximum is 0, not in 1...65535"))
    expectRefusal(
      of: Array("P5 1 1 65536\n00".utf8), .corrupt(.pnm, reason: "the maximum is 65536, not in 1...65535"))
    expectRefusal(
      of: Array("P2 1 1 9 10".utf8), .corrupt(.pnm, reason: "a value is 10, above the maximum of 9"))
  }

  @Test func refusesTruncatedFiles() {
    expectRefusal(of: Array("P6".utf8), .truncated(.pnm, reason: "the data end where the width should be"))
    expectRefusal(
      of: Array("P6 3 2 ".utf8), .truncated(.pnm, reason: "the data end where the maximum should be"))
    expectRefusal(
      of: Array("P6 1 2 255\n12345".utf8), .truncated(.pnm, reason: "5 bytes of pixels where 6 are needed"))
    expectRefusal(
      of: Array("P4 9 2\n123".utf8), .truncated(.pnm, reason: "3 bytes of pixels where 4 are needed"))
    expectRefusal(
      of: Array("P2 2 1 255\n100".utf8), .truncated(.pnm, reason: "the data end where a value should be"))
    expectRefusal(
      of: Array("P1 3 1\n1 \n".utf8), .truncated(.pnm, reason: "the data end where a value should be"))
  }

  @Test func refusesBombsBeforeAllocating() {
    expectRefusal(
      of: Array("P6 20000 9000 255\n".utf8), .tooManyPixels(width: 20000, height: 9000, limit: 178_956_970))
    expectRefusal(
      of: Array("P6 9999999999 9999999999 255\n".utf8),
      .tooManyPixels(width: 9_999_999_999, height: 9_999_999_999, limit: 178_956_970))
  }
}
