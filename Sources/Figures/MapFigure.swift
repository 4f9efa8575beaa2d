import DermaFusion
import ImagePipeline

/// Heatmaps over a photograph, with a heading, a colour bar and a caption: one map at the photograph's own resolution, or
/// several as a contact sheet beside the photograph.
package struct MapFigure {
  package struct Map {
    /// The lines under it in a contact sheet: large, then smaller ones.
    let title: String
    let lines: [String]
    /// True if a contact sheet frames it.
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
  /// The meaning of the values, along the colour bar.
  let scaleLabel: String
  let style: FigureStyle

  /// - Parameters:
  ///   - photograph: A square.
  ///   - maps: At least one.
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
  ///   - values: `[height, width]` of the photograph, 0...1, at most `peak`; nil: there is nothing to show.
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

/// The form of an explanation's drawing.
public struct FigureStyle: Sendable, Equatable {
  /// The way a map lies over its photograph.
  public enum Form: String, Sendable, CaseIterable {
    /// The opacity follows the map, so that the photograph stays itself where the map is 0; the map is smooth, lies where
    /// the network looks, and has contour lines at a quarter, half and three quarters.
    case contours
    /// As the PyPI package `grad-cam` draws it: one opacity everywhere, and the map stretched over the image.
    case classic
  }

  /// The meaning of 1 in a figure of several maps.
  public enum Scale: String, Sendable, CaseIterable {
    /// The strongest place of all maps: they can be compared.
    case shared
    /// The strongest place of each map.
    case each
  }

  /// The way a map lies over its photograph.
  public let form: Form
  /// The colours of the map.
  public let colorMap: ColorMap
  /// The opacity of the colours, 0 (photograph only) ... 1 (colours only): of the colour of 1 in ``Form/contours``, of all
  /// in ``Form/classic``.
  public let alpha: Double
  /// The meaning of 1 in a figure of several maps. Maps of ``Form/classic`` have a scale each.
  public let scale: Scale
  /// True if the photograph is shown beside the map.
  public let isSideBySide: Bool
  /// The language of the texts in the figure. The disclaimer stands in English too.
  public var language = Language.english

  /// A style of a figure.
  ///
  /// - Parameters:
  ///   - form: how the map lies over its photograph.
  ///   - colorMap: nil: ``ColorMap/inferno``, or ``ColorMap/jet`` in ``Form/classic``.
  ///   - alpha: nil: 0.65, or 0.5 in ``Form/classic``.
  ///   - scale: the scale of several maps; ignored in ``Form/classic``.
  ///   - isSideBySide: whether the photograph is shown beside the map.
  /// - Precondition: `alpha` is in 0...1.
  public init(
    _ form: Form = .contours, colorMap: ColorMap? = nil, alpha: Double? = nil, scale: Scale = .each,
    isSideBySide: Bool = false
  ) {
    let isClassic = form == .classic
    let alpha = alpha ?? (isClassic ? 0.5 : 0.65)
    precondition((0...1).contains(alpha), "an alpha of \(alpha)")
    self.form = form
    self.colorMap = colorMap ?? (isClassic ? .jet : .inferno)
    self.alpha = alpha
    self.scale = isClassic ? .each : scale
    self.isSideBySide = isSideBySide
  }
}

extension FigureStyle {
  /// Parts of a map's greatest value that contour lines are drawn at.
  static let contourLevels: [Float] = [0.25, 0.5, 0.75]

  /// Colours from 0 to 1 as they are mixed with a photograph's mean colour: `rgb(12 34 56)`, 33 of them.
  package func ramp(over photograph: PixelImage) -> [String] {
    let ground = photograph.meanColor
    return (0...32).map { index in
      let color = mixedColor(step: index * 255 / 32, over: ground)
      return "rgb(\(color.red) \(color.green) \(color.blue))"
    }
  }

  /// The colour of a step of the colour map, 0...255, over another colour.
  func mixedColor(step: Int, over ground: FigureColor) -> FigureColor {
    let colors = colorMap.table
    let color = FigureColor(colors[step * 3], colors[step * 3 + 1], colors[step * 3 + 2])
    let share = form == .classic ? Float(alpha) : Float(alpha) * Float(step) / 255
    return color.mixed(with: ground, share: share)
  }
}
