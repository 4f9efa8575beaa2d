import ImagePipeline
import SystemModule

/// The layout of a TIFF file's picture, and the meaning of its samples: those of the kinds in Pillow's `TiffImagePlugin` that
/// have 16 bits or fewer.
struct TIFFLayout {
  enum Color: Equatable {
    case grey(isInverted: Bool)
    case rgb
    /// Red, green and blue that were multiplied by the fourth sample.
    case premultiplied
    case palette
    case cmyk
    case ycbcr
  }

  let width: Int
  let height: Int
  let orientation: Orientation
  let compression: Int
  let color: Color
  let bits: Int
  /// Stored for each pixel.
  let samples: Int
  /// Each sample in a plane of its own.
  let isPlanar: Bool
  /// Bits of a byte run from the lowest.
  let isReversed: Bool
  /// Red, green and blue of each index.
  let palette: [UInt8]
  /// The strips or tiles, and their size.
  let isTiled: Bool
  let partWidth: Int
  let partHeight: Int
  /// True if libtiff itself makes red, green and blue of it, for subsampled colour.
  let isReadAsRGBA: Bool
  let isBigEndian: Bool
  /// The place of the directory, if it is not the file's first.
  let directoryOffset: Int?
  private let directory: TIFFDirectory

  /// Its pictures, and the profile of this one.
  var facts: FileFacts {
    var facts = directory.facts
    if case .grey = color { return facts }
    facts.profile = directory.bytes(34675).flatMap {
      $0.withUnsafeBytes { ColorProfile.foreignName(icc: $0) }
    }
    return facts
  }

  var partCount: Int { directory.count(partTag) }

  /// The place of a strip or tile; nil where the file does not tell.
  func offset(ofPart index: Int) -> Int? { directory.integer(partTag, at: index) }

  private var partTag: Int { isTiled ? 324 : 273 }

  /// The number of samples that the colour is made of; they come first.
  var usedSamples: Int {
    switch color {
    case .grey, .palette: 1
    case .rgb, .ycbcr: 3
    case .premultiplied, .cmyk: 4
    }
  }

  /// The library unpacks everything but plain bytes.
  var isCompressed: Bool { compression != 1 }

  static let jpeg = 7

  init(_ directory: TIFFDirectory) throws(DermaFusionError) {
    self.directory = directory
    directoryOffset = directory.offset
    guard let width = directory.integer(256), let height = directory.integer(257), width > 0, height > 0,
      width < 1 << 31, height < 1 << 31
    else { throw .corrupt(.tiff, reason: "it has no size") }
    self.width = width
    self.height = height
    isBigEndian = directory.reader.isBigEndian
    compression = directory.integer(259) ?? 1
    isReversed = directory.integer(266) == 2
    orientation =
      if let stated = directory.integer(274) {
        Orientation(rawValue: stated) ?? .upright
      } else {
        Orientation(exif: nil, xmp: directory.bytes(700))
      }

    let isOldJPEG = compression == 6
    let photometric = isOldJPEG ? 6 : directory.integer(262) ?? 0
    var extra = directory.integers(338) ?? []
    var samples = directory.integer(277) ?? (isOldJPEG ? 3 : 1)
    let stored = samples
    isPlanar = directory.integer(284) == 2 && samples > 1
    if isPlanar, !extra.isEmpty, extra.allSatisfy({ $0 == 0 }) {
      samples -= extra.count
      extra = []
    }
    let allBits = directory.integers(258) ?? [1]
    guard samples > 0, let bits = allBits.first, allBits.prefix(samples).allSatisfy({ $0 == bits }) else {
      throw .unsupportedVariant(.tiff, reason: "samples of different numbers of bits")
    }
    let formats = directory.integers(339) ?? [1]
    let isSigned = formats.allSatisfy { $0 == 2 }
    // Pillow takes signed bytes as they are.
    guard formats.allSatisfy({ $0 == 1 }) || (isSigned && bits == 8 && samples == 1) else {
      throw .unsupportedVariant(
        .tiff, reason: isSigned ? "signed samples" : "samples that are not whole numbers")
    }
    self.bits = bits
    self.samples = isPlanar ? stored : samples
    color = try Self.color(
      photometric: photometric, bits: bits, samples: samples, extra: extra, isPlanar: isPlanar,
      isCompressed: compression != 1)
    let colors = color == .palette ? directory.integers(320) : nil
    if color == .palette {
      guard let colors, colors.count >= 3 else { throw .corrupt(.tiff, reason: "the palette is missing") }
    }
    palette = colors.map(Self.palette) ?? []

    let isPlain = compression == 1
    let subsampling = directory.integers(530) ?? (isPlain ? [1, 1] : [2, 2])
    isReadAsRGBA =
      color == .ycbcr
      && (isPlain
        ? subsampling != [1, 1] : compression != Self.jpeg || isPlanar)
    isTiled = directory.integer(322) != nil
    partWidth = isTiled ? directory.integer(322) ?? 0 : width
    partHeight = isTiled ? directory.integer(323) ?? 0 : min(directory.integer(278) ?? height, height)
    guard partWidth > 0, partHeight > 0, partWidth < 1 << 31, partHeight < 1 << 31 else {
      throw .corrupt(.tiff, reason: "strips or tiles of no size")
    }
    guard directory.integer(isTiled ? 324 : 273) != nil || isOldJPEG else {
      throw .corrupt(.tiff, reason: "it has neither strips nor tiles")
    }
    if isReversed, bits > 8, !isCompressed {
      throw .unsupportedVariant(.tiff, reason: "\(bits)-bit samples in reversed order")
    }
  }

