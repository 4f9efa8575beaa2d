package import KernelInterface
package import SystemModule

/// The form of a feature map's values in 8 bits: `value = scale * (level - zeroPoint)` for levels of 0...255.
///
/// One scale for the whole map, so that sums of products stay sums of integers.
package struct Quantization: Sendable, Equatable {
  /// The step between two levels; above 0.
  package let scale: Float
  /// The level of the value 0, from 0 to 255.
  package let zeroPoint: Int

  /// - Precondition: ``isValid(scale:zeroPoint:)``.
  package init(scale: Float, zeroPoint: Int) {
    precondition(
      Self.isValid(scale: scale, zeroPoint: Float(zeroPoint)), "levels \(scale) apart with 0 at \(zeroPoint)")
    self.scale = scale
    self.zeroPoint = zeroPoint
  }

  /// The scales of maps and of weights. Products and quotients of three of them are numbers that a float holds.
  package static let scales: ClosedRange<Float> = 1e-12...1e12

  /// The greatest magnitude of a fine level: those of a depthwise convolution and of squeeze-excite, whose sums are not of
  /// bytes. Fine levels have both signs and no zero point.
  package static let fineLimit = 2047

  /// True if a map can be kept in this way: a scale among ``scales``, and a level that is a whole number from 0 to 255.
  package static func isValid(scale: Float, zeroPoint: Float) -> Bool {
    scales.contains(scale) && (0...255).contains(zeroPoint) && zeroPoint == zeroPoint.rounded()
  }
}

/// Writes values as levels.
package struct Quantizer: Sendable {
  package let levels: Quantization
  /// One over the scale for each channel, padded.
  let factors: AlignedBuffer

  package init(_ levels: Quantization, channels: Int, kernels: KernelSet) {
    self.levels = levels
    factors = AlignedBuffer(count: kernels.padded(channels))
    factors.pointer.update(repeating: 1 / levels.scale, count: factors.count)
  }

  package func write(_ values: FeatureMap, into words: PackedMap, pool: ThreadPool) {
    words.write(values, factors: factors.pointer, zeroPoint: levels.zeroPoint, pool: pool)
  }
}

/// A weight in 8 bits: `value[o, k] = scale[o] * level[o, k]` for levels of -127...127, and a bias of the layer's own.
package struct QuantizedWeight: Sendable, Equatable {
  /// `[outputs, depth]`, row-major.
  package let levels: [Int8]
  /// One step for each output; above 0.
  package let scale: [Float]
  /// One value for each output.
  package let bias: [Float]

  /// - Precondition: as many scales as biases, and as many levels for each.
  package init(levels: [Int8], scale: [Float], bias: [Float]) {
    precondition(
      scale.count == bias.count && !scale.isEmpty && levels.count.isMultiple(of: scale.count),
      "\(levels.count) levels, \(scale.count) scales, \(bias.count) biases")
    self.levels = levels
    self.scale = scale
    self.bias = bias
  }

  /// Levels of each output.
  package var depth: Int { levels.count / scale.count }

  /// True if the neighbours `2i` and `2i + 1` of every output, those of one sign, add up to at most 128 in magnitude: their
  /// products with two levels of an input then fit in 16 bits. A matrix must have it.
  package var hasSmallPairs: Bool {
    let depth = depth
    return levels.withUnsafeBytes { levels in
      // Those of two signs never do, so it is enough to look at the sums.
      var (least, greatest) = (SIMD8<Int16>(), SIMD8<Int16>())
      func look(at pairs: SIMD8<Int16>) {
        let sums = (pairs &>> 8) &+ ((pairs &<< 8) &>> 8)
        least = pointwiseMin(least, sums)
        greatest = pointwiseMax(greatest, sums)
      }
      for output in scale.indices {
        var place = output * depth
        let end = place + depth
        while place + 16 <= end {
          look(at: levels.loadUnaligned(fromByteOffset: place, as: SIMD8<Int16>.self))
          place += 16
        }
        while place + 2 <= end {
          look(at: SIMD8(repeating: levels.loadUnaligned(fromByteOffset: place, as: Int16.self)))
          place += 2
        }
      }
      return least.min() >= -128 && greatest.max() <= 128
    }
  }

  /// The bias as a number of steps of the sums, less what the input's zero point adds to them:
  /// `round(bias / (input.scale * scale)) - zeroPoint * sum of the levels`, computed in Double, halves to the even number.
  ///
  /// - Parameter largestLevel: The input's, in magnitude.
  /// - Returns: nil where a sum could leave the integers up to `limit`, in magnitude, which no network that works does.
  package func integerBias(of input: Quantization, largestLevel: Int = 255, limit: Double) -> [Int32]? {
    var biases: [Int32] = []
    biases.reserveCapacity(scale.count)
    for (output, (total, magnitude)) in sums.enumerated() {
      let largest = largestLevel * Int(magnitude)
      let steps = (Double(bias[output]) / (Double(input.scale) * Double(scale[output])))
        .rounded(.toNearestOrEven)
      let whole = steps - Double(input.zeroPoint * Int(total))
      guard abs(whole) + Double(largest) <= limit else { return nil }
      biases.append(Int32(whole))
    }
    return biases
  }

  /// The sum of each output's levels, and of their magnitudes.
  var sums: [(total: Int32, magnitude: Int32)] {
    let depth = depth
    return levels.withUnsafeBufferPointer { levels in
      scale.indices.map { output in
        var (total, magnitude): (Int32, Int32) = (0, 0)
        for index in output * depth..<(output + 1) * depth {
          total &+= Int32(levels[index])
          magnitude &+= Int32(levels[index].magnitude)
        }
        return (total, magnitude)
      }
    }
  }

  /// The value of a step of the sums: `input.scale * scale`, rounded once.
  package func sumScale(of input: Quantization) -> [Float] {
    scale.map { Float(Double(input.scale) * Double($0)) }
  }

  /// `[outputs, depth]` as floats, each product rounded.
  package var values: [Float] {
    levels.indices.map { Float(levels[$0]) * scale[$0 / depth] }
  }
}
