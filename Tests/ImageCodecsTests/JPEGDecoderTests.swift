import ImagePipeline
import SystemModule
import TestImages
import Testing

@testable import ImageCodecs

@Suite struct JPEGDecoderTests {
  /// Pillow 13's pixels: the first, middle and last pixel, and the sum of each channel.
  private func expectPillowsPixels(
    _ bytes: [UInt8], width: Int, height: Int, first: [UInt8], middle: [UInt8], last: [UInt8], sums: [Int],
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let image = try ImageDecoder.decode(bytes)
    #expect(image.width == width && image.height == height, sourceLocation: sourceLocation)
    let middleStart = (height / 2 * width + width / 2) * 3
    #expect(Array(image.pixels.prefix(3)) == first, sourceLocation: sourceLocation)
    #expect(Array(image.pixels[middleStart..<middleStart + 3]) == middle, sourceLocation: sourceLocation)
    #expect(Array(image.pixels.suffix(3)) == last, sourceLocation: sourceLocation)
    var actual = [0, 0, 0]
    for (index, value) in image.pixels.enumerated() { actual[index % 3] += Int(value) }
    #expect(actual == sums, sourceLocation: sourceLocation)
  }

  @Test func replicatesGray() throws {
    expectEqual(try ImageDecoder.decode(TinyJPEG.gray), .solid(width: 8, height: 8, 100, 100, 100))
  }

  @Test func upsamplesChromaAsPillowDoes() throws {
    try expectPillowsPixels(
      TinyJPEG.subsampled, width: 11, height: 9, first: [4, 10, 0], middle: [114, 102, 78],
      last: [212, 200, 158],
      sums: [11020, 10315, 7789])
  }

  @Test func decodesProgressiveFiles() throws {
    try expectPillowsPixels(
      TinyJPEG.progressive, width: 11, height: 9, first: [25, 0, 2], middle: [111, 104, 78],
      last: [202, 206, 156],
      sums: [10806, 10408, 7862])
  }

  @Test func decodesFilesWithRestartMarkers() throws {
    try expectPillowsPixels(
      TinyJPEG.restarting, width: 11, height: 9, first: [20, 2, 2], middle: [117, 101, 78],
      last: [209, 202, 156],
      sums: [10879, 10379, 7862])
  }

  @Test func takesFourComponentsAsInvertedCMYK() throws {
    try expectPillowsPixels(
      TinyJPEG.cmyk, width: 5, height: 4, first: [236, 243, 248], middle: [185, 177, 197],
      last: [139, 146, 162],
      sums: [3724, 3816, 4064])
  }

