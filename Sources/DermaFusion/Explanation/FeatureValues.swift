/// Values of a feature map to walk through, `[height * width, channels]`.
@safe struct FeatureValues {
  let values: UnsafeBufferPointer<Float>
  let channels: Int

  var pixelCount: Int { unsafe channels == 0 ? 0 : values.count / channels }
}

extension FeatureValues {
  /// Calls `body` with each pixel's index and its channels.
  @inline(__always)
  func forEachPixel(_ body: (Int, UnsafePointer<Float>) -> Void) {
    guard let base = unsafe values.baseAddress else { return }
    for pixel in 0..<pixelCount { unsafe body(pixel, base + pixel * channels) }
  }

  /// The sum of each channel over all pixels, in Double.
  func channelSums() -> [Double] {
    var sums = [Double](repeating: 0, count: channels)
    unsafe sums.withUnsafeMutableBufferPointer { sums in
      unsafe forEachPixel { _, row in
        for channel in sums.indices { unsafe sums[channel] += Double(row[channel]) }
      }
    }
    return sums
  }

  /// `sum over channels of weights[c] * values[p, c]`, in Double.
  func weighted(by weights: [Double]) -> [Float] {
    precondition(weights.count == channels, "\(weights.count) weights for \(channels) channels")
    return unsafe weights.withUnsafeBufferPointer { weights in
      unsafe mapPixels { _, row, channel in unsafe weights[channel] * Double(row[channel]) }
    }
  }

  /// `sum over channels of factor(gradient[p, c]) * values[p, c]`, in Double.
  @inline(__always)
  func products(with gradient: FeatureValues, factor: (Float) -> Float) -> [Float] {
    guard let base = unsafe gradient.values.baseAddress else {
      return [Float](repeating: 0, count: pixelCount)
    }
    return unsafe mapPixels { pixel, row, channel in
      unsafe Double(factor(base[pixel * channels + channel])) * Double(row[channel])
    }
  }

  /// For each pixel the sum of a term over its channels: four sums at once, since a single one waits for itself.
  @inline(__always)
  private func mapPixels(_ term: (Int, UnsafePointer<Float>, Int) -> Double) -> [Float] {
    unsafe [Float](unsafeUninitializedCapacity: pixelCount) { map, count in
      unsafe forEachPixel { pixel, row in
        var sums = SIMD4<Double>()
        var channel = 0
        while channel + 4 <= channels {
          unsafe sums += SIMD4(
            term(pixel, row, channel), term(pixel, row, channel + 1), term(pixel, row, channel + 2),
            term(pixel, row, channel + 3))
          channel += 4
        }
        var sum = sums.sum()
        while channel < channels {
          unsafe sum += term(pixel, row, channel)
          channel += 1
        }
        unsafe map[pixel] = Float(sum)
      }
      count = pixelCount
    }
  }
}
