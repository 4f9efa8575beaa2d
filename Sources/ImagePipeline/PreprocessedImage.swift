import SystemModule

/// The result of decoding a file: an upright image, or only its centre square at a network's size, and what was wrong with
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
  /// The file's words on the patient; nil where it says nothing.
  package var patient: FilePatient?
  /// True if the file's pixels are not square, and the decoder resampled them so that they are.
  package var isResampled = false
  /// Details of the file's warnings: how many pictures it holds, and its colour profile.
  package var details: [ClassificationWarning: String] = [:]
  /// The reservation that the decoder holds for as long as the pixels are in use.
  private let reservation: (AnyObject & Sendable)?

  /// The same with other pixels.
  ///
  /// - Precondition: every pixel was kept.
  package func mapped(_ transform: (PixelImage) -> PixelImage) -> DecodedImage {
    precondition(isWhole, "\(pixels.width)x\(pixels.height) of \(width)x\(height) pixels were kept")
    var image = DecodedImage(transform(pixels), damage: damage, reservation: reservation)
    (image.patient, image.isResampled, image.details) = (patient, isResampled, details)
    return image
  }

  /// True if every pixel was kept.
  package var isWhole: Bool { pixels.width == width && pixels.height == height }

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

/// A decoder's report on a damaged file that it made pixels of.
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

  /// True if so much may be invented that nothing should be concluded from the image.
  package var isSevere: Bool { share >= Self.severeShare }
}

/// An image file's words on the patient: those of DICOM.
package struct FilePatient: Sendable, Equatable {
  package var age = ""
  package var birthDate = ""
  /// The day on which the image was taken.
  package var date = ""
  package var sex = ""
  /// The regions of the body that it shows.
  package var regions: [String] = []
  package var bodyPart = ""

  package init() {}
}

