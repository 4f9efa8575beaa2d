import ImagePipeline

/// An image to draw on. What lies outside is left out.
struct Canvas {
  let width: Int
  let height: Int
  /// RGB, `[height, width, 3]`.
  private var pixels: [UInt8]

  typealias Color = (red: UInt8, green: UInt8, blue: UInt8)
  static let white: Color = (255, 255, 255)
  static let black: Color = (0, 0, 0)

  init(width: Int, height: Int) {
    self.width = width
    self.height = height
    pixels = [UInt8](repeating: 255, count: width * height * 3)
  }

  var image: PixelImage { PixelImage(width: width, height: height, pixels: pixels) }

  mutating func fill(x: Int, y: Int, width: Int, height: Int, _ color: Color) {
    let columns = max(x, 0)..<max(min(x + width, self.width), max(x, 0))
    for row in max(y, 0)..<max(min(y + height, self.height), max(y, 0)) {
      for column in columns {
        let place = (row * self.width + column) * 3
        pixels[place] = color.red
        pixels[place + 1] = color.green
        pixels[place + 2] = color.blue
      }
    }
  }

  /// - Precondition: The image fits.
  mutating func draw(_ image: PixelImage, x: Int, y: Int) {
    precondition(
      x >= 0 && y >= 0 && x + image.width <= width && y + image.height <= height,
      "\(image.width)x\(image.height) at \(x), \(y) on \(width)x\(height)")
    for row in 0..<image.height {
      let place = ((y + row) * width + x) * 3
      let source = row * image.width * 3
      pixels.replaceSubrange(
        place..<place + image.width * 3, with: image.pixels[source..<source + image.width * 3])
    }
  }

  /// - Parameter scale: Canvas pixels for each of the typeface's.
  mutating func draw(_ text: String, x: Int, y: Int, scale: Int, _ color: Color = Canvas.black) {
    for (index, character) in text.utf8.enumerated() {
      for row in 0..<BitmapFont.glyphHeight {
        for column in 0..<BitmapFont.glyphWidth where BitmapFont.hasInk(character, x: column, y: row) {
          fill(
            x: x + (index * BitmapFont.advance + column) * scale, y: y + row * scale, width: scale,
            height: scale, color)
        }
      }
    }
  }
}
