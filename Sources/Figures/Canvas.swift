import ImagePipeline

/// An image to draw on. What lies outside is left out.
struct Canvas {
  let width: Int
  let height: Int
  /// RGB, `[height, width, 3]`.
  private var pixels: [UInt8]
  /// The bytes that were written, in order.
  private(set) var texts: [PlacedText] = []

  init(width: Int, height: Int) {
    self.width = width
    self.height = height
    pixels = [UInt8](repeating: 255, count: width * height * 3)
  }

  var image: PixelImage { PixelImage(width: width, height: height, pixels: pixels) }

  mutating func fill(x: Int, y: Int, width: Int, height: Int, _ color: FigureColor) {
    let columns = max(x, 0)..<max(min(x + width, self.width), max(x, 0))
    for row in max(y, 0)..<max(min(y + height, self.height), max(y, 0)) {
      for column in columns { set(row * self.width + column, color) }
    }
  }

  /// A frame around a rectangle, outside of it.
  mutating func frame(x: Int, y: Int, width: Int, height: Int, thickness: Int, _ color: FigureColor) {
    let (outerWidth, outerHeight) = (width + 2 * thickness, height + 2 * thickness)
    fill(x: x - thickness, y: y - thickness, width: outerWidth, height: thickness, color)
    fill(x: x - thickness, y: y + height, width: outerWidth, height: thickness, color)
    fill(x: x - thickness, y: y - thickness, width: thickness, height: outerHeight, color)
    fill(x: x + width, y: y - thickness, width: thickness, height: outerHeight, color)
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

  /// A line of text that begins at `x` and stands on `baseline`; its size is in pixels an em.
  mutating func draw(
    _ text: String, x: Float, baseline: Float, size: Float, weight: Typeface.Weight = .regular,
    _ color: FigureColor = .ink
  ) {
    let (left, top) = (x.rounded(.down) - 1, (baseline - size).rounded(.down) - 1)
    var coverage = Coverage(
      width: Int(Typeface.width(of: text, size: size, weight: weight)) + 4, height: Int(size * 1.4) + 3)
    coverage.add(text, origin: [x - left, baseline - top], size: size, weight: weight)
    blend(coverage, x: Int(left), y: Int(top), color)
    texts.append(
      PlacedText(
        text: text, x: x, y: baseline - size * Typeface.ascent / Typeface.unitsPerEm,
        width: Typeface.width(of: text, size: size, weight: weight),
        height: size * (Typeface.ascent + Typeface.descent) / Typeface.unitsPerEm, size: size, color: color))
  }

  /// A line of text that reads from below to above: it stands on the column `baseline` and begins at `bottom`.
  mutating func drawUpward(
    _ text: String, baseline: Float, bottom: Float, size: Float, _ color: FigureColor = .ink
  ) {
    let length = Typeface.width(of: text, size: size)
    let (left, top) = ((baseline - size).rounded(.down) - 1, (bottom - length).rounded(.down) - 2)
    var coverage = Coverage(width: Int(size * 1.4) + 3, height: Int(length) + 4)
    coverage.add(
      text, origin: [baseline - left, bottom - top], size: size, weight: .regular, isUpward: true)
    blend(coverage, x: Int(left), y: Int(top), color)
    texts.append(
      PlacedText(
        text: text, x: baseline - size * Typeface.ascent / Typeface.unitsPerEm, y: bottom - length,
        width: size * (Typeface.ascent + Typeface.descent) / Typeface.unitsPerEm, height: length, size: size,
        color: color))
  }

  /// Lays a colour over what is there, as far as the shape covers it.
  mutating func blend(_ coverage: Coverage, x: Int, y: Int, _ color: FigureColor) {
    let values = coverage.values
    for row in 0..<coverage.height where (0..<height).contains(y + row) {
      for column in 0..<coverage.width where (0..<width).contains(x + column) {
        let share = values[row * coverage.width + column]
        if share == 0 { continue }
        let place = (y + row) * width + x + column
        set(place, color.mixed(with: self[place], share: share))
      }
    }
  }

  private subscript(place: Int) -> FigureColor {
    FigureColor(pixels[place * 3], pixels[place * 3 + 1], pixels[place * 3 + 2])
  }

  private mutating func set(_ place: Int, _ color: FigureColor) {
    pixels[place * 3] = color.red
    pixels[place * 3 + 1] = color.green
    pixels[place * 3 + 2] = color.blue
  }
}

/// A colour of a figure, sRGB. Those with a name are the page's and the report's, too.
package struct FigureColor: Sendable, Equatable {
  package let red: UInt8
  package let green: UInt8
  package let blue: UInt8

  init(_ red: UInt8, _ green: UInt8, _ blue: UInt8) {
    self.red = red
    self.green = green
    self.blue = blue
  }

  static let white = FigureColor(255, 255, 255)
  /// Text; 16.3 to 1 on white.
  static let ink = FigureColor(23, 33, 43)
  /// Text of less weight; 7.3 to 1 on white.
  static let softInk = FigureColor(74, 88, 102)
  /// Frames and ticks.
  static let line = FigureColor(119, 133, 143)
  /// The frame of the likeliest class.
  static let accent = FigureColor(26, 115, 232)

  /// This colour with a share of 0...1, over another one.
  func mixed(with ground: FigureColor, share: Float) -> FigureColor {
    func mix(_ top: UInt8, _ bottom: UInt8) -> UInt8 {
      let (top, bottom) = (Float(top), Float(bottom))
      return UInt8(bottom + (top - bottom) * share + 0.5)
    }
    return FigureColor(mix(red, ground.red), mix(green, ground.green), mix(blue, ground.blue))
  }
}

/// A line of text in a figure and the rectangle that it takes up, in pixels from the upper left.
package struct PlacedText: Sendable, Equatable {
  package let text: String
  package let x: Float
  package let y: Float
  package let width: Float
  package let height: Float
  /// The size of the type, in pixels an em.
  package let size: Float
  package let color: FigureColor
}
