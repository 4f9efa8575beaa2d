/// How an explanation is drawn.
public struct FigureStyle: Sendable, Equatable {
  /// The colours of the map.
  public let colorMap: ColorMap
  /// 0 (photograph only) ... 1 (colours only).
  public let alpha: Double
  /// Whether the photograph is shown beside the map.
  public let isSideBySide: Bool

  /// - Precondition: `alpha` is in 0...1.
  public init(colorMap: ColorMap = .inferno, alpha: Double = 0.5, isSideBySide: Bool = false) {
    precondition((0...1).contains(alpha), "an alpha of \(alpha)")
    self.colorMap = colorMap
    self.alpha = alpha
    self.isSideBySide = isSideBySide
  }
}
