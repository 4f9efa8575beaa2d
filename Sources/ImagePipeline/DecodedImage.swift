/// What a decoder made of a file: an upright image, or only its centre square at a network's size, and what was wrong with
/// the file.
package struct DecodedImage: Sendable {
  /// The number of columns of the upright image, whatever was kept of it.
  package let width: Int
  /// The number of rows of the upright image, whatever was kept of it.
  package let height: Int
  /// The whole image, `[height, width, 3]`, or the centre square of a large one, resized on the way: `[size, size, 3]`,
  /// equal to the bit to what a ``Preprocessor`` makes of the whole.
  package let pixels: PixelImage
  /// The centre square for a person to see, where a decoder was asked for it and keeps less than the whole image.
  let picture: PixelImage?
  /// Nil when the decoder found nothing wrong.
  package let damage: ImageDamage?
  /// What the file says about the patient; nil where it says nothing.
  package var patient: FilePatient?
  /// What the decoder holds for as long as the pixels are in use.
  private let reservation: (AnyObject & Sendable)?

  /// Whether every pixel was kept.
  package var isWhole: Bool { pixels.width == width && pixels.height == height }

  /// The whole of an image.
  package init(
    _ image: PixelImage, damage: ImageDamage? = nil, reservation: (AnyObject & Sendable)? = nil
  ) {
    self.init(
      square: image, width: image.width, height: image.height, damage: damage, reservation: reservation)
  }

  /// The centre square of an image of `width` x `height` pixels.
  package init(
    square: PixelImage, width: Int, height: Int, picture: PixelImage? = nil, damage: ImageDamage?,
    reservation: (AnyObject & Sendable)? = nil
  ) {
    self.width = width
    self.height = height
    pixels = square
    self.picture = picture
    self.damage = damage
    self.reservation = reservation
  }
}

/// What a decoder that made pixels of a damaged file says of it.
package struct ImageDamage: Sendable, Equatable {
  /// From this share of the image on a result would rest on invented pixels.
  package static let severeShare = 0.05

  /// The decoding library's words for the first fault.
  package let reason: String
  /// The share of the image, from 0 to 1, that may be other than what was stored; an upper bound.
  package let share: Double

  package init(reason: String, share: Double) {
    self.reason = reason
    self.share = share
  }

  /// Whether so much may be invented that nothing should be concluded from the image.
  package var isSevere: Bool { share >= Self.severeShare }
}

/// What an image file says about the patient.
package struct FilePatient: Sendable, Equatable {
  /// Within the ages that are accepted.
  package let ageInYears: Double?
  /// A sex by its name.
  package let sex: String?
  /// A site by its name.
  package let site: String?

  package init(ageInYears: Double? = nil, sex: String? = nil, site: String? = nil) {
    self.ageInYears = ageInYears
    self.sex = sex
    self.site = site
  }
}
