import TestImages
import Testing

@testable import ImagePipeline

@Suite struct ImageResizerTests {
  /// Pillow's definition written out for one value, with nothing shared with the code under test.
  private static func resampled(_ line: [Int], to outputSize: Int, at output: Int) -> Int {
    let scale = Double(line.count) / Double(outputSize)
    let radius = scale < 1 ? 1 : scale
    let center = (Double(output) + 0.5) * scale
    var first = Int(center - radius + 0.5)
    if first < 0 { first = 0 }
    var last = Int(center + radius + 0.5)
    if last > line.count { last = line.count }
    let triangle = (first..<last).map { input in
      let distance = abs((Double(input) - center + 0.5) * (1 / radius))
      return distance < 1 ? 1 - distance : 0
    }
    let sum = triangle.reduce(0, +)
    var total = 1 << 21
    for (offset, weight) in triangle.enumerated() {
      total += line[first + offset] * Int(0.5 + weight / sum * 4_194_304)
    }
    return min(max(total >> 22, 0), 255)
  }

  private static func horizontally(_ image: [[[Int]]], to width: Int) -> [[[Int]]] {
    if image[0].count == width { return image }
    return image.map { row in
      (0..<width).map { x in (0..<3).map { channel in resampled(row.map { $0[channel] }, to: width, at: x) } }
    }
  }

  private static func transposed(_ image: [[[Int]]]) -> [[[Int]]] {
    image[0].indices.map { x in image.map { $0[x] } }
  }

  private static func reference(_ image: PixelImage, width: Int, height: Int) -> PixelImage {
    var rows = (0..<image.height).map { y in
      (0..<image.width).map { x in
        (0..<3).map { Int(image.pixels[(y * image.width + x) * 3 + $0]) }
      }
    }
    let isVerticalFirst = height < image.height && image.height - height > 2 * (image.width - width)
    if !isVerticalFirst { rows = horizontally(rows, to: width) }
    rows = transposed(horizontally(transposed(rows), to: height))
    if isVerticalFirst { rows = horizontally(rows, to: width) }
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
