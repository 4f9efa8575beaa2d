import DermaFusion
import ImagePipeline

extension ActivationMap {
  /// The map laid over the image it explains, at the image's own resolution: `(1 - alpha) * photograph + alpha * colour`.
  ///
  /// A map whose status is not ``Status/ok`` has nothing to show: the photograph is returned as it is.
  ///
  /// - Parameters:
  ///   - cropped: the centre square that the model saw; see ``Explanation/cropped``.
  ///   - colorMap: the colours of the map.
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

extension PixelImage {
  /// Colours laid over the image: `(1 - alpha) * image + alpha * colour` of values in 0...1, `[height, width]`.
  package func overlaid(with values: [Float], colorMap: ColorMap, alpha: Double) -> PixelImage {
    precondition(values.count == width * height, "\(values.count) values over \(width)x\(height)")
    let colors = colorMap.table
    let share = Int((alpha * 256).rounded())
    var pixels = pixels
    for pixel in values.indices {
      let color = min(Int(values[pixel] * 256), 255) * 3
      for channel in 0..<3 {
        let place = pixel * 3 + channel
        let sum = Int(pixels[place]) * (256 - share) + Int(colors[color + channel]) * share + 128
        pixels[place] = UInt8(sum >> 8)
      }
    }
    return PixelImage(width: width, height: height, pixels: pixels)
  }

  /// Colours laid over the image, the more opaque the greater the value: `(1 - alpha * v) * image + alpha * v * colour(v)` of
  /// values in 0...1, `[height, width]`. The image stays itself where a value is 0.
  package func blended(with values: [Float], colorMap: ColorMap, alpha: Double) -> PixelImage {
    precondition(values.count == width * height, "\(values.count) values over \(width)x\(height)")
    let colors = colorMap.table
    var pixels = pixels
    for pixel in values.indices {
      let step = Self.step(of: values[pixel])
      let share = Self.share(step: step, alpha: alpha)
      for channel in 0..<3 {
        let place = pixel * 3 + channel
        let sum = Int(pixels[place]) * (65536 - share) + Int(colors[step * 3 + channel]) * share + 32768
        pixels[place] = UInt8(sum >> 16)
      }
    }
    return PixelImage(width: width, height: height, pixels: pixels)
  }

  /// The index in a colour map's table, 0...255.
  static func step(of value: Float) -> Int { min(max(Int(value * 255 + 0.5), 0), 255) }

  /// The opacity of a step in 65536ths.
  static func share(step: Int, alpha: Double) -> Int { Int(alpha * Double(step) / 255 * 65536 + 0.5) }

  var meanColor: FigureColor {
    // The sums of a large photograph do not fit into 32 bits, which Int has on wasm32.
    var sums: (UInt64, UInt64, UInt64) = (0, 0, 0)
    for place in stride(from: 0, to: pixels.count, by: 3) {
      sums.0 += UInt64(pixels[place])
      sums.1 += UInt64(pixels[place + 1])
      sums.2 += UInt64(pixels[place + 2])
    }
    let area = UInt64(width) * UInt64(height)
    return FigureColor(UInt8(sums.0 / area), UInt8(sums.1 / area), UInt8(sums.2 / area))
  }

  /// White lines with a dark edge, `thickness` pixels wide, where the values pass a level: `[height, width]`, smooth.
  package func contoured(_ values: [Float], levels: [Float], thickness: Float) -> PixelImage {
    precondition(values.count == width * height, "\(values.count) values over \(width)x\(height)")
    var pixels = pixels
    // The distance to a line is the difference of the values over their slope. Where it is flat there is no line to tell:
    // the slope of a map that goes from 0 to 1 across the image's whole side.
    let leastSlope = 1 / Float(max(width, height))
    for y in 0..<height {
      let (above, below) = (max(y - 1, 0) * width, min(y + 1, height - 1) * width)
      for x in 0..<width {
        let value = values[y * width + x]
        var distance = Float.infinity
        for level in levels { distance = min(distance, abs(value - level)) }
        if distance > 0.25 { continue }
        let across = (values[y * width + min(x + 1, width - 1)] - values[y * width + max(x - 1, 0)]) / 2
        let down = (values[below + x] - values[above + x]) / 2
        distance /= max((across * across + down * down).squareRoot(), leastSlope)
        let edge = min(max(thickness * 1.35 + 0.5 - distance, 0), 1) * 0.4
        let line = min(max(thickness / 2 + 0.5 - distance, 0), 1) * 0.95
        if edge == 0 { continue }
        for place in (y * width + x) * 3..<(y * width + x) * 3 + 3 {
          let dark = Float(pixels[place]) * (1 - edge)
          pixels[place] = UInt8(dark + (255 - dark) * line + 0.5)
        }
      }
    }
    return PixelImage(width: width, height: height, pixels: pixels)
  }
}
