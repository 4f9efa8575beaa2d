import ImagePipeline
import ReferenceLayers

extension PixelImage {
  /// A picture of soft spots on skin, each seed with other ones.
  package static func spots(width: Int, height: Int, seed: UInt64) -> PixelImage {
    var generator = SeededGenerator(seed: seed)
    let spots = (0..<40).map { _ in
      (
        x: Double.random(in: 0...1, using: &generator), y: Double.random(in: 0...1, using: &generator),
        size: Double.random(in: 0.02...0.12, using: &generator),
        depth: Double.random(in: -60...90, using: &generator)
      )
    }
    var pixels: [UInt8] = []
    pixels.reserveCapacity(width * height * 3)
    for row in 0..<height {
      for column in 0..<width {
        let (x, y) = ((Double(column) + 0.5) / Double(width), (Double(row) + 0.5) / Double(height))
        var value = 190.0
        for spot in spots {
          let distance = ((x - spot.x) * (x - spot.x) + (y - spot.y) * (y - spot.y)) / (spot.size * spot.size)
          if distance < 1 { value -= spot.depth * (1 - distance) }
        }
        pixels += [1, 0.75, 0.6].map { UInt8(min(max(value * $0, 0), 255)) }
      }
    }
    return PixelImage(width: width, height: height, pixels: pixels)
  }

  private func mapped(width: Int, height: Int, _ source: (_ x: Int, _ y: Int) -> (x: Int, y: Int))
    -> PixelImage
  {
    var result: [UInt8] = []
    for y in 0..<height {
      for x in 0..<width {
        let place = source(x, y)
        let start = (place.y * self.width + place.x) * 3
        result += pixels[start..<start + 3]
      }
    }
    return PixelImage(width: width, height: height, pixels: result)
  }

  package func cut(left: Int, top: Int, width: Int, height: Int) -> PixelImage {
    mapped(width: width, height: height) { (left + $0, top + $1) }
  }

  /// Turned clockwise by quarters.
  package func turned(quarters: Int) -> PixelImage {
    var image = self
    for _ in 0..<quarters {
      let turned = image
      image = turned.mapped(width: turned.height, height: turned.width) { ($1, turned.height - 1 - $0) }
    }
    return image
  }

  package var mirrored: PixelImage { mapped(width: width, height: height) { (width - 1 - $0, $1) } }

  package func brightened(by factor: Double) -> PixelImage {
    PixelImage(width: width, height: height, pixels: pixels.map { UInt8(min(Double($0) * factor, 255)) })
  }

  /// As a PNM file.
  package var pnm: [UInt8] { Array("P6\n\(width) \(height)\n255\n".utf8) + pixels }
}