  private static func color(
    photometric: Int, bits: Int, samples: Int, extra: [Int], isPlanar: Bool, isCompressed: Bool
  ) throws(DermaFusionError) -> Color {
    let colors = samples - extra.count
    switch (photometric, bits) {
    case (0...1, 1), (0...1, 2), (0...1, 4), (0...1, 8), (0...1, 12), (0...1, 16):
      // Pillow leaves 16 bits as they are whichever end is white.
      let isInverted = photometric == 0 && bits != 16
      // Grey that was multiplied by its alpha is not read, as in Pillow.
      if samples == 1 || (bits >= 8 && bits != 12 && colors == 1 && samples == 2 && extra != [1]) {
        return .grey(isInverted: isInverted)
      }
    case (2, 8), (2, 16):
      // Four samples of which nobody says what the fourth is.
      if colors == 3 || (samples == 4 && extra.isEmpty) {
        if samples > 6 { break }
        // In planes, Pillow takes a fourth sample that nobody names for alpha by which the colours were multiplied.
        let isAlpha = isPlanar && isCompressed && extra.isEmpty && samples == 4
        return extra.first == 1 || isAlpha ? .premultiplied : .rgb
      }
    case (3, 1), (3, 2), (3, 4), (3, 8):
      if samples == 1 || (bits == 8 && colors == 1 && samples == 2) { return .palette }
    case (5, 8), (5, 16):
      if colors == 4, samples <= 6 { return .cmyk }
    case (6, 8):
      if samples == 1 { return .grey(isInverted: false) }
      if samples == 3 { return .ycbcr }
    default: break
    }
    throw .unsupportedVariant(
      .tiff, reason: "\(samples) samples of \(bits) bits in the photometric interpretation \(photometric)")
  }

  /// Red of all colours, then green, then blue, in 16 bits.
  private static func palette(_ colors: [Int]) -> [UInt8] {
    var palette = [UInt8](repeating: 0, count: 256 * 3)
    let count = colors.count / 3
    for index in 0..<min(count, 256) {
      for channel in 0..<3 {
        palette[index * 3 + channel] = UInt8(truncatingIfNeeded: colors[channel * count + index] >> 8)
      }
    }
    return palette
  }
}

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

  func rowBytes(width: Int) -> Int {
    (width * (layout.isPlanar ? 1 : layout.samples) * layout.bits + 7) / 8
  }

  /// Takes a row of a strip or tile, of which `width` pixels count; where samples lie in planes, those of one plane.
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
