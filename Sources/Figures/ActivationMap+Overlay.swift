import DermaFusion
import ImagePipeline

extension ActivationMap {
  /// The map laid over the image it explains, at the image's own resolution: `(1 - alpha) * photograph + alpha * colour`.
  ///
  /// A map whose status is not ``Status/ok`` has nothing to show: the photograph is returned as it is.
  ///
  /// - Parameters:
  ///   - cropped: the centre square that the model saw; see ``Explanation/cropped``.
  ///   - alpha: 0 (photograph only) ... 1 (colours only).
  /// - Precondition: `cropped` is square and `alpha` in its range.
  public func overlay(on cropped: PixelImage, colorMap: ColorMap = .inferno, alpha: Double = 0.5)
    -> PixelImage
  {
    precondition(
      cropped.width == cropped.height, "an overlay on \(cropped.width)x\(cropped.height), which is no square")
    precondition((0...1).contains(alpha), "an alpha of \(alpha)")
    return status == .ok
      ? cropped.overlaid(with: values(side: cropped.width), colorMap: colorMap, alpha: alpha) : cropped
  }
}