  @Test(arguments: [
    TinyJPEG.gray, TinyJPEG.subsampled, TinyJPEG.progressive, TinyJPEG.restarting, TinyJPEG.cmyk,
  ])
  func refusesAFileCutAnywhere(whole: [UInt8]) throws {
    #expect(throws: Never.self) { try ImageDecoder.decode(whole) }
    for count in 2..<whole.count - 2 {
      let error = #expect(throws: DermaFusionError.self, "\(count) of \(whole.count) bytes") {
        try ImageDecoder.decode(Array(whole[..<count]))
      }
      guard error?.message.hasPrefix("the JPEG is truncated: ") == true else {
        Issue.record("\(count) of \(whole.count) bytes: \(String(describing: error))")
        continue
      }
    }
  }

  @Test func namesTheRowWhereTheDataEnd() throws {
    // The second of two rows of blocks is missing but for its restart marker.
    let scan = try #require(TinyJPEG.restarting.firstIndex(of: [0xFF, 0xD1]))
    expectRefusal(
      of: Array(TinyJPEG.restarting[...(scan + 1)]), .truncated(.jpeg, reason: "the data end in row 9 of 9"))
    expectRefusal(of: [0xFF, 0xD8, 0xFF], .truncated(.jpeg, reason: "the data end in the header"))
    expectRefusal(
      of: Array(TinyJPEG.progressive.dropLast(40)),
      .truncated(.jpeg, reason: "the data end before the last scan does"))
  }

  @Test func ignoresWhatFollowsTheImage() throws {
    let image = try ImageDecoder.decode(TinyJPEG.subsampled)
    expectEqual(try ImageDecoder.decode(TinyJPEG.subsampled + [1, 2, 3, 0xFF, 0xD8]), image)
    let extraneous = TinyJPEG.subsampled.dropLast(2) + [0, 7, 7, 0xFF, 0xD9]
    expectEqual(try ImageDecoder.decode(Array(extraneous)), image)
  }

  @Test func refusesTooManyPixelsBeforeAllocating() throws {
    let frame = try #require(TinyJPEG.subsampled.firstIndex(of: [0xFF, 0xC0]))
    let bomb = TinyJPEG.subsampled.replacing(at: frame + 5, count: 4, with: [0xFD, 0xE8, 0xFD, 0xE8])
    expectRefusal(of: bomb, .tooManyPixels(width: 65000, height: 65000, limit: 178_956_970))
  }

  @Test func refusesMorePixelsThanTheBytesCanHold() throws {
    let frame = try #require(TinyJPEG.subsampled.firstIndex(of: [0xFF, 0xC0]))
    let bomb = TinyJPEG.subsampled.replacing(at: frame + 5, count: 4, with: [0x2E, 0xE0, 0x2E, 0xE0])
    expectRefusal(
      of: bomb, .truncated(.jpeg, reason: "\(bomb.count) bytes cannot hold 12000x12000 pixels"))
  }

  /// Each in its turn, not each after all before it: the time grows with the file and not with its square.
  @Test(.timeLimit(.minutes(1))) func skipsAMillionEmptySegments() throws {
    let start = Array(TinyJPEG.subsampled.prefix(2))
    var empty: [UInt8] = [0xFF, 0xE1, 0, 2]
    for _ in 0..<20 { empty += empty }
    let image = try ImageDecoder.decode(TinyJPEG.subsampled)
    expectEqual(try ImageDecoder.decode(start + empty + TinyJPEG.subsampled.dropFirst(2)), image)
    // One whose stated length is too short to be one, as libjpeg takes it: without content.
    let bogus: [UInt8] = [0xFF, 0xE1, 0, 0]
    expectEqual(try ImageDecoder.decode(start + bogus + TinyJPEG.subsampled.dropFirst(2)), image)
  }

  @Test func passesOnTheLibrarysMessage() throws {
    let frame = try #require(TinyJPEG.subsampled.firstIndex(of: [0xFF, 0xC0]))
    expectRefusal(
      of: TinyJPEG.subsampled.replacing(at: frame + 4, count: 1, with: [12]),
      .unsupportedVariant(.jpeg, reason: "Unsupported JPEG data precision 12"))
    // Lossless (SOF3), which libjpeg-turbo 2 does not know; hierarchical (SOF5).
    for (marker, name) in [(0xC5, "c5"), (0xC7, "c7")] as [(UInt8, String)] {
      expectRefusal(
        of: TinyJPEG.subsampled.replacing(at: frame + 1, count: 1, with: [marker]),
        .unsupportedVariant(.jpeg, reason: "Unsupported JPEG process: SOF type 0x\(name)"))
    }
    expectRefusal(
      of: TinyJPEG.subsampled.replacing(at: frame + 5, count: 2, with: [0, 0]),
      .corrupt(.jpeg, reason: "Empty JPEG image (DNL not supported)"))
  }

  @Test func refusesTwoComponents() throws {
    let frame = try #require(TinyJPEG.subsampled.firstIndex(of: [0xFF, 0xC0]))
    var two = TinyJPEG.subsampled.replacing(
      at: frame + 2, count: 17, with: [0, 14, 8, 0, 9, 0, 11, 2, 1, 0x11, 0, 2, 0x11, 1])
    let scan = try #require(two.firstIndex(of: [0xFF, 0xDA]))
    two = two.replacing(at: scan + 2, count: 12, with: [0, 10, 2, 1, 0, 2, 0x11, 0, 63, 0])
    expectRefusal(of: two, .unsupportedVariant(.jpeg, reason: "2 colour components"))
  }

  @Test func refusesEndlessScans() throws {
    // The last scan of the progressive file once more, over and over.
    let lastScan = try #require(TinyJPEG.progressive.lastRange(of: [0xFF, 0xDA] as [UInt8])?.lowerBound)
    let scan = TinyJPEG.progressive[lastScan..<TinyJPEG.progressive.count - 2]
    let endless = TinyJPEG.progressive[..<lastScan] + repeatElement(scan, count: 600).joined() + [0xFF, 0xD9]
    expectRefusal(of: Array(endless), .corrupt(.jpeg, reason: "more than 500 scans"))
  }
}

extension [UInt8] {
  fileprivate func lastRange(of bytes: [UInt8]) -> Range<Int>? {
    indices.reversed().first { self[$0...].starts(with: bytes) }.map { $0..<$0 + bytes.count }
  }
}
