@testable import FigureModule
import ImagePipeline

@testable import DermaFusion

/// Reads what is drawn in a picture with ``BitmapFont``, by looking each character up.
struct FigureTextReader {
  let picture: PixelImage

  private static let characters: [[Bool]: Character] = Dictionary(
    (UInt8(32)...126).map { code in
      (
        (0..<BitmapFont.glyphHeight).flatMap { y in
          (0..<BitmapFont.glyphWidth).map { BitmapFont.hasInk(code, x: $0, y: y) }
        }, Character(Unicode.Scalar(code))
      )
    }, uniquingKeysWith: { first, _ in first })

  /// The lines that begin at a column, from a row of the picture downwards, each with its scale.
  func lines(x: Int, from top: Int, width: Int) -> [(text: String, scale: Int)] {
    var lines: [(text: String, scale: Int)] = []
    var y = top
    while y < picture.height {
      let found = [4, 3, 2, 1].lazy.compactMap { scale in
        line(x: x, y: y, width: width, scale: scale).map { (text: $0, scale: scale) }
      }.first
      if let found { lines.append(found) }
      y += found.map { $0.scale * BitmapFont.glyphHeight } ?? 1
    }
    return lines
  }

  /// Nil where something stands that is no text, or nothing.
  private func line(x: Int, y: Int, width: Int, scale: Int) -> String? {
    var text = ""
    for index in 0..<width / (BitmapFont.advance * scale) {
      guard let character = character(x: x + index * BitmapFont.advance * scale, y: y, scale: scale) else {
        return nil
      }
      if index == 0, character == " " { return nil }
      text.append(character)
    }
    while text.last == " " { text.removeLast() }
    return text.isEmpty ? nil : text
  }

  private func character(x: Int, y: Int, scale: Int) -> Character? {
    guard y + BitmapFont.glyphHeight * scale <= picture.height else { return nil }
    var glyph: [Bool] = []
    for row in 0..<BitmapFont.glyphHeight {
      for column in 0..<BitmapFont.glyphWidth {
        let ink = isInk(x: x + column * scale, y: y + row * scale)
        // Of a larger typeface, every pixel of the square is alike.
        for place in 0..<scale * scale
        where isInk(x: x + column * scale + place % scale, y: y + row * scale + place / scale) != ink {
          return nil
        }
        glyph.append(ink)
      }
    }
    return Self.characters[glyph]
  }

  private func isInk(x: Int, y: Int) -> Bool {
    let place = (y * picture.width + x) * 3
    return x < picture.width && picture.pixels[place..<place + 3].allSatisfy { $0 == 0 }
  }

  /// Whether a rectangle is white all over.
  func isWhite(columns: Range<Int>, rows: Range<Int>) -> Bool {
    rows.allSatisfy { y in
      picture.pixels[
        (y * picture.width + columns.lowerBound) * 3..<(y * picture.width + columns.upperBound) * 3
      ]
      .allSatisfy { $0 == 255 }
    }
  }
}
