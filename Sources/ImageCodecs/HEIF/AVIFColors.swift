import ImagePipeline

/// Red, green and blue from luminance and halved colours as libavif makes them by libyuv: the colours are interpolated in
/// 16ths, and the products are in 64ths.
struct AVIFColors {
  /// 8-bit values that libheif holds.
  struct Plane {
    let start: UnsafePointer<UInt8>
    let width: Int
    let height: Int
    let stride: Int
  }

  private let luminance: Int
  private let offset: Int
  private let redFromRed: Int
  private let greenFromBlue: Int
  private let greenFromRed: Int
  private let blueFromBlue: Int

  /// - Parameter matrix: its number in ITU-T H.273; nil for one that is not used for photographs.
  init?(matrix: Int, isFullRange: Bool) {
    let (red, blue): (Double, Double)
    switch matrix {
    case 1: (red, blue) = (0.2126, 0.0722)
    case 2, 5, 6: (red, blue) = (0.299, 0.114)
    case 9: (red, blue) = (0.2627, 0.0593)
    default: return nil
    }
    let green = 1 - red - blue
    // In the limited range luminance is 16...235 and colour 16...240.
    let scale = isFullRange ? 64 : 64 * 255.0 / 224
    func factor(_ value: Double) -> Int { Int((value * scale).rounded()) }
    (luminance, offset) = isFullRange ? (16320, 32) : (18997, -1160)
    redFromRed = factor(2 * (1 - red))
    greenFromBlue = factor(2 * (1 - blue) * blue / green)
    greenFromRed = factor(2 * (1 - red) * red / green)
    blueFromBlue = factor(2 * (1 - blue))
  }

  /// - Parameter planes: luminance, and blue and red of half its size, rounded up.
  func image(_ planes: [Plane]) -> PixelImage {
    let (width, height) = (planes[0].width, planes[0].height)
    return PixelImage(width: width, height: height) { rgb in
      for y in 0..<height {
        for x in 0..<width {
          let light = (Int(planes[0].start[y * planes[0].stride + x]) * 0x0101 * luminance) >> 16
          let blue = Self.interpolated(planes[1], x, y, isLast: x == width - 1) - 128
          let red = Self.interpolated(planes[2], x, y, isLast: x == width - 1) - 128
          let pixel = rgb + (y * width + x) * 3
          pixel[0] = Self.limited(light + redFromRed * red + offset)
          pixel[1] = Self.limited(light - greenFromBlue * blue - greenFromRed * red + offset)
          pixel[2] = Self.limited(light + blueFromBlue * blue + offset)
        }
      }
    }
  }

  /// A luminance of the limited range as libavif spreads it where there are no colours.
  static func fullRange(_ value: Int) -> UInt8 {
    let level = max(16, min(235, value)) - 16
    return UInt8((level * 255 + 109) / 219)
  }

  private static func limited(_ value: Int) -> UInt8 { UInt8(max(0, min(255, value >> 6))) }

  /// Three parts of the nearest value and one of the next, in both directions.
  private static func interpolated(_ plane: Plane, _ x: Int, _ y: Int, isLast: Bool) -> Int {
    let (nearX, nearY) = (x / 2, y / 2)
    // The last of an odd number of columns is not interpolated.
    let farX = isLast ? nearX : max(0, min(plane.width - 1, x % 2 == 0 ? nearX - 1 : nearX + 1))
    let farY = max(0, min(plane.height - 1, y % 2 == 0 ? nearY - 1 : nearY + 1))
    func value(_ x: Int, _ y: Int) -> Int { Int(plane.start[y * plane.stride + x]) }
    return (9 * value(nearX, nearY) + 3 * value(farX, nearY) + 3 * value(nearX, farY) + value(farX, farY) + 8)
      >> 4
  }
}
