/// Sizes of type in pixels an em, by the part that a text plays.
struct TextSizes {
  let heading: Float
  let strong: Float
  let body: Float
  let small: Float
  /// Beside the colour bar.
  let tick: Float

  /// A contact sheet is looked at from further away: it is as wide as four photographs.
  init(unit: Float, isSheet: Bool) {
    heading = (isSheet ? 34 : 21) * unit
    strong = (isSheet ? 24 : 14.5) * unit
    body = (isSheet ? 20 : 13) * unit
    small = (isSheet ? 17 : 11.5) * unit
    tick = (isSheet ? 19 : 12) * unit
  }

  func size(of role: FigureParagraph.Role) -> Float {
    switch role {
    case .heading: heading
    case .strong: strong
    case .body: body
    case .small: small
    }
  }
}

/// A paragraph, broken into lines.
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
