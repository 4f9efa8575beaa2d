import DermaFusion
import ImagePipeline
import ReferenceLayers
import SystemModule
import Testing

@testable import ImageCodecs

/// Ways to store pixels in DICOM files beside plain bytes.
@Suite struct DICOMPixelTests {
  private let files = DICOMDecoderTests()

  private func element(_ tag: Int, _ type: String, _ value: [UInt8]) -> [UInt8] {
    DICOMDecoderTests.element(tag, type, value)
  }

  private func words(_ values: [Int]) -> [UInt8] { values.flatMap { DICOMDecoderTests.bytes($0, 2) } }

  private func grey(_ levels: [UInt8]) -> [UInt8] { levels.flatMap { [$0, $0, $0] } }

  /// Whatever lies in the other bits, the stored ones count.
  @Test func storedBitsLieWhereTheHighestSays() throws {
    var generator = SeededGenerator(seed: 52)
    for stored in 1...16 {
      for high in stored - 1..<16 {
        let values = (0..<4).map { _ in Int.random(in: 0..<1 << stored, using: &generator) }
        let raw = values.map { value in
          let others = Int.random(in: 0..<65536, using: &generator)
          let mask = (1 << stored - 1) << (high + 1 - stored)
          return value << (high + 1 - stored) | others & ~mask
        }
        let most = 1 << stored - 1
        let levels = values.map {
          stored >= 8 ? UInt8($0 >> (stored - 8)) : UInt8((Double($0) * 255 / Double(most)).rounded())
        }
        let file = files.file(
          interpretation: "MONOCHROME2", samples: 1, bits: 16, stored: stored, high: high, pixels: words(raw))
        #expect(
          try ImageDecoder.decode(file).pixels == grey(levels), "\(stored) bits, the highest \(high), seed 52"
        )
      }
    }
    expectRefusal(
      of: files.file(interpretation: "MONOCHROME2", samples: 1, bits: 16, stored: 12, high: 10),
      .corrupt(.dicom, reason: "12 bits stored in 16 with 10 as the highest"))
  }

  // MARK: - Runs

  /// A frame by annex G: each segment in the runs that are given.
  private func frame(_ segments: [[UInt8]]) -> [UInt8] {
    var starts = [64]
    for segment in segments.dropLast() { starts.append(starts[starts.count - 1] + segment.count) }
    let header = ([segments.count] + starts).flatMap { DICOMDecoderTests.bytes($0, 4) }
    return header + [UInt8](repeating: 0, count: 64 - header.count) + segments.flatMap { $0 }
  }

  private func runs(
    _ segments: [[UInt8]], interpretation: String = "RGB", samples: Int = 3, bits: Int = 8, more: [UInt8] = []
  ) -> [UInt8] {
    files.file(
      syntax: "1.2.840.10008.1.2.5", interpretation: interpretation, samples: samples, bits: bits, more: more,
      encapsulated: DICOMDecoderTests.encapsulated([frame(segments)]))
  }

  @Test func runsAreUnpacked() throws {
    // Four literally; one literally and a run of three; a run that goes on behind the last pixel, after a byte without meaning.
    let file = runs([[3, 1, 2, 3, 4], [0, 9, 254, 7], [128, 250, 200, 0]])
    #expect(try ImageDecoder.decode(file).pixels == [1, 9, 200, 2, 7, 200, 3, 7, 200, 4, 7, 200])
    // The high bytes of 16 bits come first.
    let wide = runs([[3, 10, 20, 30, 40], [253, 99]], interpretation: "MONOCHROME2", samples: 1, bits: 16)
    #expect(try ImageDecoder.decode(wide).pixels == grey([10, 20, 30, 40]))
  }

  @Test func brokenRunsAreNamed() {
    expectRefusal(
      of: runs([[253, 1], [253, 1]]), .corrupt(.dicom, reason: "2 segments of runs where 3 are needed"))
    expectRefusal(
      of: runs([[253, 1], [2, 1, 2], [253, 1]]),
      .truncated(.dicom, reason: "2 values in a segment of runs where 4 are needed"))
    expectRefusal(
      of: files.file(
        syntax: "1.2.840.10008.1.2.5", encapsulated: DICOMDecoderTests.encapsulated([[3, 0, 0, 0, 64, 0]])),
      .truncated(.dicom, reason: "the data end in the header of the runs"))
    var outside = frame([[253, 1], [253, 1], [253, 1]])
    outside[8] = 200
    expectRefusal(
      of: files.file(syntax: "1.2.840.10008.1.2.5", encapsulated: DICOMDecoderTests.encapsulated([outside])),
      .corrupt(.dicom, reason: "a segment of runs from byte 64 to 200"))
  }

  @Test func framesOfRunsAreTakenByTheirNumbers() throws {
    let frames = [frame([[253, 1], [253, 2], [253, 3]]), frame([[253, 4], [253, 5], [253, 6]])]
    let file = files.file(
      syntax: "1.2.840.10008.1.2.5", more: element(0x0028_0008, "IS", Array("2".utf8)),
      encapsulated: DICOMDecoderTests.encapsulated(frames))
    for (frame, pixel) in [(1, [1, 2, 3]), (2, [4, 5, 6])] as [(Int, [UInt8])] {
      let image = try ImageDecoder.decode(file, frame: frame, part: .whole).pixels
      #expect(image.pixels == pixel + pixel + pixel + pixel)
    }
  }

  // MARK: - Palettes

  private func palette(_ count: Int, first: Int = 0, bits: Int, _ channels: [[UInt8]]) -> [UInt8] {
    (0x0028_1101...0x0028_1103).flatMap { element($0, "US", words([count, first, bits])) }
      + zip(0x0028_1201...0x0028_1203, channels).flatMap { element($0, "OB", $1) }
  }

  @Test func indicesAreColours() throws {
    let channels: [[UInt8]] = [[1, 2, 3], [10, 20, 30], [100, 150, 200]]
    // Below the first value is the first colour, above the last value the last.
    func decoded(_ more: [UInt8], _ pixels: [UInt8] = [4, 5, 6, 99]) throws -> [UInt8] {
      try ImageDecoder.decode(
        files.file(interpretation: "PALETTE COLOR", samples: 1, more: more, pixels: pixels)
      ).pixels
    }
    let colours: [UInt8] = [1, 10, 100, 1, 10, 100, 2, 20, 150, 3, 30, 200]
    #expect(try decoded(palette(3, first: 5, bits: 8, channels)) == colours)
    // The high byte of 16 bits; 8 bits may lie in 16.
    let high: [[UInt8]] = channels.map { channel in channel.flatMap { [77, $0] } }
    #expect(try decoded(palette(3, first: 5, bits: 16, high)) == colours)
    let low: [[UInt8]] = channels.map { channel in channel.flatMap { [$0, 0] } }
    #expect(try decoded(palette(3, first: 5, bits: 8, low)) == colours)
    // In runs too.
    let file = runs(
      [[3, 4, 5, 6, 99]], interpretation: "PALETTE COLOR", samples: 1,
      more: palette(3, first: 5, bits: 8, channels))
    #expect(try ImageDecoder.decode(file).pixels == colours)
  }

  @Test func brokenPalettesAreNamed() {
    func refused(_ more: [UInt8], _ error: DermaFusionError) {
      expectRefusal(
        of: files.file(interpretation: "PALETTE COLOR", samples: 1, more: more, pixels: [0, 1, 2, 3]), error)
    }
    let channels = [[UInt8]](repeating: [1, 2, 3], count: 3)
    refused([], .corrupt(.dicom, reason: "the palette is missing"))
    refused(
      palette(9, bits: 8, channels), .corrupt(.dicom, reason: "a palette of 4 bytes for 9 colours"))
    refused(
      palette(0, bits: 16, channels), .corrupt(.dicom, reason: "a palette of 4 bytes for 65536 colours"))
    refused(
      element(0x0028_1221, "OB", [0, 0]), .unsupportedVariant(.dicom, reason: "a palette in segments"))
  }

  // MARK: - Pixels that are not square

  @Test(
    arguments: [
      (0x0028_0034, "2\\1", 40, 80), (0x0028_0034, "1\\2", 80, 40), (0x0028_0034, "4 \\ 3", 40, 53),
      (0x0028_0030, "0.3\\0.2", 40, 60), (0x0018_1164, "0.10\\0.25", 100, 40),
      (0x0028_0030, "0.2\\0.2001", 40, 40),
      (0x0028_0034, "1\\1", 40, 40), (0x0028_0034, "0\\1", 40, 40), (0x0028_0034, "x\\1", 40, 40),
      (0x0028_0030, "nan\\1", 40, 40), (0x0028_0030, "2", 40, 40),
    ] as [(Int, String, Int, Int)])
  func shapesAreRight(tag: Int, value: String, width: Int, height: Int) throws {
    let side = 40
    var file = [UInt8](repeating: 0, count: 128) + Array("DICM".utf8)
    file += element(0x0002_0010, "UI", Array("1.2.840.10008.1.2.1".utf8) + [0])
    for (tag, value) in [
      (0x0028_0002, 3), (0x0028_0010, side), (0x0028_0011, side), (0x0028_0100, 8), (0x0028_0101, 8),
    ] {
      file += element(tag, "US", words([value]))
    }
    file += element(0x0028_0004, "CS", Array("RGB".utf8)) + element(tag, "DS", Array(value.utf8))
    let pixels = (0..<side * side * 3).map { UInt8(truncatingIfNeeded: $0 * 37) }
    let image = try ImageDecoder.decode(file + element(0x7FE0_0010, "OB", pixels), part: .square(size: 32))
    #expect((image.width, image.height) == (width, height))
    let isSquare = width == side && height == side
    #expect(image.isResampled == !isSquare)
    let stored = PixelImage(width: side, height: side) { $0.update(from: pixels, count: pixels.count) }
    expectEqual(image.pixels, isSquare ? stored : stored.resized(width: width, height: height))
    let preprocessed = try Preprocessor(.standard)(image)
    #expect(preprocessed.warnings.contains(.pixelsResampled) == !isSquare)
  }

  // MARK: - Time

  /// A million regions are walked over in the time that is allowed, or not at all.
  @Test func regionsObeyTheLimitOfTime() throws {
    func item(_ region: String) -> [UInt8] {
      let inner = element(0x0008_0104, "LO", Array(region.utf8))
      return DICOMDecoderTests.bytes(0xFFFE, 2) + DICOMDecoderTests.bytes(0xE000, 2)
        + DICOMDecoderTests.bytes(inner.count, 4) + inner
    }
    func sequence(_ items: [[UInt8]]) -> [UInt8] {
      let value = items.flatMap { $0 }
      return DICOMDecoderTests.bytes(0x0008, 2) + DICOMDecoderTests.bytes(0x2218, 2) + Array("SQ".utf8) + [
        0, 0,
      ]
        + DICOMDecoderTests.bytes(value.count, 4) + value
    }
    let file = files.file(more: sequence((0..<20_000).map { _ in item("Skin of back") }))
    #expect(throws: DermaFusionError.tooSlow(.dicom, seconds: 0)) {
      try ImageDecoder.decode(file, part: .whole, limits: DecodingLimits(seconds: 0))
    }
    // The same region many times is one; of many others nobody knows which counts.
    #expect(try ImageDecoder.decode(file, part: .whole).patient?.site == .back)
    let others = files.file(more: sequence((0..<200).map { item("Region \($0)") } + [item("Skin of back")]))
    #expect(try ImageDecoder.decode(others, part: .whole).patient?.site == nil)
  }
}
