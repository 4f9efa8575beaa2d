import ImagePipeline
import TestImages
import Testing

@testable import ImageCodecs

@Suite struct OrientationTests {
  /// 3x2 pixels numbered 0...5 by rows.
  private static let stored = PixelImage(
    width: 3, height: 2, pixels: (0..<6).flatMap { [$0, $0 + 100, $0 + 200] })

  private static func numbers(_ image: PixelImage) -> [[UInt8]] {
    (0..<image.height).map { y in (0..<image.width).map { x in image.pixels[(y * image.width + x) * 3] } }
  }

  @Test func everyValueTurnsThePixelsUpright() {
    let expected: [[[UInt8]]] = [
      [[0, 1, 2], [3, 4, 5]], [[2, 1, 0], [5, 4, 3]], [[5, 4, 3], [2, 1, 0]], [[3, 4, 5], [0, 1, 2]],
      [[0, 3], [1, 4], [2, 5]], [[3, 0], [4, 1], [5, 2]], [[5, 2], [4, 1], [3, 0]],
      [[2, 5], [1, 4], [0, 3]],
    ]
    for (index, rows) in expected.enumerated() {
      let image = Orientation(rawValue: index + 1)?.applied(to: Self.stored)
      #expect(image.map(Self.numbers) == rows, "orientation \(index + 1)")
      let keepsChannels = image?.pixels.enumerated().allSatisfy { $1 % 100 == image?.pixels[$0 - $0 % 3] }
      #expect(keepsChannels == true, "orientation \(index + 1)")
    }
  }

  /// A TIFF directory with one entry.
  private static func exif(
    _ value: UInt16, bigEndian: Bool = true, tag: UInt16 = 274, type: UInt16 = 3, count: UInt16 = 1,
    before: [[UInt16]] = []
  ) -> [UInt8] {
    let isLong = type == 4
    let entry = [tag, type, 0, count] + (isLong ? [0, value] : [value, 0])
    let entries = before + [entry]
    let header: [UInt16] = [bigEndian ? 0x4D4D : 0x4949, 42, 0, 8, UInt16(entries.count)]
    // Big-endian halves of 32-bit values; the little-endian form swaps each pair.
    func words(_ values: [UInt16], pairs: [Int]) -> [UInt16] {
      guard !bigEndian else { return values }
      var swapped = values
      for index in pairs { swapped.swapAt(index, index + 1) }
      return swapped
    }
    let all =
      words(header, pairs: [2])
      + entries.flatMap { words($0, pairs: $0[1] == 3 && $0[3] < 3 ? [2] : [2, 4]) } + [0, 0]
    return all.flatMap {
      bigEndian ? [UInt8($0 >> 8), UInt8($0 & 0xFF)] : [UInt8($0 & 0xFF), UInt8($0 >> 8)]
    }
  }

