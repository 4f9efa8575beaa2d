import SystemModule

/// The constants of preprocessing; they belong to a model and come from its `config.json`.
package struct PreprocessingConfiguration: Sendable, Equatable {
  /// How a corrected value is rounded before it is normalised.
  package enum Rounding: String, Sendable, CaseIterable {
    /// `floor(v * gain + 0.5)`, clipped to 0...255.
    case round
    /// `floor(v * gain)`, clipped to 0...255.
    case truncate
    /// `v * gain`, clipped to 0...255, with its fraction.
    case none
  }

  /// How the colour of the light is taken out.
  package enum ColorConstancy: Sendable, Equatable {
    /// Not at all.
    case none
    /// Shades of Gray: the Minkowski `p`-means of the channels are made equal. `p` is positive; 6 is usual.
    case shadesOfGray(p: Double, rounding: Rounding)

    /// What Shades of Gray works with, where it is used.
    package var shadesOfGray: (p: Double, rounding: Rounding)? {
      if case .shadesOfGray(let p, let rounding) = self { (p, rounding) } else { nil }
    }
  }

  /// The side of the network's square input, in pixels.
  package var size: Int

  /// How the colour of the light is taken out of the resized image.
  package var colorConstancy: ColorConstancy

  /// Subtracted from red, green and blue (0...1): 3 values.
  package var mean: [Double]

  /// Divides red, green and blue after that: 3 positive values.
  package var standardDeviation: [Double]

  /// How the image becomes a square.
  package var framing: Framing

  /// How pixels are weighted when the image is resized.
  package var interpolation: Interpolation

  /// Takes the constants as they are; a size below 1, or other than 3 means and deviations, is a programming error.
  package init(
    size: Int, colorConstancy: ColorConstancy, mean: [Double], standardDeviation: [Double],
    framing: Framing = .square, interpolation: Interpolation = .bilinear
  ) {
    precondition(size > 0, "a size of \(size)")
    precondition(
      mean.count == 3 && standardDeviation.count == 3,
      "\(mean.count) means and \(standardDeviation.count) standard deviations for 3 channels")
    self.size = size
    self.colorConstancy = colorConstancy
    self.mean = mean
    self.standardDeviation = standardDeviation
    self.framing = framing
    self.interpolation = interpolation
  }

  /// What a large image may be reduced to while it is decoded, equal to the bit to what comes of the whole: the centre
  /// square at the network's size, resized bilinearly.
  package var keepsCentreSquare: Bool { framing == .square && interpolation == .bilinear }

  /// The colour of what an image does not cover, which the mean makes 0 or almost 0.
  var fill: [UInt8] { mean.map { UInt8(min(max((255 * $0).rounded(.toNearestOrEven), 0), 255)) } }
}

/// The stages of preprocessing, in order; the raw values are the names that users and fixtures know.
package enum PreprocessingStage: String, Sendable, CaseIterable {
  /// The file's pixels, upright: uint8 `[H, W, 3]`.
  case decoded
  /// What the network sees of the image, at the image's own resolution: uint8 `[S, S, 3]`. The centre square, S = min(W, H), or
  /// what ``Framing/timm(_:share:)`` makes of it.
  case cropped
  /// Resized to the network's size: uint8 `[size, size, 3]`.
  case resized
  /// After colour constancy: uint8 `[size, size, 3]`.
  case constancy
  /// The network's input: float32 `[3, size, size]`.
  case normalized
}

