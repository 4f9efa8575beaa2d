import ImagePipeline

/// Heatmaps over a photograph, with a heading, a colour bar and a caption: one map at the photograph's own resolution, or
/// several as a contact sheet beside the photograph.
package struct MapFigure {
  /// One heatmap.
  package struct Map {
    /// What stands under it in a contact sheet: large, then smaller lines.
    let title: String
    let lines: [String]
    /// Whether a contact sheet frames it.
    let isFramed: Bool
    /// Its greatest value. Contour lines are drawn at quarters of it, so that they show where a weak map lies on a scale
    /// that it shares with stronger ones.
    let peak: Float
    /// The map's values for a square of so many pixels, `[side, side]`, 0...1; nil when there is nothing to show.
    let values: (_ side: Int) -> [Float]?

    package init(
      title: String, lines: [String] = [], isFramed: Bool = false, peak: Float = 1,
      values: @escaping (_ side: Int) -> [Float]?
    ) {
      precondition(peak > 0, "a map whose greatest value is \(peak)")
      self.title = title
      self.lines = lines
      self.isFramed = isFramed
      self.peak = peak
      self.values = values
    }
  }

  let photograph: PixelImage
  let maps: [Map]
  let heading: [FigureParagraph]
  let caption: [FigureParagraph]
  /// What the values mean, along the colour bar.
  let scaleLabel: String
  let style: FigureStyle

  /// - Parameters:
  ///   - photograph: A square.
  ///   - maps: At least one.
  ///   - heading: Above the pictures.
  ///   - caption: Below them.
  package init(
    photograph: PixelImage, maps: [Map], heading: [FigureParagraph], caption: [FigureParagraph],
    scaleLabel: String,
    style: FigureStyle
  ) {
    precondition(
      photograph.width == photograph.height,
      "maps of \(photograph.width)x\(photograph.height), which is no square")
    precondition(!maps.isEmpty, "a figure without maps")
    self.photograph = photograph
    self.maps = maps
    self.heading = heading
    self.caption = caption
    self.scaleLabel = scaleLabel
    self.style = style
  }

  /// A map over a photograph.
  ///
  /// - Parameters:
  ///   - values: `[height, width]` of the photograph, 0...1; nil: there is nothing to show.
  ///   - peak: their greatest.
  ///   - lineWidth: of contour lines, in pixels.
  package static func overlay(
    _ values: [Float]?, peak: Float = 1, on photograph: PixelImage, style: FigureStyle, lineWidth: Float
  ) -> PixelImage {
    guard let values else { return photograph }
    switch style.form {
    case .classic: return photograph.overlaid(with: values, colorMap: style.colorMap, alpha: style.alpha)
    case .contours:
      return photograph.blended(with: values, colorMap: style.colorMap, alpha: style.alpha)
        .contoured(
          peak == 1 ? values : values.map { $0 / peak }, levels: FigureStyle.contourLevels,
          thickness: lineWidth)
    }
  }
}
