import ImagePipeline
import ReferenceLayers
import SystemModule
import TestImages
import Testing

@testable import ImageCodecs

@Suite struct PNGDecoderTests {
  /// Every combination that the format knows, with what 8-bit RGB must come of a pixel.
  private static let kinds: [(colorType: UInt8, bitDepth: UInt8, channels: Int)] = [
    (0, 1, 1), (0, 2, 1), (0, 4, 1), (0, 8, 1), (0, 16, 1), (2, 8, 3), (2, 16, 3), (3, 1, 1), (3, 2, 1),
    (3, 4, 1),
    (3, 8, 1), (4, 8, 2), (4, 16, 2), (6, 8, 4), (6, 16, 4),
  ]

  private static let palette: [[UInt8]] = (0...255).map { (index: UInt8) -> [UInt8] in
    [index, index &* 7, index ^ 0xA5]
  }

  private static func expectedPixel(colorType: UInt8, bitDepth: UInt8, _ samples: ArraySlice<Int>) -> [UInt8]
  {
    let eight = samples.map { sample -> UInt8 in
      switch bitDepth {
      case 1: UInt8(sample * 255)
      case 2: UInt8(sample * 85)
      case 4: UInt8(sample * 17)
      case 8: UInt8(sample)
      default: UInt8(sample >> 8)
      }
    }
    switch colorType {
    case 3: return palette[samples[samples.startIndex]]
    case 0, 4: return [eight[0], eight[0], eight[0]]
    default: return Array(eight.prefix(3))
    }
  }

