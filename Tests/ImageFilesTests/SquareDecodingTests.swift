import Foundation
import ImagePipeline
import TestImages
import Testing

@testable import ImageFiles

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
    let square = try bytes.withUnsafeBytes { bytes throws(ImageError) in
      try JPEGDecoder.decode(bytes, part: .square(size: size), limits: .standard, largeByteCount: 0)
    }
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

  @Test func onlyLargeImagesAreNotKeptWhole() throws {
    let bytes = try bytes("jpeg_420.jpg")
    let decoded = try ImageDecoder.decode(bytes, part: .square(size: 380))
    #expect(decoded.isWhole, "a small image was not kept whole")
    expectEqual(decoded.pixels, try ImageDecoder.decode(bytes))
  }
}
