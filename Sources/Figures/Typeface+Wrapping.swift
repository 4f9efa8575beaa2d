extension Typeface {
  /// Breaks text between words so that no line is wider than `width` pixels; a longer word is cut.
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