  /// One pixel that can be seen is enough, wherever it is.
  @Test(arguments: [false, true], [(colorType: UInt8(4), bitDepth: UInt8(8)), (4, 16), (6, 8), (6, 16)])
  func anImageOfWhichNothingCanBeSeenIsRefused(
    isInterlaced: Bool, kind: (colorType: UInt8, bitDepth: UInt8)
  ) throws {
    let builder = PNGBuilder(
      width: 9, height: 10, bitDepth: kind.bitDepth, colorType: kind.colorType, isInterlaced: isInterlaced)
    let channels = kind.colorType == 4 ? 2 : 4
    let opaque = 1 << Int(kind.bitDepth) - 1
    var samples = (0..<90 * channels).map { $0 % channels == channels - 1 ? 0 : opaque - $0 % 200 }
    #expect(throws: DermaFusionError.fullyTransparent(.png)) {
      try ImageDecoder.decode(builder.file(samples))
    }
    for pixel in [0, 44, 89] {
      samples[pixel * channels + channels - 1] = opaque
      #expect(throws: Never.self) { try ImageDecoder.decode(builder.file(samples)) }
      samples[pixel * channels + channels - 1] = 0
    }
  }

  /// By the colours that are used, not by those that the palette has.
  @Test(arguments: [false, true]) func aPaletteMayBeTransparentToo(isInterlaced: Bool) throws {
    var builder = PNGBuilder(width: 5, height: 3, bitDepth: 2, colorType: 3, isInterlaced: isInterlaced)
    builder.before = [
      PNGBuilder.chunk("PLTE", Array(Self.palette.prefix(4).joined())), PNGBuilder.chunk("tRNS", [0, 1, 0]),
    ]
    var samples = (0..<15).map { $0 % 2 * 2 }
    let error = DermaFusionError.fullyTransparent(.png)
    #expect(throws: error) { try ImageDecoder.decode(builder.file(samples)) }
    #expect("\(error)" == "the PNG is fully transparent: every pixel's alpha is 0")
    // The fourth colour has no alpha in the file, which makes it opaque.
    for color in [1, 3] {
      samples[14] = color
      #expect(throws: Never.self) { try ImageDecoder.decode(builder.file(samples)) }
    }
  }

  @Test(arguments: [false, true], [(1, 1), (5, 3), (9, 10), (17, 8)])
  func decodesEveryKind(isInterlaced: Bool, size: (width: Int, height: Int)) throws {
    for kind in Self.kinds {
      let seed = UInt64(kind.colorType) << 8 | UInt64(kind.bitDepth)
      var generator = SeededGenerator(seed: seed)
      let samples = (0..<size.width * size.height * kind.channels).map { _ in
        Int.random(in: 0..<1 << Int(kind.bitDepth), using: &generator)
      }
      var builder = PNGBuilder(
        width: size.width, height: size.height, bitDepth: kind.bitDepth, colorType: kind.colorType,
        isInterlaced: isInterlaced)
      if kind.colorType == 3 {
        let colors = Self.palette.prefix(1 << Int(kind.bitDepth))
        builder.before = [
          PNGBuilder.chunk("PLTE", Array(colors.joined())),
          PNGBuilder.chunk("tRNS", colors.map { $0[1] | 1 }),
        ]
      }
      let expected = stride(from: 0, to: samples.count, by: kind.channels).flatMap {
        Self.expectedPixel(
          colorType: kind.colorType, bitDepth: kind.bitDepth, samples[$0..<$0 + kind.channels])
      }
      expectEqual(
        try ImageDecoder.decode(builder.file(samples)),
        PixelImage(width: size.width, height: size.height, pixels: expected),
        "colour type \(kind.colorType), depth \(kind.bitDepth), \(size), interlaced \(isInterlaced), seed \(seed)"
      )
    }
  }

  private static let samples = [10, 20, 30, 40, 50, 60]
  private static let pixels: [UInt8] = [10, 20, 30, 40, 50, 60]
  private static let plain = PNGBuilder(width: 2, height: 1, bitDepth: 8, colorType: 2)

  @Test func appliesNeitherGammaNorTransparencyNorProfiles() throws {
    var builder = Self.plain
    builder.before = [
      PNGBuilder.chunk("gAMA", [0, 0, 0x55, 0xF0]), PNGBuilder.chunk("sBIT", [5, 5, 5]),
      PNGBuilder.chunk("iCCP", Array("profile\0\0not a profile".utf8)),
      PNGBuilder.chunk("tRNS", [0, 10, 0, 20, 0, 30]), PNGBuilder.chunk("bKGD", [0, 9, 0, 9, 0, 9]),
    ]
    #expect(try ImageDecoder.decode(builder.file(Self.samples)).pixels == Self.pixels)
  }

  @Test func skipsPrivateChunksOfAnySize() throws {
    var builder = Self.plain
    // 9,000,000 bytes are more than libpng takes by default. The checksum is not computed, as nobody looks at it.
    builder.before = [
      [0x00, 0x89, 0x54, 0x40] + Array("prVt".utf8) + [UInt8](repeating: 1, count: 9_000_000 + 4)
    ]
    builder.after = [PNGBuilder.chunk("prVt", [1])]
    #expect(try ImageDecoder.decode(builder.file(Self.samples)).pixels == Self.pixels)
  }

  @Test func showsColorsOutsideThePaletteAsBlack() throws {
    var builder = PNGBuilder(width: 3, height: 1, bitDepth: 8, colorType: 3)
    builder.before = [PNGBuilder.chunk("PLTE", [1, 2, 3, 4, 5, 6])]
    #expect(try ImageDecoder.decode(builder.file([1, 7, 255])).pixels == [4, 5, 6, 0, 0, 0, 0, 0, 0])
  }

  @Test func refusesAFileCutAnywhereBeforeItsEnd() {
    let whole = Self.plain.file(Self.samples)
    for count in 4..<whole.count - 12 {
      expectRefusal(of: Array(whole[..<count]), .truncated(.png, reason: "the data end early"))
    }
  }

  @Test func acceptsAMissingEndAsPillowDoes() throws {
    let whole = Self.plain.file(Self.samples)
    #expect(try ImageDecoder.decode(Array(whole.dropLast(12))).pixels == Self.pixels)
    #expect(try ImageDecoder.decode(whole + [1, 2, 3]).pixels == Self.pixels)
  }

  @Test func refusesBytesThatDoNotMatchTheirChecksum() throws {
    let whole = Self.plain.file(Self.samples)
    let header = whole.replacing(at: 16, count: 4, with: [0, 0, 0, 1])
    expectRefusal(of: header, .corrupt(.png, reason: "IHDR: CRC error"))
    let data = try #require(whole.firstIndex(of: Array("IDAT".utf8)))
    expectRefusal(
      of: whole.replacing(at: data + 12, count: 1, with: [99]),
      .corrupt(.png, reason: "IDAT: incorrect data check"))
    let checksum = try #require(whole.firstIndex(of: Array("IEND".utf8))) - 8
    expectRefusal(
      of: whole.replacing(at: checksum, count: 1, with: [~whole[checksum]]),
      .corrupt(.png, reason: "IDAT: CRC error"))
  }

  @Test func refusesImageDataWithAnotherChunkBetween() throws {
    let whole = Self.plain.file(Self.samples)
    let start = try #require(whole.firstIndex(of: Array("IDAT".utf8))) - 4
    let end = try #require(whole.firstIndex(of: Array("IEND".utf8))) - 4
    let data = Array(whole[start + 8..<end - 4])
    let halves = [data[..<7], data[7...]].map { PNGBuilder.chunk("IDAT", Array($0)) }
    for (between, isAllowed) in [([], true), (PNGBuilder.chunk("teSt", [1, 2]), false)] {
      let file = whole.replacing(at: start, count: end - start, with: halves[0] + between + halves[1])
      if isAllowed {
        #expect(try ImageDecoder.decode(file).pixels == Self.pixels)
      } else {
        expectRefusal(of: file, .corrupt(.png, reason: "the image data are not in one piece"))
      }
    }
    // Between the last of them and the end of the file other chunks have their place.
    var builder = Self.plain
    builder.after = [PNGBuilder.chunk("teSt", [1, 2])]
    #expect(try ImageDecoder.decode(builder.file(Self.samples)).pixels == Self.pixels)
  }

  @Test func refusesImpossibleHeaders() {
    var builder = Self.plain
    builder.bitDepth = 4
    expectRefusal(
      of: builder.file(imageData: []), .corrupt(.png, reason: "Invalid IHDR data"))
    builder = PNGBuilder(width: 2, height: 1, bitDepth: 2, colorType: 3)
    expectRefusal(
      of: builder.file([0, 1]), .corrupt(.png, reason: "IDAT: Missing PLTE before IDAT"))
    builder = Self.plain
    builder.before = [PNGBuilder.chunk("CRIT", [])]
    expectRefusal(
      of: builder.file(Self.samples), .corrupt(.png, reason: "CRIT: unhandled critical chunk"))
  }

  @Test func refusesMoreImageThanTheDataHold() {
    var builder = Self.plain
    builder.height = 2
    expectRefusal(
      of: builder.file(imageData: PNGBuilder.stored([0, 1, 2, 3, 4, 5, 6])),
      .corrupt(.png, reason: "Not enough image data"))
  }

  @Test func refusesBombsBeforeAllocating() {
    var bomb = PNGBuilder(width: 20000, height: 8000, bitDepth: 8, colorType: 2).file(imageData: [])
    expectRefusal(
      of: bomb, .truncated(.png, reason: "\(bomb.count) bytes cannot hold 20000x8000 pixels"))
    bomb = PNGBuilder(width: 20000, height: 9000, bitDepth: 1, colorType: 0).file(imageData: [])
    expectRefusal(of: bomb, .tooManyPixels(width: 20000, height: 9000, limit: 178_956_970))
    bomb = PNGBuilder(width: 0x7FFF_FFFF, height: 0x7FFF_FFFF, bitDepth: 16, colorType: 6).file(imageData: [])
    expectRefusal(
      of: bomb, .tooManyPixels(width: 0x7FFF_FFFF, height: 0x7FFF_FFFF, limit: 178_956_970))
  }
}
