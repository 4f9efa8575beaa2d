import Foundation
import ImagePipeline
import SystemModule
import TestImages
import Testing

@testable import ImageCodecs

/// The centre square that is made of a large image while it is decoded is that of the whole image, to the bit.
@Suite struct SquareDecodingTests {
  private static let pictures = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("../../ParityFixtures/images")

  private func bytes(_ name: String) throws -> [UInt8] {
    try [UInt8](Data(contentsOf: Self.pictures.appendingPathComponent(name)))
  }

  private func expectEqualSquares(
    _ bytes: [UInt8], size: Int, _ comment: String, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let configuration = PreprocessingConfiguration(
      size: size, colorConstancy: .none, mean: [0, 0, 0], standardDeviation: [1, 1, 1])
    let preprocessor = Preprocessor(configuration)
    let whole = try ImageDecoder.decode(bytes)
    let square = try ImageDecoder.decode(
      bytes, part: .square(size: size), limits: DecodingLimits(largeByteCount: 0))
    #expect(
      square.pixels.width == size && square.pixels.height == size, "\(comment): the whole was kept",
      sourceLocation: sourceLocation)
    #expect(square.width == whole.width && square.height == whole.height, "\(comment)")
    expectEqual(
      try preprocessor(square).resized, try preprocessor(whole).resized, "\(comment) at \(size)",
      sourceLocation: sourceLocation)
  }

  /// Sides longer and shorter than the image's, odd and even, and equal to it.
  @Test(arguments: 1...8) func ofEveryOrientation(orientation: Int) throws {
    let bytes = try bytes("jpeg_orientation\(orientation).jpg")
    let image = try ImageDecoder.decode(bytes)
    let side = min(image.width, image.height)
    for size in [1, 31, side - 1, side, side + 1, 97, 380] {
      try expectEqualSquares(bytes, size: size, "orientation \(orientation)")
    }
  }

  @Test(arguments: [
    "jpeg_411.jpg", "jpeg_420.jpg", "jpeg_cmyk.jpg", "jpeg_grey.jpg", "jpeg_progressive.jpg",
    "jpeg_restart.jpg",
    "jpeg_ycck_420.jpg", "large_1501x1127.jpg", "odd_457x383.jpg",
  ]) func ofEveryKind(name: String) throws {
    let bytes = try bytes(name)
    for size in [33, 64, 380] { try expectEqualSquares(bytes, size: size, name) }
  }

  /// The orientation before the pixels, behind them, and before them with another one behind, which counts.
  @Test(arguments: 1...8, [false, true])
  func ofPNGsOfEveryOrientation(orientation: Int, isInterlaced: Bool) throws {
    let (width, height) = (41, 37)
    let samples = (0..<width * height * 3).map { $0 * 97 % 241 }
    let (chunk, other) = (exif(orientation), exif(orientation % 8 + 1))
    for (before, after) in [([chunk], []), ([], [chunk]), ([other], [chunk])] {
      let bytes = PNGBuilder(
        width: width, height: height, bitDepth: 8, colorType: 2, isInterlaced: isInterlaced, before: before,
        after: after
      ).file(samples)
      for size in [1, 36, 37, 38, 97] {
        try expectEqualSquares(
          bytes, size: size, "orientation \(orientation), \(before.count) before, \(after.count) after")
      }
    }
  }

  private func exif(_ orientation: Int) -> [UInt8] {
    PNGBuilder.chunk(
      "eXIf",
      Array("II*\0".utf8) + [
        8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, UInt8(orientation), 0, 0, 0, 0, 0, 0, 0,
      ])
  }

  @Test func ofEveryBitmap() throws {
    let folder = Self.pictures.appendingPathComponent("../formats")
    let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      .filter { $0.pathExtension == "bmp" }
    #expect(files.count >= 10)
    for file in files {
      let bytes = try [UInt8](Data(contentsOf: file))
      guard let image = try? ImageDecoder.decode(bytes), min(image.width, image.height) >= 32 else {
        continue
      }
      for size in [31, 97] { try expectEqualSquares(bytes, size: size, file.lastPathComponent) }
    }
  }

  @Test func aPictureOfALargePNG() throws {
    let samples = (0..<60 * 41 * 3).map { $0 * 7 % 251 }
    let bytes = PNGBuilder(width: 60, height: 41, bitDepth: 8, colorType: 2, before: [exif(6)]).file(samples)
    let preprocessor = Preprocessor(
      PreprocessingConfiguration(
        size: 33, colorConstancy: .none, mean: [0, 0, 0], standardDeviation: [1, 1, 1]))
    for side in [20, 2048] {
      let large = try ImageDecoder.decode(
        bytes, part: .picture(size: 33, side: side), limits: DecodingLimits(largeByteCount: 0))
      let whole = try preprocessor(try ImageDecoder.decode(bytes)).picture(side: side)
      expectEqual(try preprocessor(large).picture(side: side), whole, "picture of \(side)")
    }
  }

  @Test func anInterlacedPNGOnItsSideReservesItsSums() throws {
    func reserved(_ orientation: Int) throws -> Int {
      let bytes = PNGBuilder(
        width: 60, height: 41, bitDepth: 8, colorType: 2, isInterlaced: true, before: [exif(orientation)]
      ).file(Array(repeating: 7, count: 60 * 41 * 3))
      // The least limit that it is decoded within.
      var (refused, enough) = (1, 1 << 24)
      while enough - refused > 1 {
        let limit = (refused + enough) / 2
        do {
          _ = try ImageDecoder.decode(
            bytes, part: .square(size: 33), limits: DecodingLimits(memory: limit, largeByteCount: 0))
          enough = limit
        } catch {
          guard error.message.hasPrefix("the PNG is too large: decoding it takes") else { throw error }
          refused = limit
        }
      }
      return enough
    }
    let upright = try reserved(1)
    #expect(try reserved(3) == upright)
    #expect(try reserved(6) == upright + 41 * 33 * 3 * 4)
  }

  @Test func aLargePNGIsRefusedAsASmallOneIs() throws {
    let clear = PNGBuilder(width: 34, height: 33, bitDepth: 8, colorType: 6)
      .file(Array(repeating: 0, count: 34 * 33 * 4))
    let whole = PNGBuilder(width: 34, height: 33, bitDepth: 8, colorType: 2)
      .file((0..<34 * 33 * 3).map { $0 & 0xFF })
    for (bytes, isRefused) in [
      (clear, true), (Array(whole.dropLast(12)), false), (Array(whole.dropLast(40)), true),
    ] {
      for largeByteCount in [0, 1 << 30] {
        let decode = {
          try ImageDecoder.decode(
            bytes, part: .square(size: 33), limits: DecodingLimits(largeByteCount: largeByteCount))
        }
        if isRefused {
          let error = #expect(throws: DermaFusionError.self) { try decode() }
          #expect(error == (try? decodeError(bytes)), "\(bytes.count) bytes, large from \(largeByteCount) on")
        } else {
          #expect(try decode().damage == ImageDamage(reason: "the end chunk is missing", share: 0))
        }
      }
    }
  }

  private func decodeError(_ bytes: [UInt8]) throws -> DermaFusionError? {
    do { _ = try ImageDecoder.decode(bytes) } catch { return error }
    return nil
  }

  @Test func onlyLargeImagesAreNotKeptWhole() throws {
    let bytes = try bytes("jpeg_420.jpg")
    let decoded = try ImageDecoder.decode(bytes, part: .square(size: 380))
    #expect(decoded.isWhole, "a small image was not kept whole")
    expectEqual(decoded.pixels, try ImageDecoder.decode(bytes))
  }
}
