import SystemModule

/// Turns a decoded image into a network's input: crop and resize, colour constancy, normalisation.
package struct Preprocessor: Sendable {
  /// The shortest side, in pixels, that is accepted.
  package static let minimumSide = 32

  /// Below this side, in pixels, the result carries ``ClassificationWarning/smallImage``.
  package static let smallImageSide = 100

  package let configuration: PreprocessingConfiguration

  package init(_ configuration: PreprocessingConfiguration) {
    self.configuration = configuration
  }

  /// Checks that no side is under ``minimumSide``.
  package static func requireSize(width: Int, height: Int) throws(DermaFusionError) {
    guard min(width, height) >= minimumSide else {
      throw .tooSmall(width: width, height: height, minimumSide: minimumSide)
    }
  }

  package func callAsFunction(_ image: PixelImage) throws(DermaFusionError) -> PreprocessedImage {
    try self(DecodedImage(image))
  }

  /// Runs every stage that the decoder has not run on an image.
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
    warnings += ClassificationWarning.allCases.filter { image.details[$0] != nil }
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
  /// The part of an image that the network sees, `size` pixels wide.
  func square(of image: PixelImage, size: Int) -> PixelImage {
    let frame = framing.frame(width: image.width, height: image.height, size: size)
    return ImageResizer.resize(image, frame, interpolation: interpolation, fill: fill)
  }
}
