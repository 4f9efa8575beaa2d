/// The constants of preprocessing; they belong to a model and come from its `config.json`.
package struct PreprocessingConfiguration: Sendable, Equatable {
  /// The rounding of a corrected value before it is normalised.
  package enum Rounding: String, Sendable, CaseIterable {
    /// `floor(v * gain + 0.5)`, clipped to 0...255.
    case round
    /// `floor(v * gain)`, clipped to 0...255.
    case truncate
    /// `v * gain`, clipped to 0...255, with its fraction.
    case none
  }

  /// The method that takes the colour of the light out.
  package enum ColorConstancy: Sendable, Equatable {
    /// Not at all.
    case none
    /// Shades of Gray: the Minkowski `p`-means of the channels are made equal. `p` is positive; 6 is usual.
    case shadesOfGray(p: Double, rounding: Rounding)

    /// The numbers that Shades of Gray works with, where it is used.
    package var shadesOfGray: (p: Double, rounding: Rounding)? {
      if case .shadesOfGray(let p, let rounding) = self { (p, rounding) } else { nil }
    }
  }

  /// The side of the network's square input, in pixels.
  package var size: Int

  package var colorConstancy: ColorConstancy

  /// Subtracted from red, green and blue (0...1): 3 values.
  package var mean: [Double]

  /// Divides red, green and blue after that: 3 positive values.
  package var standardDeviation: [Double]

  package var framing: Framing

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

  /// The part that a large image may be reduced to while it is decoded, equal to the bit to what comes of the whole: the centre
  /// square at the network's size, resized bilinearly.
  package var keepsCentreSquare: Bool { framing == .square && interpolation == .bilinear }

  /// `(level / 255 - mean) / standardDeviation` of a level from 0 to 255; for timm's framing rounded after each operation, as
  /// torchvision does.
  func normalized(_ level: Double, channel: Int) -> Float {
    if case .timm = framing {
      return (Float(level) / 255 - Float(mean[channel])) / Float(standardDeviation[channel])
    }
    return Float((level / 255 - mean[channel]) / standardDeviation[channel])
  }

  /// The colour of what an image does not cover, which the mean makes 0 or almost 0.
  var fill: [UInt8] { mean.map { UInt8(min(max((255 * $0).rounded(.toNearestOrEven), 0), 255)) } }
}

/// The stages of preprocessing, in order; the raw values are the names that users and fixtures know.
package enum PreprocessingStage: String, Sendable, CaseIterable {
  /// The file's pixels, upright: uint8 `[H, W, 3]`.
  case decoded
  /// The part of the image that the network sees, at the image's own resolution: uint8 `[S, S, 3]`. The centre square, S =
  /// min(W, H), or what ``Framing/timm(_:share:)`` makes of it.
  case cropped
  /// Resized to the network's size: uint8 `[size, size, 3]`.
  case resized
  /// After colour constancy: uint8 `[size, size, 3]`.
  case constancy
  /// The network's input: float32 `[3, size, size]`.
  case normalized
}
