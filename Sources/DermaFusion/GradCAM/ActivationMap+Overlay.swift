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
    guard status == .ok else { return cropped }
    let values = values(side: cropped.width)
    let colors = colorMap.table
    let share = Int((alpha * 256).rounded())
    let pixels = [UInt8](unsafeUninitializedCapacity: cropped.pixels.count) { target, count in
      cropped.pixels.withUnsafeBufferPointer { photograph in
        colors.withUnsafeBufferPointer { colors in
          for pixel in values.indices {
            let color = min(Int(values[pixel] * 256), 255) * 3
            for channel in 0..<3 {
              let place = pixel * 3 + channel
              let blended =
                Int(photograph[place]) * (256 - share) + Int(colors[color + channel]) * share + 128
              target[place] = UInt8(blended >> 8)
            }
          }
        }
      }
      count = cropped.pixels.count
    }
    return PixelImage(width: cropped.width, height: cropped.height, pixels: pixels)
  }
}
