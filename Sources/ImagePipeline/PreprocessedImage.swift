/// An image after preprocessing, with every stage to look at. Stages other than the resized image are computed when they
/// are asked for.
package struct PreprocessedImage: Sendable {
  /// The image as it was given.
  private let source: DecodedImage

  /// The image as it was given, upright: `[height, width, 3]`.
  ///
  /// - Precondition: the decoder was asked for the whole of it.
  package var decoded: PixelImage {
    precondition(
      source.isWhole, "of \(source.width)x\(source.height) pixels only the network's square was kept")
    return source.pixels
  }

  /// What was wrong with the file; nil where nothing was found.
  package var damage: ImageDamage? { source.damage }

  /// What the file says of the patient; nil where it says nothing.
  package var patient: FilePatient? { source.patient }

  /// Resized to the network's side, before colour constancy: `[size, size, 3]`.
  package private(set) var resized: PixelImage

  /// What the result should say about the image, in a fixed order.
  package let warnings: [ImageWarning]

  private let square: BilinearResizer.Region
  /// `[3, 256]`: the corrected 8-bit value of every level.
  private let correctedBytes: [UInt8]
  /// `[3, 256]`: the normalised value of every level.
  private let normalizedValues: [Float]

  init(
    source: DecodedImage, square: BilinearResizer.Region, resized: PixelImage, levels: [[Double]],
    warnings: [ImageWarning], configuration: PreprocessingConfiguration
  ) {
    self.source = source
    self.square = square
    self.resized = resized
    self.warnings = warnings
    correctedBytes = levels.flatMap { $0.map { UInt8(($0 + 0.5).rounded(.down)) } }
    normalizedValues = levels.indices.flatMap { channel in
      levels[channel].map {
        Float(($0 / 255 - configuration.mean[channel]) / configuration.standardDeviation[channel])
      }
    }
  }

  /// The centre square of the decoded image: `[S, S, 3]`, S = min(width, height).
  package var cropped: PixelImage {
    BilinearResizer.resize(decoded, region: square, width: square.width, height: square.height)
  }

  /// ``cropped`` for a person to see: made smaller where it is more than `side` pixels wide. The whole square is never in memory
  /// besides the image.
  ///
  /// - Precondition: the decoder was asked for the whole image or for a picture.
  package func picture(side: Int) -> PixelImage {
    if let picture = source.picture { return picture }
    let width = min(square.width, side)
    return BilinearResizer.resize(decoded, region: square, width: width, height: width)
  }

  /// After colour constancy: `[size, size, 3]`. Where the configuration keeps fractions, they are rounded here, though
  /// not in the normalised values.
  package var constancy: PixelImage {
    resized.pixels.withUnsafeBufferPointer { source in
      correctedBytes.withUnsafeBufferPointer { corrected in
        PixelImage(width: resized.width, height: resized.height) { pixels in
          for start in stride(from: 0, to: source.count, by: 3) {
            for channel in 0..<3 {
              pixels[start + channel] = corrected[channel * 256 + Int(source[start + channel])]
            }
          }
        }
      }
    }
  }

  /// The same input turned or mirrored: ``resized`` and what follows from it, each value in another place and otherwise
  /// the same to the bit. Colour constancy does not see places. ``decoded`` and ``cropped`` stay upright.
  package func turned(by symmetry: SquareSymmetry) -> PreprocessedImage {
    var result = self
    result.resized = resized.turned(by: symmetry)
    return result
  }

  /// The number of values of the network's input: `3 * size * size`.
  package var normalizedCount: Int { resized.pixels.count }

  /// The network's input, `(v / 255 - mean) / standardDeviation`, channels first: float32 `[3, size, size]`.
  package func normalizedCHW() -> [Float] {
    let area = resized.width * resized.height
    return [Float](unsafeUninitializedCapacity: normalizedCount) { result, count in
      resized.pixels.withUnsafeBufferPointer { source in
        normalizedValues.withUnsafeBufferPointer { values in
          for index in 0..<area {
            for channel in 0..<3 {
              result[channel * area + index] = values[channel * 256 + Int(source[index * 3 + channel])]
            }
          }
        }
      }
      count = normalizedCount
    }
  }

  /// Writes the network's input, `(v / 255 - mean) / standardDeviation`, channels last: float32 `[size, size, 3]`.
  ///
  /// - Parameter destination: Room for ``normalizedCount`` values, which are overwritten.
  package func writeNormalizedNHWC(to destination: UnsafeMutablePointer<Float>) {
    resized.pixels.withUnsafeBufferPointer { source in
      normalizedValues.withUnsafeBufferPointer { values in
        for start in stride(from: 0, to: source.count, by: 3) {
          destination[start] = values[Int(source[start])]
          destination[start + 1] = values[256 + Int(source[start + 1])]
          destination[start + 2] = values[512 + Int(source[start + 2])]
        }
      }
    }
  }
}

/// The array of one stage of the preprocessing, with its shape.
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
