import TestImages
import Testing

@testable import ImagePipeline

@Suite struct ImageResizerTests {
  /// Pillow's definition written out for one value, with nothing shared with the code under test but the shape of a cubic.
  private static func resampled(
    _ line: [Int], to outputSize: Int, at output: Int, _ interpolation: Interpolation
  ) -> Int {
    let scale = Double(line.count) / Double(outputSize)
    let stretch = scale < 1 ? 1 : scale
    let radius = interpolation == .bilinear ? stretch : stretch * interpolation.support
    let center = (Double(output) + 0.5) * scale
    var first = Int(center - radius + 0.5)
    if first < 0 { first = 0 }
    var last = Int(center + radius + 0.5)
    if last > line.count { last = line.count }
    let window = (first..<last).map { input in
      let distance = abs((Double(input) - center + 0.5) * (1 / stretch))
      return interpolation == .bilinear
        ? (distance < 1 ? 1 - distance : 0) : interpolation.weight(at: distance)
    }
    let sum = window.reduce(0, +)
    var total = 1 << 21
    for (offset, weight) in window.enumerated() {
      total += line[first + offset] * Int((weight / sum * 4_194_304).rounded(.toNearestOrAwayFromZero))
    }
    return min(max(total >> 22, 0), 255)
  }

  private static func horizontally(
    _ image: [[[Int]]], to width: Int, _ interpolation: Interpolation
  ) -> [[[Int]]] {
    if image[0].count == width { return image }
    return image.map { row in
      let channels = (0..<3).map { channel in row.map { $0[channel] } }
      return (0..<width).map { x in channels.map { resampled($0, to: width, at: x, interpolation) } }
    }
  }

  private static func transposed(_ image: [[[Int]]]) -> [[[Int]]] {
    image[0].indices.map { x in image.map { $0[x] } }
  }

  private static func reference(
    _ image: PixelImage, width: Int, height: Int, _ interpolation: Interpolation = .bilinear
  ) -> PixelImage {
    var rows = (0..<image.height).map { y in
      (0..<image.width).map { x in
        (0..<3).map { Int(image.pixels[(y * image.width + x) * 3 + $0]) }
      }
    }
    let isVerticalFirst = height < image.height && image.height - height > 2 * (image.width - width)
    if !isVerticalFirst { rows = horizontally(rows, to: width, interpolation) }
    rows = transposed(horizontally(transposed(rows), to: height, interpolation))
    if isVerticalFirst { rows = horizontally(rows, to: width, interpolation) }
    return PixelImage(width: width, height: height, pixels: rows.joined().joined().map(UInt8.init))
  }

  @Test(arguments: [
    (7, 5, 3, 2), (5, 7, 7, 5), (1, 1, 4, 3), (33, 33, 38, 38), (61, 47, 38, 38), (2, 250, 2, 40),
    (2, 250, 3, 40), (2, 250, 3, 300), (97, 3, 11, 3), (3, 97, 3, 11), (16, 16, 16, 9), (17, 31, 17, 31),
    (90, 4, 1, 1),
  ])
  func equalsPillowsDefinition(inputWidth: Int, inputHeight: Int, width: Int, height: Int) {
    let seed = UInt64(inputWidth * 1000 + inputHeight)
    let image = PixelImage.noise(width: inputWidth, height: inputHeight, seed: seed)
    let whole = ImageResizer.Region(left: 0, top: 0, width: inputWidth, height: inputHeight)
    expectEqual(
      ImageResizer.resize(image, region: whole, width: width, height: height),
      Self.reference(image, width: width, height: height),
      "\(inputWidth)x\(inputHeight) to \(width)x\(height), seed \(seed)")
  }

  /// At the edge of an image that grows, a weight may be past 1: the first pixel counts 1.07, the second -0.07.
  @Test(arguments: [Interpolation.bilinear, .bicubic, .lanczos], [(19, 23), (23, 25), (50, 51), (60, 19)])
  func weightsPastOneAndBelowZeroAreExact(interpolation: Interpolation, sides: (Int, Int)) {
    let seed = UInt64(sides.0 * 100 + sides.1)
    // Black and white only: sums far below 0 and above 255.
    let noise = PixelImage.noise(width: sides.0, height: sides.0, seed: seed)
    let image = PixelImage(
      width: sides.0, height: sides.0, pixels: noise.pixels.map { $0 < 128 ? 0 : 255 })
    let whole = ImageResizer.Region(left: 0, top: 0, width: sides.0, height: sides.0)
    expectEqual(
      ImageResizer.resize(
        image, region: whole, width: sides.1, height: sides.1, interpolation: interpolation),
      Self.reference(image, width: sides.1, height: sides.1, interpolation),
      "\(interpolation) \(sides), seed \(seed)")
  }

  @Test func roundsBetweenThePasses() {
    // Red: the rows' means 0.5 and 0 become 1 and 0, and their mean 0.5 becomes 1; in one pass, 0.25 would become 0.
    let image = PixelImage(width: 2, height: 2, pixels: [1, 1, 9, 0, 1, 9] + [0, 0, 9, 0, 1, 9])
    let whole = ImageResizer.Region(left: 0, top: 0, width: 2, height: 2)
    let small = ImageResizer.resize(image, region: whole, width: 1, height: 1)
    #expect(small.pixels == [1, 1, 9])
  }

  @Test func keepsASolidColorAtEverySize() {
    for side in [1, 2, 3, 32, 57, 200] {
      let image = PixelImage.solid(width: side, height: side, 255, 0, 131)
      let whole = ImageResizer.Region(left: 0, top: 0, width: side, height: side)
      expectEqual(
        ImageResizer.resize(image, region: whole, width: 64, height: 64),
        .solid(width: 64, height: 64, 255, 0, 131),
        "side \(side)")
    }
  }

  @Test func resizesARegionAsIfItHadBeenCutOut() {
    let image = PixelImage.noise(width: 31, height: 22, seed: 4)
    let region = ImageResizer.Region(left: 5, top: 3, width: 17, height: 19)
    let cut = ImageResizer.resize(image, region: region, width: 17, height: 19)
    for y in 0..<19 {
      let start = ((y + 3) * 31 + 5) * 3
      #expect(Array(cut.pixels[y * 51..<y * 51 + 51]) == Array(image.pixels[start..<start + 51]), "row \(y)")
    }
    let whole = ImageResizer.Region(left: 0, top: 0, width: 17, height: 19)
    expectEqual(
      ImageResizer.resize(image, region: region, width: 12, height: 40),
      ImageResizer.resize(cut, region: whole, width: 12, height: 40))
  }
}