/// An image after preprocessing, with every stage to look at. The resized image is stored. Each other stage is computed when
/// somebody reads it.
package struct PreprocessedImage: Sendable {
  private let source: DecodedImage

  /// The image as it was given, upright: `[height, width, 3]`.
  ///
  /// - Precondition: the decoder was asked for the whole of it.
  package var decoded: PixelImage {
    precondition(
      source.isWhole, "of \(source.width)x\(source.height) pixels only the network's square was kept")
    return source.pixels
  }

  /// The fault of the file; nil where none was found.
  package var damage: ImageDamage? { source.damage }

  package var patient: FilePatient? { source.patient }

  /// Details of some of ``warnings``, of this file.
  package var warningDetails: [ClassificationWarning: String] { source.details }

  /// Resized to the network's side, before colour constancy: `[size, size, 3]`.
  package private(set) var resized: PixelImage

  /// The warnings that the result should give about the image, in a fixed order.
  package let warnings: [ClassificationWarning]

  private let configuration: PreprocessingConfiguration
  /// `[3, 256]`: the corrected 8-bit value of every level.
  private let correctedBytes: [UInt8]
  /// `[3, 256]`: the normalised value of every level.
  private let normalizedValues: [Float]

  init(
    source: DecodedImage, resized: PixelImage, levels: [[Double]], warnings: [ClassificationWarning],
    configuration: PreprocessingConfiguration
  ) {
    self.source = source
    self.configuration = configuration
    self.resized = resized
    self.warnings = warnings
    correctedBytes = levels.flatMap { $0.map { UInt8(($0 + 0.5).rounded(.down)) } }
    normalizedValues = levels.indices.flatMap { channel in
      levels[channel].map { configuration.normalized($0, channel: channel) }
    }
  }

  /// The part of the decoded image that the network sees, at the image's own resolution: `[S, S, 3]`. Of a narrow image that is
  /// squeezed or framed it has many more pixels than the image; ``requireCroppedSize(limit:)`` refuses those.
  package var cropped: PixelImage { configuration.square(of: decoded, size: naturalSide) }

  /// - Throws: where ``cropped`` has more pixels than the limit.
  package func requireCroppedSize(limit: Int) throws(DermaFusionError) {
    let side = naturalSide
    let (area, overflows) = side.multipliedReportingOverflow(by: side)
    guard !overflows, area <= limit else {
      throw .invalidImage(
        "the square at the image's own resolution is too large: of \(source.width)x\(source.height) pixels it is \(side)x\(side), more than \(limit) pixels"
      )
    }
  }

  /// ``cropped`` where it has no more pixels than the image; otherwise made smaller, so that a picture never takes more memory
  /// than what it shows.
  package var boundedSquare: PixelImage {
    let most = Int(Double(source.width * source.height).squareRoot())
    return picture(side: max(most, configuration.size))
  }

  private var naturalSide: Int {
    configuration.framing.naturalSide(width: source.width, height: source.height)
  }

  /// ``resized``, but without the border that a network may be given around an image: what the image itself shows, for measures.
  package var unbordered: PixelImage {
    guard case .timm(.border, _) = configuration.framing else { return resized }
    return decoded.resized(width: configuration.size, height: configuration.size)
  }

  /// ``cropped`` for a person to see: made smaller where it is more than `side` pixels wide. The whole square is never in memory
  /// besides the image.
  ///
  /// - Precondition: the decoder was asked for the whole image or for a picture.
  package func picture(side: Int) -> PixelImage {
    source.picture ?? configuration.square(of: decoded, size: min(naturalSide, side))
  }

  /// After colour constancy: `[size, size, 3]`. Where the configuration keeps fractions, they are rounded here, though
  /// not in the normalised values.
  package var constancy: PixelImage {
    let pixels = resized.pixels.enumerated().map { correctedBytes[$0 % 3 * 256 + Int($1)] }
    return PixelImage(width: resized.width, height: resized.height, pixels: pixels)
  }

  /// The same input turned or mirrored: ``resized`` and what follows from it, each value in another place and otherwise
  /// the same to the bit. Colour constancy does not see places. ``decoded`` and ``cropped`` stay upright.
  package func turned(by symmetry: Orientation) -> PreprocessedImage {
    var result = self
    result.resized = symmetry.applied(to: resized)
    return result
  }

  /// The number of values of the network's input: `3 * size * size`.
  package var normalizedCount: Int { resized.pixels.count }

  /// The network's input, `(v / 255 - mean) / standardDeviation`, channels first: float32 `[3, size, size]`.
  package func normalizedCHW() -> [Float] {
    (0..<3).flatMap { channel in
      stride(from: channel, to: normalizedCount, by: 3).map {
        normalizedValues[channel * 256 + Int(resized.pixels[$0])]
      }
    }
  }

  /// Writes the network's input, `(v / 255 - mean) / standardDeviation`, channels last: float32 `[size, size, 3]`.
  package func writeNormalizedNHWC(to destination: UnsafeMutablePointer<Float>) {
    unsafe resized.pixels.withUnsafeBufferPointer { source in
      unsafe normalizedValues.withUnsafeBufferPointer { values in
        for start in stride(from: 0, to: source.count, by: 3) {
          unsafe destination[start] = unsafe values[Int(source[start])]
          unsafe destination[start + 1] = unsafe values[256 + Int(source[start + 1])]
          unsafe destination[start + 2] = unsafe values[512 + Int(source[start + 2])]
        }
      }
    }
  }
}

package enum StageValues: Sendable, Equatable {
  /// `[height, width, 3]`
  case bytes([UInt8], shape: [Int])
  /// `[3, size, size]`
  case floats([Float], shape: [Int])

  package init(_ image: PixelImage) {
    self = .bytes(image.pixels, shape: [image.height, image.width, 3])
  }

  package init(_ image: PreprocessedImage, stage: PreprocessingStage) {
    switch stage {
    case .decoded: self.init(image.decoded)
    case .cropped: self.init(image.cropped)
    case .resized: self.init(image.resized)
    case .constancy: self.init(image.constancy)
    case .normalized:
      self = .floats(image.normalizedCHW(), shape: [3, image.resized.height, image.resized.width])
    }
  }
}
