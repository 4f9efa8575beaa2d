import ImagePipeline
import SystemModule

/// How a TIFF file's first image is stored, and what its samples mean: those of the kinds in Pillow's `TiffImagePlugin` that
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
  /// The strips or tiles: their size, and where they lie.
  let isTiled: Bool
  let partWidth: Int
  let partHeight: Int
  let offsets: [Int]
  /// Whether libtiff itself makes red, green and blue of it, for subsampled colour.
  let isReadAsRGBA: Bool
  let isBigEndian: Bool

  /// Of the samples, those that the colour is made of; they come first.
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
    guard let offsets = directory.integers(isTiled ? 324 : 273) ?? (isOldJPEG ? [] : nil) else {
      throw .corrupt(.tiff, reason: "it has neither strips nor tiles")
    }
    self.offsets = offsets
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