  @Test func readsBothByteOrdersAndTypes() {
    for value in 1...8 {
      for bigEndian in [true, false] {
        for type in [3, 4] as [UInt16] {
          let exif = Self.exif(UInt16(value), bigEndian: bigEndian, type: type)
          #expect(
            Orientation(exif: exif, xmp: nil).rawValue == value,
            "value \(value), big-endian \(bigEndian), type \(type)")
        }
      }
    }
  }

  /// As Pillow, which compares numbers of any kind with the eight values.
  @Test(
    arguments: [
      (5, [0, 6, 0, 1], 6), (5, [0, 12, 0, 2], 6), (5, [0, 13, 0, 2], 1), (5, [0, 6, 0, 0], 1),
      (10, [0xFFFF, 0xFFFD, 0xFFFF, 0xFFFF], 3), (10, [0xFFFF, 0xFFFD, 0, 1], 1),
      (11, [0x4100, 0], 8), (11, [0x4108, 0], 1), (11, [0x7FC0, 0], 1),
      (12, [0x4014, 0, 0, 0], 5), (12, [0x4016, 0, 0, 0], 1), (12, [0xFFF0, 0, 0, 0], 1),
      (16, [0, 0, 0, 6], 6), (16, [0, 0, 1, 6], 1), (16, [0xFFFF, 0xFFFF, 0xFFFF, 0xFFFA], 1),
    ] as [(UInt16, [UInt16], Int)])
  func takesWholeNumbersOfEveryType(type: UInt16, value: [UInt16], expected: Int) {
    let isLong = value.count > 2
    let words =
      [0x4D4D, 42, 0, 8, 1, 274, type, 0, 1] + (isLong ? [0, 26] : value) + [0, 0] + (isLong ? value : [])
    let exif = words.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
    #expect(Orientation(exif: exif, xmp: nil).rawValue == expected)
  }

  @Test func leavesTheImageWhenTheValueOrTheDirectoryIsUnreadable() {
    let unreadable: [[UInt8]] = [
      [], Self.exif(0), Self.exif(9), Self.exif(6, tag: 271), Self.exif(6, count: 0),
      Array(Self.exif(6).prefix(15)),
      Array(Self.exif(6).prefix(7)), Array("garbage!garbage!".utf8), Self.exif(6, type: 7),
      Self.exif(6, before: [[271, 2, 0, 8, 0, 5000]]),
    ]
    for (index, exif) in unreadable.enumerated() {
      #expect(Orientation(exif: exif, xmp: nil) == .upright, "case \(index)")
    }
  }

  @Test func skipsEntriesThatAreOfNoUse() {
    #expect(Orientation(exif: Self.exif(6, before: [[271, 99, 0, 8, 0, 5000]]), xmp: nil).rawValue == 6)
    #expect(Orientation(exif: Self.exif(6, before: [[271, 2, 1, 0, 0, 8]]), xmp: nil).rawValue == 6)
    #expect(Orientation(exif: Self.exif(6, before: [[274, 3, 0, 1, 3, 0]]), xmp: nil).rawValue == 3)
  }

  @Test func skipsTheMarkerOnceOrTwice() {
    let marker = Array("Exif\0\0".utf8)
    #expect(Orientation(exif: marker + Self.exif(8), xmp: nil).rawValue == 8)
    #expect(Orientation(exif: marker + marker + Self.exif(8), xmp: nil).rawValue == 8)
    #expect(Orientation(exif: marker + marker + marker + Self.exif(8), xmp: nil) == .upright)
  }

  @Test func takesXMPOnlyWhereExifHasNone() {
    let attribute = Array("<a tiff:Orientation=\"3\"/>".utf8)
    let element = Array("tiff:Orientation tiff:Orientation=\"x <tiff:Orientation>5<".utf8)
    #expect(Orientation(exif: nil, xmp: attribute).rawValue == 3)
    #expect(Orientation(exif: [], xmp: element).rawValue == 5)
    #expect(Orientation(exif: Self.exif(6, tag: 271), xmp: attribute).rawValue == 3)
    #expect(Orientation(exif: Self.exif(8), xmp: attribute).rawValue == 8)
    #expect(Orientation(exif: Self.exif(1), xmp: attribute).rawValue == 1)
    #expect(Orientation(exif: nil, xmp: Array("tiff:Orientation=\"".utf8)) == .upright)
  }

  @Test func isAppliedToJPEG() throws {
    let upright = try ImageDecoder.decode(TinyJPEG.restarting)
    let segment = Array("Exif\0\0".utf8) + Self.exif(6, bigEndian: false)
    let turned = TinyJPEG.restarting.replacing(
      at: 2, count: 0, with: [0xFF, 0xE1, 0, UInt8(segment.count + 2)] + segment)
    expectEqual(
      try ImageDecoder.decode(turned), Orientation.rotatedQuarterTurnClockwise.applied(to: upright))
    #expect(upright.width == 11)
    #expect(try ImageDecoder.decode(turned).width == 9)
  }

  @Test(arguments: [(1, 9), (2, 9), (3, 11)])
  func aJPEGsMarkerMayStandTwiceAsForPillow(markers: Int, width: Int) throws {
    let segment = Array(String(repeating: "Exif\0\0", count: markers).utf8) + Self.exif(6)
    let bytes = TinyJPEG.restarting.replacing(
      at: 2, count: 0, with: [0xFF, 0xE1, 0, UInt8(segment.count + 2)] + segment)
    #expect(try ImageDecoder.decode(bytes).width == width)
  }

  @Test func joinsTheExifSegmentsOfAJPEG() throws {
    let exif = Self.exif(3)
    var segments: [UInt8] = []
    for part in [exif.prefix(20), exif.dropFirst(20)] {
      segments += [0xFF, 0xE1, 0, UInt8(part.count + 8)]
      segments += Array("Exif\0\0".utf8)
      segments += part
    }
    let upright = try ImageDecoder.decode(TinyJPEG.restarting)
    expectEqual(
      try ImageDecoder.decode(TinyJPEG.restarting.replacing(at: 2, count: 0, with: segments)),
      Orientation.rotatedHalfTurn.applied(to: upright))
  }

  @Test func isAppliedToPNGFromEveryPlaceThatPillowKnows() throws {
    let digits = Self.exif(3).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    let profile = "Raw profile type exif\0\nexif\n      26\n\(digits.prefix(20))\n\(digits.dropFirst(20))\n"
    let xmp = "XML:com.adobe.xmp\0\0\0\0\0<x tiff:Orientation=\"3\"/>"
    let raw = Array("\nexif\n      26\n\(digits)\n".utf8)
    let chunks = [
      PNGBuilder.chunk("eXIf", Self.exif(3)), PNGBuilder.chunk("eXIf", Array("Exif\0\0".utf8) + Self.exif(3)),
      PNGBuilder.chunk("tEXt", Array(profile.utf8)), PNGBuilder.chunk("iTXt", Array(xmp.utf8)),
      PNGBuilder.chunk("zTXt", Array("Raw profile type exif\0\0".utf8) + PNGBuilder.stored(raw)),
    ]
    for (index, chunk) in chunks.enumerated() {
      var builder = PNGBuilder(width: 2, height: 1, bitDepth: 8, colorType: 0)
      builder.before = [chunk]
      #expect(try ImageDecoder.decode(builder.file([1, 2])).pixels == [2, 2, 2, 1, 1, 1], "chunk \(index)")
      builder.after = [chunk]
      builder.before = []
      #expect(
        try ImageDecoder.decode(builder.file([1, 2])).pixels == [2, 2, 2, 1, 1, 1],
        "chunk \(index) at the end")
    }
  }

  @Test func ignoresBrokenRawProfiles() {
    #expect(RawProfile.bytes(Array("\nexif\n 2\n0aF f\n".utf8)) == [0x0A, 0xFF])
    #expect(RawProfile.bytes(Array("\nexif\n 2\n0a0\n".utf8)) == nil)
    #expect(RawProfile.bytes(Array("\nexif\n 2\n0g\n".utf8)) == nil)
    #expect(RawProfile.bytes(Array("\nexif 0a".utf8)) == nil)
  }
}
