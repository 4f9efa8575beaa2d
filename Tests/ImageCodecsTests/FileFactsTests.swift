import ImagePipeline
import SystemModule
import Testing

@testable import ImageCodecs

/// The facts on a file that a result must have: that it holds several pictures, and that its colours are not sRGB's.
@Suite struct FileFactsTests {
  /// Without a library, as its file's structure says.
  private func details(_ bytes: [UInt8], frame: Int? = nil) throws -> [ClassificationWarning: String] {
    let format = try bytes.withUnsafeBytes { (bytes) throws(DermaFusionError) in try ImageFormat.of(bytes) }
    if case .library(let library) = format.decoding {
      return try bytes.withUnsafeBytes { (bytes) throws(DermaFusionError) in
        try library.header(bytes).facts.details
      }
    }
    return try ImageDecoder.decode(bytes, frame: frame, part: .whole).details
  }

  @Test(arguments: FormatFixture.all("png", "jpeg", "webp", "tiff", "heic", "avif", "bmp", "dicom"))
  func filesSayWhatAReaderMustKnow(_ fixture: FormatFixture) throws {
    let expected = fixture.details ?? [:]
    let found = try details(try fixture.bytes(), frame: fixture.frame)
    #expect(Dictionary(uniqueKeysWithValues: found.map { ($0.rawValue, $1) }) == expected)
  }

  @Test(arguments: FormatFixture.all("png", "jpeg"))
  func pixelsAreThoseOfPillowWhateverTheProfileIs(_ fixture: FormatFixture) throws {
    try fixture.expectDecoded()
  }

  private func png(_ before: [[UInt8]], colorType: UInt8 = 2) -> [UInt8] {
    let builder = PNGBuilder(width: 1, height: 1, bitDepth: 8, colorType: colorType, before: before)
    return builder.file([Int](repeating: 9, count: colorType == 2 ? 3 : 1))
  }

  private func cHRM(_ values: [Double]) -> [UInt8] {
    let numbers = values.map { UInt32(($0 * 100_000).rounded()) }
    return PNGBuilder.chunk(
      "cHRM", numbers.flatMap { value in [24, 16, 8, 0].map { UInt8(value >> $0 & 0xFF) } })
  }

  /// The strongest chunk counts: cICP, then iCCP, then sRGB, then cHRM.
  @Test func chunksOfAPNGGoInTheirOrder() throws {
    let p3 = cHRM([0.3127, 0.3290, 0.680, 0.320, 0.265, 0.690, 0.150, 0.060])
    let srgb = cHRM([0.31270, 0.32900, 0.64, 0.33, 0.30, 0.60, 0.15, 0.06])
    // As programs that convert twice write it, and for the white D50.
    let rounded = cHRM([0.31269, 0.32899, 0.63999, 0.33001, 0.3, 0.6, 0.15, 0.05999])
    let d50 = cHRM([0.3457, 0.3585, 0.6484, 0.3309, 0.3212, 0.5978, 0.1559, 0.0660])
    let sRGB = PNGBuilder.chunk("sRGB", [0])
    func cicp(_ primaries: UInt8) -> [UInt8] { PNGBuilder.chunk("cICP", [primaries, 13, 0, 1]) }
    for (chunks, name) in [
      ([], nil), ([p3], "Display P3"), ([srgb], nil), ([rounded], nil), ([d50], nil), ([sRGB, p3], nil),
      ([cicp(1), p3], nil), ([cicp(12), sRGB], "Display P3"), ([cicp(9)], "BT.2020"), ([cicp(2)], nil),
      ([cHRM([0.3127, 0.3290, 0.7, 0.3, 0.2, 0.7, 0.1, 0.1])], "of its own (cHRM)"),
      ([cHRM([0.3127, 0.3290, 0.64, 0.33, 0.64, 0.33, 0.15, 0.06])], nil),
      ([cHRM([0, 0, 0, 0, 0, 0, 0, 0])], nil), ([PNGBuilder.chunk("cHRM", [1, 2])], nil),
      ([PNGBuilder.chunk("iCCP", Array("x\0\0damaged".utf8)), p3], nil),
    ] as [([[UInt8]], String?)] {
      #expect(try details(png(chunks))[.colorProfile] == name, "\(name ?? "none")")
    }
    // Grey has no primaries.
    #expect(try details(png([p3], colorType: 0)).isEmpty)
  }

  @Test func aPNGSaysHowManyPicturesItHolds() throws {
    func animation(_ count: UInt8) -> [UInt8] { PNGBuilder.chunk("acTL", [0, 0, 0, count, 0, 0, 0, 0]) }
    let frame = PNGBuilder.chunk("fcTL", [UInt8](repeating: 0, count: 26))
    #expect(try details(png([animation(1), frame])).isEmpty)
    #expect(try details(png([animation(2), frame]))[.severalPictures] == "2")
    #expect(try details(png([animation(2)]))[.severalPictures] == "3")
    // As in Pillow, which takes such a file for a picture.
    #expect(try details(png([animation(0), frame])).isEmpty)
    #expect(try details(png([PNGBuilder.chunk("acTL", [0x81, 0, 0, 0, 0, 0, 0, 0]), frame])).isEmpty)
  }

  @Test func reducedImagesAndMasksOfATIFFAreNoPictures() throws {
    typealias Page = TIFFBuilder.Page
    for (pages, count) in [
      ([Page(), Page(tags: [254: 1]), Page(tags: [254: 4]), Page(tags: [255: 2])], nil),
      ([Page(tags: [254: 1]), Page(), Page(tags: [254: 2])], "2"),
      ([Page](repeating: Page(side: 1), count: 256), "256"),
      ([Page](repeating: Page(side: 1), count: 257), "256+"),
    ] as [([Page], String?)] {
      #expect(try details(TIFFBuilder().file(pages))[.severalPictures] == count, "\(pages.count) pages")
    }
  }

  /// A phone's map of the gain lies behind the photograph like a second picture, and may be as large.
  @Test func mapsOfTheGainAreNoPictures() throws {
    let fixture = try #require(FormatFixture.all("jpeg_pictures.mpo").first)
    let file = try fixture.bytes()
    #expect(try details(file)[.severalPictures] == "3")
    let jfif: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0]
    let second = try #require(file.dropFirst(4).firstRange(of: jfif)?.lowerBound)
    // The second picture's first segment becomes XMP that says what it is.
    let words = Array("hdrgm".utf8)
    let marked = file.replacing(at: second + 3, count: 1, with: [0xE1]).replacing(
      at: second + 6, count: words.count, with: words)
    #expect(try details(marked)[.severalPictures] == "2")
  }

  /// Whatever is cut off or changed in them, files are read without a crash.
  @Test func damagedHeadsAreRead() throws {
    for fixture in FormatFixture.all("png", "jpeg") where fixture.details != nil {
      let whole = try fixture.bytes()
      for count in stride(from: 0, to: min(whole.count, 3000), by: 7) {
        _ = try? details(Array(whole.prefix(count)))
        var changed = whole
        changed[count] ^= 0x5A
        _ = try? details(changed)
      }
    }
    let profile = [UInt8](repeating: 0xFF, count: 400)
    profile.withUnsafeBytes { bytes in
      for count in 0..<400 {
        #expect(ColorProfile.foreignName(icc: UnsafeRawBufferPointer(rebasing: bytes[..<count])) == nil)
      }
    }
  }
}
