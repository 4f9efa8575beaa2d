import Testing

@testable import Figures

@Suite struct TypefaceTests {
  /// The rows and columns of a glyph's ink at 40 pixels an em, in em.
  private func extent(_ text: String, weight: Typeface.Weight) -> (
    left: Float, right: Float, top: Float, bottom: Float
  )? {
    let size: Float = 40
    var coverage = Coverage(width: 80, height: 80)
    coverage.add(text, origin: [10, 50], size: size, weight: weight)
    let places = coverage.values.enumerated().filter { $0.element > 0.5 }.map { $0.offset }
    guard let first = places.first, let last = places.last else { return nil }
    let columns = places.map { $0 % 80 }
    return (
      (Float(columns.min()!) - 10) / size, (Float(columns.max()! + 1) - 10) / size,
      (50 - Float(first / 80)) / size, (50 - Float(last / 80 + 1)) / size
    )
  }

  @Test(arguments: [Typeface.Weight.regular, .medium])
  func everyPrintableCharacterButTheBlankHasInkInsideOfItsLine(weight: Typeface.Weight) throws {
    for code in UInt8(33)...126 {
      let text = String(Unicode.Scalar(code))
      let ink = try #require(extent(text, weight: weight), "\(text) has no ink")
      #expect(
        ink.top <= Typeface.ascent / Typeface.unitsPerEm
          && ink.bottom >= -Typeface.descent / Typeface.unitsPerEm, "\(text)")
      #expect(
        ink.left > -0.1 && ink.right < Typeface.width(of: text, size: 1, weight: weight) + 0.1, "\(text)")
    }
    #expect(extent(" ", weight: weight) == nil)
  }

  /// A dot is a circle of control points alone.
  @Test(arguments: [Typeface.Weight.regular, .medium])
  func dotsAreDrawn(weight: Typeface.Weight) throws {
    let stem = try #require(extent("\u{131}", weight: weight) ?? extent("l", weight: weight))
    let dotted = try #require(extent("i", weight: weight))
    let stop = try #require(extent(".", weight: weight))
    #expect(dotted.top > 0.65 && stem.top > 0.5)
    #expect(stop.top > 0.08 && stop.top < 0.2 && abs(stop.bottom) < 0.03, "\(stop)")
  }

  @Test func capitalsAreAsHighAsTheTypefaceSays() throws {
    let ink = try #require(extent("H", weight: .regular))
    #expect(abs(ink.top - Typeface.capHeight / Typeface.unitsPerEm) < 0.03)
    #expect(abs(ink.bottom) < 0.01)
  }

  @Test func lettersWithMarksAndSignsAreThere() {
    for character in "äöüßéÅçñ°±·–…≤≥".unicodeScalars {
      let glyph = Typeface.glyph(of: character, weight: .medium)
      #expect(!glyph.contours.isEmpty, "\(character)")
      #expect(
        glyph.contours.count != Typeface.glyph(of: "?", weight: .regular).contours.count
          || glyph.advance != Typeface.glyph(of: "?", weight: .regular).advance, "\(character)")
    }
    #expect(
      Typeface.glyph(of: "病", weight: .regular).advance == Typeface.glyph(of: "?", weight: .regular).advance)
  }

  /// Never as question marks, which would make one name of many.
  @Test(arguments: [
    ("lesion_1.jpg", "lesion_1.jpg"), ("Größe.jpg", "Größe.jpg"), ("病1.jpg", "\\u{75C5}1.jpg"),
    ("снимок 1.jpg", "… 1.jpg"), ("a😀b", "a\\u{1F600}b"), ("e\u{301}", "e\\u{301}"), ("a\nb", "a\\u{A}b"),
    ("", ""),
  ])
  func charactersThatAreMissingAreEscapedOrLeftOut(text: String, drawn: String) {
    #expect(Typeface.drawable(text) == drawn)
    #expect(FigureParagraph(text).text == drawn)
  }

  @Test func noLineIsWiderThanItsRoomAndNoWordIsLost() {
    let text =
      "DermaFusion is a research and educational tool. It is NOT a medical device. averyveryverylongfilenamewithoutblanks.jpg a"
    for width: Float in [60, 113, 200, 431, 4000] {
      let lines = Typeface.wrapped(text, width: width, size: 13)
      for line in lines { #expect(Typeface.width(of: line, size: 13) <= width, "\(width): \(line)") }
      #expect(lines.joined().filter { $0 != " " } == text.filter { $0 != " " }, "\(width)")
    }
  }

  @Test func theLastLineIsNoWordAlone() {
    let text =
      "Results should not be used for diagnosis, and that is what this long caption says at its very end."
    for width in stride(from: Float(150), through: 400, by: 10) {
      let lines = Typeface.wrapped(text, width: width, size: 13)
      if lines.count > 1 {
        #expect(Typeface.width(of: lines[lines.count - 1], size: 13) > width * 0.2, "\(width): \(lines)")
      }
    }
  }
}
