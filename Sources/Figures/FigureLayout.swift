import DermaFusion
import ImagePipeline

/// The places of a figure's parts: the heading, panels in a grid, the colour bar to their right, the caption.
struct FigureLayout {
  /// One picture of the grid with the text under it.
  private struct Panel {
    let image: PixelImage
    let title: String
    let lines: [String]
    let isFramed: Bool
  }

  private let figure: MapFigure
  private let panels: [Panel]
  private let columns: Int
  private let isSheet: Bool
  private let photograph: PixelImage
  /// Pixels for each of a figure whose photograph is 450 pixels wide, so that text grows with the photograph.
  private let unit: Float
  private let sizes: TextSizes

  /// Side of the largest photograph that a contact sheet shows at its own resolution.
  private static let sheetSide = 450
  /// Smaller photographs are shown larger by a whole factor, each of their pixels as a square, so that the text has room.
  private static let leastSide = 300

  init(_ figure: MapFigure) {
    self.figure = figure
    isSheet = figure.maps.count > 1
    var photograph = figure.photograph
    if isSheet, photograph.width > Self.sheetSide {
      photograph = photograph.resized(width: Self.sheetSide, height: Self.sheetSide)
    }
    photograph = photograph.enlarged((Self.leastSide + photograph.width - 1) / photograph.width)
    self.photograph = photograph
    let unit = max(Float(photograph.width) / 450, 0.85)
    self.unit = unit
    sizes = TextSizes(unit: unit, isSheet: isSheet)
    var panels: [Panel] = []
    if isSheet || figure.style.isSideBySide {
      let title = isSheet ? figure.style.language["reportFile.photograph"] : ""
      panels.append(Panel(image: photograph, title: title, lines: [], isFramed: false))
    }
    for map in figure.maps {
      let image = MapFigure.overlay(
        map.values(photograph.width), peak: map.peak, on: photograph, style: figure.style,
        lineWidth: 1.3 * unit)
      panels.append(
        Panel(
          image: image, title: isSheet ? map.title : "", lines: isSheet ? map.lines : [],
          isFramed: isSheet && map.isFramed))
    }
    self.panels = panels
    columns = isSheet ? min(panels.count, 4) : panels.count
  }

  private var side: Int { photograph.width }
  private func pixels(_ count: Float) -> Int { Int((count * unit).rounded()) }
  private var margin: Int { pixels(16) }
  private var gap: Int { pixels(isSheet ? 18 : 10) }
  private var rowCount: Int { (panels.count + columns - 1) / columns }
  private var gridWidth: Int { columns * side + (columns - 1) * gap }

  var canvas: Canvas {
    let bar = ColorBar(
      style: figure.style, label: figure.scaleLabel,
      hasLines: figure.style.form == .contours && figure.maps.allSatisfy { $0.peak == 1 },
      ground: photograph.meanColor, unit: unit, textSize: sizes.tick)
    let width = margin + gridWidth + pixels(14) + bar.width + margin
    let textWidth = Float(width - 2 * margin)
    let heading = figure.heading.map { TextBlock($0, width: textWidth, sizes: sizes) }
    let caption = figure.caption.map { TextBlock($0, width: textWidth, sizes: sizes) }
    let panelText = panels.map { panelBlocks($0) }
    let panelTextHeight = panelText.map { $0.reduce(0) { $0 + $1.height } }.max() ?? 0
    let rowHeight = side + (panelTextHeight > 0 ? panelTextHeight + pixels(8) : 0)
    let gridHeight = rowCount * rowHeight + (rowCount - 1) * gap
    let (headingHeight, captionHeight) = (height(of: heading), height(of: caption))
    let gridTop = margin + headingHeight + (heading.isEmpty ? 0 : pixels(12))
    let captionTop = gridTop + gridHeight + pixels(14)
    var canvas = Canvas(width: width, height: captionTop + captionHeight + margin)

    draw(heading, y: margin, on: &canvas)
    for (index, panel) in panels.enumerated() {
      let x = margin + index % columns * (side + gap)
      let y = gridTop + index / columns * (rowHeight + gap)
      canvas.draw(panel.image, x: x, y: y)
      if panel.isFramed {
        canvas.frame(x: x, y: y, width: side, height: side, thickness: pixels(5), .accent)
      }
      var textY = y + side + pixels(8)
      for block in panelText[index] {
        block.draw(x: x, y: textY, on: &canvas)
        textY += block.height
      }
    }
    bar.draw(x: margin + gridWidth + pixels(14), y: gridTop, height: side, on: &canvas)
    draw(caption, y: captionTop, on: &canvas)
    return canvas
  }

  private func panelBlocks(_ panel: Panel) -> [TextBlock] {
    if panel.title.isEmpty { return [] }
    let paragraphs = [FigureParagraph(panel.title, .strong)] + panel.lines.map { .init($0, .body) }
    return paragraphs.map { TextBlock($0, width: Float(side), sizes: sizes) }
  }

  private var paragraphGap: Int { pixels(5) }

  private func height(of blocks: [TextBlock]) -> Int {
    blocks.reduce(0) { $0 + $1.height } + max(blocks.count - 1, 0) * paragraphGap
  }

  private func draw(_ blocks: [TextBlock], y: Int, on canvas: inout Canvas) {
    var y = y
    for block in blocks {
      block.draw(x: margin, y: y, on: &canvas)
      y += block.height + paragraphGap
    }
  }
}

extension MapFigure {
  package var image: PixelImage { FigureLayout(self).canvas.image }
}

extension PixelImage {
  /// Each pixel as a square of `factor` by `factor`.
  fileprivate func enlarged(_ factor: Int) -> PixelImage {
    if factor <= 1 { return self }
    var result: [UInt8] = []
    result.reserveCapacity(pixels.count * factor * factor)
    for y in 0..<height {
      var row: [UInt8] = []
      for x in 0..<width {
        let place = (y * width + x) * 3
        for _ in 0..<factor { row += pixels[place..<place + 3] }
      }
      for _ in 0..<factor { result += row }
    }
    return PixelImage(width: width * factor, height: height * factor, pixels: result)
  }
}

/// The colours from 0 to 1 as they are mixed with the photograph, with ticks and a label along them.
struct ColorBar {
  let style: FigureStyle
  /// The meaning of the values, along the bar.
  let label: String
  /// True if contour lines stand for the same values in every map.
  let hasLines: Bool
  /// The photograph's mean colour, which the colours are laid over.
  let ground: FigureColor
  let unit: Float
  let textSize: Float

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
