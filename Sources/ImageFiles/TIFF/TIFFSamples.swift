import ImagePipeline

/// The samples of a TIFF image in 8 bits, `[height, width, used samples]`, as its strips and tiles come in.
struct TIFFSamples {
  private let layout: TIFFLayout
  private let used: Int
  private(set) var values: [UInt8]

  init(_ layout: TIFFLayout) {
    self.layout = layout
    used = layout.usedSamples
    values = [UInt8](repeating: 0, count: layout.width * layout.height * used)
  }

  /// Bytes of a row of so many pixels.
  func rowBytes(width: Int) -> Int {
    (width * (layout.isPlanar ? 1 : layout.samples) * layout.bits + 7) / 8
  }

  /// Takes a row of a strip or tile.
  ///
  /// - Parameters:
  ///   - row: at least ``rowBytes(width:)`` bytes.
  ///   - width: how many of its pixels count.
  ///   - plane: the sample that it holds where samples lie in planes.
  ///   - isBigEndian: of 16-bit samples.
  mutating func add(
    _ row: UnsafeRawBufferPointer, x: Int, y: Int, width: Int, plane: Int, isBigEndian: Bool,
    isReversed: Bool
  ) {
    let (bits, stored) = (layout.bits, layout.isPlanar ? 1 : layout.samples)
    let samples = layout.isPlanar ? plane..<plane + 1 : 0..<used
    guard samples.upperBound <= used else { return }
    if bits == 8, stored == used, !isReversed {
      values.withUnsafeMutableBytes { values in
        values.baseAddress?.advanced(by: (y * layout.width + x) * used)
          .copyMemory(from: row.baseAddress!, byteCount: width * used)
      }
      return
    }
    let isIndex = layout.color == .palette
    let start = (y * layout.width + x) * used
    values.withUnsafeMutableBufferPointer { values in
      for pixel in 0..<width {
        for sample in samples {
          let index = pixel * stored + sample - samples.lowerBound
          values[start + pixel * used + sample] =
            switch bits {
            case 8: isReversed ? row[index].reversed : row[index]
            case 16: row[index * 2 + (isBigEndian ? 0 : 1)]
            case 12: Self.highByte(of: row, at: index)
            default: Self.value(of: row, at: index, bits: bits, isIndex: isIndex, isReversed: isReversed)
            }
        }
      }
    }
  }

  /// Two samples of 12 bits lie in three bytes.
  private static func highByte(of row: UnsafeRawBufferPointer, at index: Int) -> UInt8 {
    let byte = index / 2 * 3
    return index % 2 == 0 ? row[byte] : row[byte + 1] << 4 | row[byte + 2] >> 4
  }

  private static func value(
    of row: UnsafeRawBufferPointer, at index: Int, bits: Int, isIndex: Bool, isReversed: Bool
  ) -> UInt8 {
    let byte = isReversed ? row[index * bits / 8].reversed : row[index * bits / 8]
    let most = UInt8(1 << bits - 1)
    let value = byte >> UInt8(8 - bits - index * bits % 8) & most
    return isIndex ? value : value * (255 / most)
  }

  /// The image that the samples make, by Pillow's arithmetic.
  func image() -> PixelImage {
    PixelImage(width: layout.width, height: layout.height) { rgb in
      for pixel in 0..<layout.width * layout.height {
        let from = pixel * used
        let to = rgb + pixel * 3
        switch layout.color {
        case .grey(let isInverted):
          let value = isInverted ? 255 - values[from] : values[from]
          for channel in 0..<3 { to[channel] = value }
        // libjpeg has made the colours of a compressed one.
        case .ycbcr where layout.isCompressed, .rgb:
          for channel in 0..<3 { to[channel] = values[from + channel] }
        case .palette:
          for channel in 0..<3 { to[channel] = layout.palette[Int(values[from]) * 3 + channel] }
        case .premultiplied:
          let alpha = Int(values[from + 3])
          for channel in 0..<3 {
            to[channel] = alpha == 0 ? 0 : UInt8(min(255, Int(values[from + channel]) * 255 / alpha))
          }
        case .cmyk:
          let notBlack = 255 - Int(values[from + 3])
          for channel in 0..<3 {
            let product = Int(values[from + channel]) * notBlack + 128
            to[channel] = UInt8(notBlack - ((product >> 8) + product) >> 8)
          }
        case .ycbcr:
          (to[0], to[1], to[2]) = Self.rgb(values[from], values[from + 1], values[from + 2])
        }
      }
    }
  }

  /// As Pillow's tables, which hold the products in 64ths, plus a half and cut off.
  private static func rgb(_ y: UInt8, _ blue: UInt8, _ red: UInt8) -> (UInt8, UInt8, UInt8) {
    let (y, b, r) = (Int(y), Int(blue) - 128, Int(red) - 128)
    func product(_ value: Int, _ factor: Double) -> Int {
      Int(Double(value) * factor * 64 + 0.5)
    }
    func limited(_ value: Int) -> UInt8 { UInt8(max(0, min(255, value))) }
    return (
      limited(y + product(r, 1.402) >> 6), limited(y + (product(b, -0.34414) + product(r, -0.71414)) >> 6),
      limited(y + product(b, 1.772) >> 6)
    )
  }
}

extension UInt8 {
  /// With the bits in the opposite order.
  fileprivate var reversed: UInt8 {
    var (rest, result) = (self, UInt8(0))
    for _ in 0..<8 {
      result = result << 1 | rest & 1
      rest >>= 1
    }
    return result
  }
}
