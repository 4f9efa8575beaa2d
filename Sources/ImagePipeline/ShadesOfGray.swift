import SystemModule

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

  /// True if the levels that occur span less than two.
  fileprivate static func isSolid(_ counts: [Int]) -> Bool {
    let levels = counts.indices.filter { counts[$0] > 0 }
    return levels[levels.count - 1] - levels[0] < 2
  }

  fileprivate static func histograms(of image: PixelImage) -> [[Int]] {
    var counts = [UInt32](repeating: 0, count: 3 * 256)
    unsafe counts.withUnsafeMutableBufferPointer { counts in
      unsafe image.pixels.withUnsafeBufferPointer { pixels in
        for start in stride(from: 0, to: pixels.count, by: 3) {
          unsafe counts[Int(pixels[start])] &+= 1
          unsafe counts[256 + Int(pixels[start + 1])] &+= 1
          unsafe counts[512 + Int(pixels[start + 2])] &+= 1
        }
      }
    }
    return (0..<3).map { channel in counts[channel * 256..<channel * 256 + 256].map(Int.init) }
  }
}

extension PixelImage {
  /// True if every channel spans less than two levels.
  package var isSolid: Bool { ShadesOfGray.histograms(of: self).allSatisfy(ShadesOfGray.isSolid) }
}
