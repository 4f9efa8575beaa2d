import ImagePipeline

/// Where the parts of a figure go: panels in a grid, the colour bar to their right, the caption below.
struct FigureLayout {
  /// One picture of the grid with the lines under it.
  private struct Panel {
    let image: PixelImage
    let lines: [String]
  }

  private let panels: [Panel]
  private let columns: Int
  private let caption: [(text: String, scale: Int)]
  private let colorMap: ColorMap
  /// Pixels for each pixel of the small typeface, so that captions grow with the photograph.
  private let unit: Int
  private let isSheet: Bool
  /// Of the text under a panel, and of a contact sheet's caption.
  private let textScale: Int

  /// Side of the largest photograph that a contact sheet shows at its own resolution.
  private static let sheetSide = 450
  /// Smaller photographs are shown larger by a whole factor, each of their pixels as a square.
  private static let leastSide = 120
  /// Characters of small text that a caption's line holds at least, however small the photograph.
  private static let leastCharacters = 44
  /// Characters of large text that a panel must have room for; where it has not, the text under it is small.
  private static let panelCharacters = 16

  init(_ figure: MapFigure) {
    let style = figure.style
    isSheet = figure.maps.count > 1
    var photograph = figure.photograph
    if isSheet, photograph.width > Self.sheetSide {
      photograph = photograph.resized(width: Self.sheetSide, height: Self.sheetSide)
    }
    photograph = photograph.enlarged((Self.leastSide + photograph.width - 1) / photograph.width)
    unit = max(1, (photograph.width + 225) / 450)
    colorMap = style.colorMap
    var panels: [Panel] = []
    if isSheet || style.isSideBySide {
      panels.append(Panel(image: photograph, lines: isSheet ? ["Photograph"] : []))
    }
    for map in figure.maps {
      let image =
        map.values(photograph.width)
        .map { photograph.overlaid(with: $0, colorMap: style.colorMap, alpha: style.alpha) } ?? photograph
      panels.append(Panel(image: image, lines: isSheet ? map.lines.map(MapFigure.drawable) : []))
    }
    self.panels = panels
    columns = isSheet ? 4 : panels.count
    let textScale = photograph.width / (BitmapFont.advance * unit * 2) < Self.panelCharacters ? 1 : 2
    self.textScale = textScale
    caption = figure.caption.map { [isSheet] in
      (MapFigure.drawable($0.text), isSheet ? textScale : $0.isLarge ? 2 : 1)
    }
  }

  private var side: Int { panels[0].image.width }
  private var margin: Int { 8 * unit }
  private var lineHeight: Int { BitmapFont.lineHeight * unit }
  private var barWidth: Int { 16 * unit }
  private var rowCount: Int { (panels.count + columns - 1) / columns }
  private var gridWidth: Int { columns * side + (columns - 1) * margin }

  /// Lines below a panel, wrapped to its width.
  private func lines(_ panel: Panel) -> [(text: String, scale: Int)] {
    panel.lines.flatMap { line in
      BitmapFont.wrapped(line, width: max(1, side / (BitmapFont.advance * unit * textScale)))
        .map { ($0, textScale) }
    }
  }

  private func height(_ lines: [(text: String, scale: Int)]) -> Int {
    lines.reduce(0) { $0 + $1.scale * lineHeight }
  }

  var image: PixelImage {
    let barX = margin + gridWidth + margin
    let width = max(
      barX + barWidth + 3 * BitmapFont.advance * unit + margin,
      Self.leastCharacters * BitmapFont.advance * unit + 2 * margin)
    let captionLines = caption.map { text, scale in
      BitmapFont.wrapped(text, width: (width - 2 * margin) / (BitmapFont.advance * unit * scale))
        .map { (text: $0, scale: scale) }
    }
    let panelText = panels.map { height(lines($0)) }.max() ?? 0
    let rowHeight = side + (panelText > 0 ? panelText + margin / 2 : 0)
    let gridHeight = rowCount * rowHeight + (rowCount - 1) * margin
    let captionHeight = captionLines.reduce(0) { $0 + height($1) + margin / 2 }
    var canvas = Canvas(width: width, height: margin + gridHeight + margin + captionHeight + margin / 2)

    for (index, panel) in panels.enumerated() {
      let x = margin + index % columns * (side + margin)
      let y = margin + index / columns * (rowHeight + margin)
      canvas.draw(panel.image, x: x, y: y)
      draw(lines(panel), x: x, y: y + side + margin / 2, on: &canvas)
    }
    drawBar(x: barX, y: margin, height: isSheet ? gridHeight : side, on: &canvas)
    var y = margin + gridHeight + margin
    for lines in captionLines {
      draw(lines, x: margin, y: y, on: &canvas)
      y += height(lines) + margin / 2
    }
    return canvas.image
  }

  private func draw(_ lines: [(text: String, scale: Int)], x: Int, y: Int, on canvas: inout Canvas) {
    var y = y
    for (text, scale) in lines {
      canvas.draw(text, x: x, y: y, scale: scale * unit)
      y += scale * lineHeight
    }
  }

  /// 1 at the top, 0 at the bottom.
  private func drawBar(x: Int, y: Int, height: Int, on canvas: inout Canvas) {
    let colors = colorMap.table
    canvas.fill(x: x - unit, y: y, width: barWidth + 2 * unit, height: height, Canvas.black)
    let inner = height - 2 * unit
    for row in 0..<inner {
      let color = (inner - 1 - row) * 255 / max(inner - 1, 1) * 3
      canvas.fill(
        x: x, y: y + unit + row, width: barWidth, height: 1,
        (colors[color], colors[color + 1], colors[color + 2]))
    }
    let labelX = x + barWidth + 6 * unit
    canvas.draw("1", x: labelX, y: y, scale: 2 * unit)
    canvas.draw("0", x: labelX, y: y + height - 7 * 2 * unit, scale: 2 * unit)
  }
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
