import ReferenceLayers
import SystemModule
import Testing

@testable import ImagePipeline

@Suite struct PixelImageLayoutTests {
  /// Rows of pixels in a layout, `slack` bytes of 255 after each row but the last.
  private func memory(_ image: PixelImage, _ layout: PixelImage.Layout, slack: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    for row in 0..<image.height {
      for column in 0..<image.width {
        let place = (row * image.width + column) * 3
        let (red, green, blue) = (image.pixels[place], image.pixels[place + 1], image.pixels[place + 2])
        switch layout {
        case .rgb: bytes += [red, green, blue]
        case .rgba: bytes += [red, green, blue, 7]
        case .bgra: bytes += [blue, green, red, 7]
        }
      }
      if row + 1 < image.height { bytes += [UInt8](repeating: 255, count: slack) }
    }
    return bytes
  }

  @Test(arguments: PixelImage.Layout.allCases, [0, 1, 13])
  func everyLayoutGivesTheSamePixels(layout: PixelImage.Layout, slack: Int) throws {
    for (width, height) in [(1, 1), (5, 3), (2, 7)] {
      var generator = SeededGenerator(seed: UInt64(width * 10 + height))
      let pixels = generator.floats(width * height * 3, in: 0...255).map { UInt8($0) }
      let image = PixelImage(width: width, height: height, pixels: pixels)
      let bytes = memory(image, layout, slack: slack)
      let copy = try bytes.withUnsafeBytes { (bytes) throws(DermaFusionError) in
        try PixelImage(
          copying: bytes, width: width, height: height, bytesPerRow: width * layout.bytesPerPixel + slack,
          layout: layout)
      }
      #expect(copy == image, "\(width)x\(height), \(layout), slack \(slack)")
    }
  }

  @Test(arguments: [
    (23, 2, 3, 8), (24, 2, 3, 7), (24, 0, 3, 8), (24, 2, 0, 8), (24, -2, 3, 8), (24, 2, 3, -8),
    (24, 2, 3, Int.max), (0, 1, 1, 4),
  ])
  func memoryThatIsTooSmallIsRefused(count: Int, width: Int, height: Int, bytesPerRow: Int) {
    #expect(
      throws: DermaFusionError.invalidImage(
        "\(count) bytes do not hold \(width)x\(height) pixels in rows of \(bytesPerRow) bytes")
    ) {
      try [UInt8](repeating: 0, count: count).withUnsafeBytes { (bytes) throws(DermaFusionError) in
        try PixelImage(
          copying: bytes, width: width, height: height, bytesPerRow: bytesPerRow, layout: .rgba)
      }
    }
  }

  @Test func noSizeOverflows() {
    #expect(throws: DermaFusionError.self) {
      try PixelImage(
        copying: UnsafeRawBufferPointer(start: nil, count: 0), width: Int.max, height: Int.max,
        bytesPerRow: Int.max, layout: .bgra)
    }
  }
}
