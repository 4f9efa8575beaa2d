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
