import ImagePipeline

/// The colours from 0 to 1 as they are mixed with the photograph, with ticks and a label along them.
struct ColorBar {
  private let style: FigureStyle
  private let label: String
  private let hasLines: Bool
  private let ground: FigureColor
  private let unit: Float
  private let textSize: Float

  /// - Parameters:
  ///   - label: what the values mean, along the bar.
  ///   - hasLines: whether contour lines stand for the same values in every map.
  ///   - ground: what the colours are laid over, the photograph's mean colour.
  init(
    _ style: FigureStyle, label: String, hasLines: Bool, ground: FigureColor, unit: Float, textSize: Float
  ) {
    self.style = style
    self.label = label
    self.hasLines = hasLines
    self.ground = ground
    self.unit = unit
    self.textSize = textSize
  }

  private static let ticks: [(value: Float, label: String)] = [
    (0, "0"), (0.25, "0.25"), (0.5, "0.5"), (0.75, "0.75"), (1, "1"),
  ]

  private func pixels(_ count: Float) -> Int { Int((count * unit).rounded()) }
  private var barWidth: Int { pixels(16) }
  private var labelX: Float { Float(barWidth) + 8 * unit }
  private var tickWidth: Float { Typeface.width(of: "0.25", size: textSize) }

  var width: Int { Int(labelX + tickWidth + textSize * 1.5) }

  func draw(x: Int, y: Int, height: Int, on canvas: inout Canvas) {
    let border = max(pixels(1), 1)
    canvas.frame(x: x, y: y, width: barWidth, height: height, thickness: border, .line)
    for row in 0..<height {
      let value = 1 - (Float(row) + 0.5) / Float(height)
      let color = style.mixedColor(step: PixelImage.step(of: value), over: ground)
      canvas.fill(x: x, y: y + row, width: barWidth, height: 1, color)
    }
    for (value, number) in Self.ticks {
      let place = y + Int((Float(height) * (1 - value)).rounded())
      if hasLines, FigureStyle.contourLevels.contains(value) {
        canvas.fill(x: x, y: place - border, width: barWidth, height: 3 * border, FigureColor(70, 70, 70))
        canvas.fill(x: x, y: place, width: barWidth, height: border, .white)
      }
      let tickY = value == 1 ? place : value == 0 ? place - border : place
      canvas.fill(x: x + barWidth, y: tickY, width: pixels(5), height: border, .line)
      let capHeight = textSize * Typeface.capHeight / Typeface.unitsPerEm
      // The outermost numbers end with the bar.
      let middle = min(max(Float(place), Float(y) + capHeight / 2), Float(y + height) - capHeight / 2)
      canvas.draw(number, x: Float(x) + labelX, baseline: middle + capHeight / 2, size: textSize)
    }
    let length = Typeface.width(of: label, size: textSize)
    // A label that is too long for the bar is set smaller.
    let size = length > Float(height) ? textSize * Float(height) / length : textSize
    let middle = Float(y) + (Float(height) + Typeface.width(of: label, size: size)) / 2
    canvas.drawUpward(
      label, baseline: Float(x) + labelX + tickWidth + textSize * 1.25, bottom: middle, size: size
    )
  }
}
