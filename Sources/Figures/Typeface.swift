/// The letters of captions: outlines of Roboto, which look alike at any size and need no font on the machine.
///
/// Measures are in units of a 2048th of the type size, upwards from the base line, as in the font itself.
enum Typeface {
  enum Weight {
    case regular, medium
  }

  /// One character's shape.
  struct Glyph {
    struct Point {
      let x: Float
      let y: Float
      /// Else it is the control point of a quadratic curve; between two of those lies a point on the curve.
      let isOnCurve: Bool
    }

    /// To the next character's origin.
    let advance: Float
    /// Closed, filled where the winding number is not 0.
    let contours: [[Point]]
  }

  static let lineHeight: Float = 1.35

  /// A text with the characters that the typeface lacks as `\u{441}`, or a longer run of them as an ellipsis: names of files and
  /// of classes may be in any script.
  static func drawable(_ text: String) -> String {
    var drawable = ""
    var missing: [Unicode.Scalar] = []
    func endRun() {
      drawable +=
        missing.count > longestEscapedRun
        ? "\u{2026}"
        : missing.map { "\\u{\(String($0.value, radix: 16, uppercase: true))}" }.joined()
      missing = []
    }
    for scalar in text.unicodeScalars.map({ Self.nonBreakingSpaces.contains($0) ? " " : $0 }) {
      if encoded(scalar, among: regularCharacters, regularGlyphs) == nil {
        missing.append(scalar)
      } else {
        endRun()
        drawable.unicodeScalars.append(scalar)
      }
    }
    endRun()
    return drawable
  }

  private static let longestEscapedRun = 4
  /// The glyphs of German and French have blanks only.
  private static let nonBreakingSpaces: [Unicode.Scalar] = ["\u{A0}", "\u{202F}"]

  /// The glyph of a character; of `?` where the typeface has none.
  static func glyph(of character: Unicode.Scalar, weight: Weight) -> Glyph {
    decoded(encoded(character, weight: weight))
  }

  /// The width of a line of text whose size is in pixels an em.
  static func width(of text: String, size: Float, weight: Weight = .regular) -> Float {
    text.unicodeScalars.reduce(0) { $0 + Float(number(encoded($1, weight: weight), at: 0)) } * size
      / unitsPerEm
  }

  // MARK: - Encoding
  //
  // A glyph is a row of numbers of two digits in base 91. The digits are printable ASCII from '#' on without '\'. The first
  // number is the advance. Then come the contours: the number of points, and of each point the step from the one before:
  // ((dx + 2048) * 2 + 1 where it is on the curve), then (dy + 2048).

  private static func encoded(_ character: Unicode.Scalar, weight: Weight) -> StaticString {
    if weight == .medium, let glyph = encoded(character, among: signs, mediumGlyphs) {
      return glyph
    }
    return encoded(character, among: regularCharacters, regularGlyphs)
      ?? encoded("?", among: regularCharacters, regularGlyphs)!
  }

  private static let regularCharacters = letters + signs

  /// - Parameters:
  ///   - characters: those beyond ASCII.
  ///   - glyphs: those of printable ASCII come first.
  private static func encoded(
    _ character: Unicode.Scalar, among characters: [Unicode.Scalar], _ glyphs: [StaticString]
  ) -> StaticString? {
    if (32..<127).contains(character.value) { return glyphs[Int(character.value) - 32] }
    return characters.firstIndex(of: character).map { glyphs[127 - 32 + $0] }
  }

  private static func number(_ digits: StaticString, at index: Int) -> Int {
    func digit(_ place: Int) -> Int {
      let code = unsafe Int(digits.utf8Start[place])
      return code - (code > 92 ? 36 : 35)
    }
    return digit(index * 2) * 91 + digit(index * 2 + 1)
  }

  private static func decoded(_ digits: StaticString) -> Glyph {
    let count = digits.utf8CodeUnitCount / 2
    var contours: [[Glyph.Point]] = []
    var (x, y) = (0, 0)
    var index = 1
    while index < count {
      let pointCount = number(digits, at: index)
      index += 1
      var contour: [Glyph.Point] = []
      for _ in 0..<pointCount {
        let step = number(digits, at: index)
        x += step / 2 - 2048
        y += number(digits, at: index + 1) - 2048
        contour.append(Glyph.Point(x: Float(x), y: Float(y), isOnCurve: step % 2 == 1))
        index += 2
      }
      contours.append(contour)
    }
    return Glyph(advance: Float(number(digits, at: 0)), contours: contours)
  }
}

extension Typeface {
  /// Breaks text between words. No line is wider than `width` pixels: a longer word is cut.
  ///
  /// A last line of less than a third of the width is avoided: the lines before it are made shorter, as long as that
  /// needs no further line.
  static func wrapped(_ text: String, width: Float, size: Float, weight: Weight = .regular) -> [String] {
    let words = words(of: text, width: width, size: size, weight: weight)
    let lines = filled(words, width: width, size: size)
    guard lines.count > 1 else { return lines.map { $0.text } }
    var best = lines
    for step in 1...12 where best[best.count - 1].width < width / 3 {
      let narrower = filled(words, width: width * (1 - Float(step) * 0.04), size: size)
      if narrower.count > lines.count { break }
      best = narrower
    }
    return best.map { $0.text }
  }

  private typealias Measured = (text: String, width: Float)

  /// The words, those that are wider than a line in pieces.
  private static func words(of text: String, width: Float, size: Float, weight: Weight) -> [Measured] {
    var words: [Measured] = []
    for word in text.split(separator: " ") {
      var piece: Measured = ("", 0)
      for character in word {
        let advance = Self.width(of: String(character), size: size, weight: weight)
        if piece.width + advance > width, !piece.text.isEmpty {
          words.append(piece)
          piece = ("", 0)
        }
        piece.text.append(character)
        piece.width += advance
      }
      words.append(piece)
    }
    return words
  }

  private static func filled(_ words: [Measured], width: Float, size: Float) -> [Measured] {
    let blank = Self.width(of: " ", size: size)
    var lines: [Measured] = []
    for word in words {
      if let last = lines.last, last.width + blank + word.width <= width {
        lines[lines.count - 1] = (last.text + " " + word.text, last.width + blank + word.width)
      } else {
        lines.append(word)
      }
    }
    return lines
  }
}
