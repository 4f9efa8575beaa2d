/// Turns a decoded image into a network's input: centre crop, resize, colour constancy, normalisation.
package struct Preprocessor: Sendable {
  /// The shortest side, in pixels, that is accepted.
  package static let minimumSide = 32

  /// Below this side, in pixels, the result carries ``ImageWarning/smallImage``.
  package static let smallImageSide = 100

  /// The constants that this preprocessor applies.
  package let configuration: PreprocessingConfiguration

  /// Makes a preprocessor for one model's constants.
  package init(_ configuration: PreprocessingConfiguration) {
    self.configuration = configuration
  }

  /// Runs every stage on an image.
  ///
  /// - Throws: ``ImageError/tooSmall(width:height:minimumSide:)`` when a side is under ``minimumSide``.
  package func callAsFunction(_ image: PixelImage) throws(ImageError) -> PreprocessedImage {
    let side = min(image.width, image.height)
    guard side >= Self.minimumSide else {
      throw .tooSmall(width: image.width, height: image.height, minimumSide: Self.minimumSide)
    }
    let square = BilinearResizer.Region(
      left: (image.width - side) / 2, top: (image.height - side) / 2, width: side, height: side)
    let resized = BilinearResizer.resize(
      image, region: square, width: configuration.size, height: configuration.size)

    var warnings: [ImageWarning] = side < Self.smallImageSide ? [.smallImage] : []
    var levels = ShadesOfGray.identityLevels
    if case .shadesOfGray(let p, let rounding) = configuration.colorConstancy {
      let correction = ShadesOfGray.correctedLevels(of: resized, p: p, rounding: rounding)
      levels = correction.levels
      warnings += correction.warnings
    }
    return PreprocessedImage(
      decoded: image, square: square, resized: resized, levels: levels, warnings: warnings,
      configuration: configuration)
  }
}
