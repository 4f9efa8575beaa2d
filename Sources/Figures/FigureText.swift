/// A paragraph of text.
package struct FigureParagraph {
  package enum Role: Sendable {
    case heading, strong, body, small
  }

  /// A text of characters that the typeface has.
  let text: String
  let role: Role
  let sign: RiskSign?

  package init(_ text: String, _ role: Role = .body, sign: RiskSign? = nil) {
    self.text = Typeface.drawable(text)
    self.role = role
    self.sign = sign
  }
}

/// Sizes of type in pixels an em, by the part that a text plays.
struct TextSizes {
  let unit: Float
  /// People see a contact sheet from further away, because it is as wide as four photographs.
  let isSheet: Bool

  /// Beside the colour bar.
  var tick: Float { (isSheet ? 19 : 12) * unit }

  func size(of role: FigureParagraph.Role) -> Float {
    switch role {
    case .heading: (isSheet ? 34 : 21) * unit
    case .strong: (isSheet ? 24 : 14.5) * unit
    case .body: (isSheet ? 20 : 13) * unit
    case .small: (isSheet ? 17 : 11.5) * unit
    }
  }
}

struct TextBlock {
  private let lines: [String]
  private let size: Float
  private let weight: Typeface.Weight
  private let color: FigureColor
  private let sign: RiskSign?
  private let lineHeight: Int

  init(_ paragraph: FigureParagraph, width: Float, sizes: TextSizes) {
    size = sizes.size(of: paragraph.role)
    sign = paragraph.sign
    lineHeight = Int((size * Typeface.lineHeight).rounded())
    switch paragraph.role {
    case .heading, .strong: (weight, color) = (.medium, .ink)
    case .body: (weight, color) = (.regular, .ink)
    case .small: (weight, color) = (.regular, .softInk)
    }
    let indent = sign == nil ? 0 : size * Self.signIndent
    lines = Typeface.wrapped(paragraph.text, width: max(width - indent, size), size: size, weight: weight)
  }

  /// Room for a sign before the text, in ems.
  private static let signIndent: Float = 1.75

  var height: Int { lines.count * lineHeight }

  /// - Parameter y: the upper edge.
  func draw(x: Int, y: Int, on canvas: inout Canvas) {
    var left = Float(x)
    if let sign {
      let side = Int((size * 1.4).rounded())
      sign.draw(on: &canvas, x: x, y: y + (lineHeight - side) / 2, side: side)
      left += size * Self.signIndent
    }
    // Capitals stand in the middle of a line.
    let capHeight = size * Typeface.capHeight / Typeface.unitsPerEm
    var baseline = Float(y) + (Float(lineHeight) + capHeight) / 2
    for line in lines {
      canvas.draw(line, x: left, baseline: baseline, size: size, weight: weight, color)
      baseline += Float(lineHeight)
    }
  }
}

/// The sign of a risk: form and colour differ, so that neither is needed to read the other. Those of the page.
package enum RiskSign: Sendable {
  /// A shield with a check, a triangle and an octagon with an exclamation mark, a circle with a dash.
  case low, moderate, high, none

  var color: FigureColor {
    switch self {
    case .low: FigureColor(52, 199, 89)
    case .moderate: FigureColor(255, 149, 0)
    case .high: FigureColor(255, 59, 48)
    case .none: FigureColor(138, 151, 163)
    }
  }

  /// On a square of 24 by 24, y downwards.
  private var outline: [SIMD2<Float>] {
    switch self {
    case .low:
      [
        [12, 2.2], [20.2, 5.2], [20.2, 11.5], [19.4, 15.4], [17.2, 18.6], [12, 21.8], [6.8, 18.6],
        [4.6, 15.4],
        [3.8, 11.5], [3.8, 5.2],
      ]
    case .moderate:
      [
        [12, 2.6], [13, 2.9], [22.4, 19.1], [22.4, 20.8], [21.2, 21.5], [2.8, 21.5], [1.6, 20.8],
        [1.6, 19.1], [11, 2.9],
      ]
    case .high:
      [[8, 2.5], [16, 2.5], [21.5, 8], [21.5, 16], [16, 21.5], [8, 21.5], [2.5, 16], [2.5, 8]]
    case .none: []
    }
  }

  private var glyph: [[SIMD2<Float>]] {
    func mark(top: Float, bottom: Float) -> [[SIMD2<Float>]] {
      [
        [[10.8, top], [13.2, top], [13.2, bottom], [10.8, bottom]],
        [[10.8, bottom + 2], [13.2, bottom + 2], [13.2, bottom + 4.4], [10.8, bottom + 4.4]],
      ]
    }
    return switch self {
    case .low: [[[7.2, 12.8], [8.8, 11.2], [10.9, 13.3], [15.4, 8.6], [17, 10.2], [10.9, 16.5]]]
    case .moderate: mark(top: 8.4, bottom: 14.6)
    case .high: mark(top: 6.2, bottom: 13.4)
    case .none: [[[7.5, 10.8], [16.5, 10.8], [16.5, 13.2], [7.5, 13.2]]]
    }
  }

  func draw(on canvas: inout Canvas, x: Int, y: Int, side: Int) {
    let scale = Float(side) / 24
    func coverage(_ polygons: [[SIMD2<Float>]]) -> Coverage {
      var coverage = Coverage(width: side, height: side)
      for polygon in polygons { coverage.add(polygon.map { $0 * scale }) }
      return coverage
    }
    if outline.isEmpty {
      var circle = Coverage(width: side, height: side)
      circle.addCircle(centre: [12 * scale, 12 * scale], radius: 9.5 * scale)
      canvas.blend(circle, x: x, y: y, color)
    } else {
      canvas.blend(coverage([outline]), x: x, y: y, color)
    }
    canvas.blend(coverage(glyph), x: x, y: y, FigureColor(16, 22, 28))
  }
}

extension String {
  /// With `\u{416}` for what is not printable ASCII, which the texts and the fonts of pictures lack.
  package var inASCII: String {
    unicodeScalars.map { scalar in
      (32...126).contains(scalar.value)
        ? String(Character(scalar)) : "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
    }.joined()
  }
}
