import ImagePipeline

/// How an explanation is drawn.
public struct FigureStyle: Sendable, Equatable {
  /// How a map lies over its photograph.
  public enum Form: String, Sendable, CaseIterable {
    /// The opacity follows the map, so that the photograph stays itself where the map is 0; the map is smooth, lies where
    /// the network looks, and has contour lines at a quarter, half and three quarters.
    case contours
    /// As the PyPI package `grad-cam` draws it: one opacity everywhere, and the map stretched over the image.
    case classic
  }

  /// What 1 is in a figure of several maps.
  public enum Scale: String, Sendable, CaseIterable {
    /// The strongest place of all maps: they can be compared.
    case shared
    /// The strongest place of each map.
    case each
  }

  /// How a map lies over its photograph.
  public let form: Form
  /// The colours of the map.
  public let colorMap: ColorMap
  /// The opacity of the colours, 0 (photograph only) ... 1 (colours only): of the colour of 1 in ``Form/contours``, of all
  /// in ``Form/classic``.
  public let alpha: Double
  /// What 1 is in a figure of several maps. Maps of ``Form/classic`` have a scale each.
  public let scale: Scale
  /// Whether the photograph is shown beside the map.
  public let isSideBySide: Bool

  /// - Parameters:
  ///   - colorMap: nil: ``ColorMap/inferno``, or ``ColorMap/jet`` in ``Form/classic``.
  ///   - alpha: nil: 0.65, or 0.5 in ``Form/classic``.
  /// - Precondition: `alpha` is in 0...1.
  public init(
    _ form: Form = .contours, colorMap: ColorMap? = nil, alpha: Double? = nil, scale: Scale = .shared,
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
