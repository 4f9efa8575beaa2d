import ImagePipeline

/// Heatmaps over a photograph, with a colour bar and captions: one map at the photograph's own resolution, or several as a
/// contact sheet beside the photograph.
package struct MapFigure {
  /// One heatmap.
  package struct Map {
    /// The map's values for a square of so many pixels, `[side, side]`, 0...1; nil when there is nothing to show.
    let values: (_ side: Int) -> [Float]?
    /// What stands under it in a contact sheet.
    let lines: [String]

    package init(lines: [String], values: @escaping (_ side: Int) -> [Float]?) {
      self.values = values
      self.lines = lines
    }
  }

  /// A paragraph of the caption.
  package struct Paragraph {
    let text: String
    /// Large text, in the figure of one map; a contact sheet has one size for its whole caption.
    let isLarge: Bool

    package init(_ text: String, isLarge: Bool = false) {
      self.text = text
      self.isLarge = isLarge
    }
  }

  let photograph: PixelImage
  let maps: [Map]
  let caption: [Paragraph]
  let style: FigureStyle

  /// - Parameters:
  ///   - photograph: A square.
  ///   - maps: At least one.
  package init(photograph: PixelImage, maps: [Map], caption: [Paragraph], style: FigureStyle) {
    self.photograph = photograph
    self.maps = maps
    self.caption = caption
    self.style = style
  }

  package var image: PixelImage { FigureLayout(self).image }

  /// Characters that the typeface lacks are replaced by `?`.
  package static func drawable(_ text: String) -> String {
    String(
      decoding: text.unicodeScalars.map { (32...126).contains($0.value) ? UInt8($0.value) : 63 },
      as: UTF8.self)
  }
}