/// Turns a decoded image into a network's input: crop and resize, colour constancy, normalisation.
package struct Preprocessor: Sendable {
  /// The shortest side, in pixels, that is accepted.
  package static let minimumSide = 32

  /// Below this side, in pixels, the result carries ``ClassificationWarning/smallImage``.
  package static let smallImageSide = 100

  /// The constants that this preprocessor applies.
  package let configuration: PreprocessingConfiguration

  /// Makes a preprocessor for one model's constants.
  package init(_ configuration: PreprocessingConfiguration) {
    self.configuration = configuration
  }

  /// Checks that an image is large enough to be classified.
  ///
  /// - Throws: ``DermaFusionError/tooSmall(width:height:minimumSide:)`` when a side is under ``minimumSide``.
  package static func requireSize(width: Int, height: Int) throws(DermaFusionError) {
    guard min(width, height) >= minimumSide else {
      throw .tooSmall(width: width, height: height, minimumSide: minimumSide)
    }
  }

  /// Runs every stage on an image.
  ///
  /// - Throws: ``DermaFusionError/tooSmall(width:height:minimumSide:)`` when a side is under ``minimumSide``.
  package func callAsFunction(_ image: PixelImage) throws(DermaFusionError) -> PreprocessedImage {
    try self(DecodedImage(image))
  }

  /// Runs every stage that the decoder has not run on an image.
  ///
  /// - Throws: ``DermaFusionError/tooSmall(width:height:minimumSide:)`` when a side is under ``minimumSide``.
  package func callAsFunction(_ image: DecodedImage) throws(DermaFusionError) -> PreprocessedImage {
    try Self.requireSize(width: image.width, height: image.height)
    let (kept, size) = (image.pixels, configuration.size)
    precondition(
      image.isWhole
        || (configuration.keepsCentreSquare && kept.width == size && kept.height == size),
      "a square of \(kept.width)x\(kept.height) for a network of \(size)")
    let resized = image.isWhole ? configuration.square(of: kept, size: size) : kept

    var warnings: [ClassificationWarning] = image.damage == nil ? [] : [.damagedFile]
    if image.isResampled { warnings.append(.pixelsResampled) }
    if min(image.width, image.height) < Self.smallImageSide { warnings.append(.smallImage) }
    var levels = ShadesOfGray.identityLevels
    if let (p, rounding) = configuration.colorConstancy.shadesOfGray {
      let correction = ShadesOfGray.correctedLevels(of: resized, p: p, rounding: rounding)
      levels = correction.levels
      warnings += correction.warnings
    }
    return PreprocessedImage(
      source: image, resized: resized, levels: levels, warnings: warnings, configuration: configuration)
  }
}

extension PreprocessingConfiguration {
  /// What the network sees of an image, `size` pixels wide.
  func square(of image: PixelImage, size: Int) -> PixelImage {
    let frame = framing.frame(width: image.width, height: image.height, size: size)
    return ImageResizer.resize(image, frame, interpolation: interpolation, fill: fill)
  }
}

/// Shades of Gray colour constancy (Finlayson and Trezzi, 2004) of 8-bit RGB, in Double.
enum ShadesOfGray {
  /// The corrected value, 0...255, of every level of red, green and blue: `[3][256]`. The warnings say why nothing is
  /// corrected, and are empty otherwise.
  static func correctedLevels(
    of image: PixelImage, p: Double, rounding: PreprocessingConfiguration.Rounding
  ) -> (levels: [[Double]], warnings: [ClassificationWarning]) {
    let histograms = histograms(of: image)
    let pixelCount = Double(image.width * image.height)
    let powers = (0..<256).map { Mathematics.pow(Double($0), p) }
    let means = histograms.map { counts in
      var total = 0.0
      for level in 0..<256 { total += Double(counts[level]) * powers[level] }
      return Mathematics.pow(total / pixelCount, 1 / p)
    }

    var warnings: [ClassificationWarning] = []
    if histograms.allSatisfy(isSolid) { warnings.append(.solidColor) }
    if means.contains(where: { $0 < 1 }) { warnings.append(.nearBlack) }
    guard warnings.isEmpty else { return (identityLevels, warnings) }

    let gray = (means[0] + means[1] + means[2]) / 3
    let levels = means.map { mean in
      let gain = gray / mean
      return (0..<256).map { level in
        let corrected = Double(level) * gain
        let rounded =
          switch rounding {
          case .round: (corrected + 0.5).rounded(.down)
          case .truncate: corrected.rounded(.down)
          case .none: corrected
          }
        return min(max(rounded, 0), 255)
      }
    }
    return (levels, [])
  }

  /// Every level as it is: `[3][256]`.
  static let identityLevels = [[Double]](repeating: (0..<256).map(Double.init), count: 3)

  fileprivate static func isSolid(_ counts: [Int]) -> Bool { span(of: counts) < 2 }

  private static func span(of counts: [Int]) -> Int {
    guard let lowest = counts.firstIndex(where: { $0 > 0 }), let highest = counts.lastIndex(where: { $0 > 0 })
    else {
      return 0
    }
    return highest - lowest
  }

  fileprivate static func histograms(of image: PixelImage) -> [[Int]] {
    var counts = [UInt32](repeating: 0, count: 3 * 256)
    counts.withUnsafeMutableBufferPointer { counts in
      image.pixels.withUnsafeBufferPointer { pixels in
        for start in stride(from: 0, to: pixels.count, by: 3) {
          counts[Int(pixels[start])] &+= 1
          counts[256 + Int(pixels[start + 1])] &+= 1
          counts[512 + Int(pixels[start + 2])] &+= 1
        }
      }
    }
    return (0..<3).map { channel in counts[channel * 256..<channel * 256 + 256].map(Int.init) }
  }
}

extension PixelImage {
  /// Whether every channel spans less than two levels.
  package var isSolid: Bool { ShadesOfGray.histograms(of: self).allSatisfy(ShadesOfGray.isSolid) }
}
