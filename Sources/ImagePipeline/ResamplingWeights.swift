/// Which inputs make up each output of a one-dimensional resize, and with what fixed-point weights.
///
/// This is `precompute_coeffs` and `normalize_coeffs_8bpc` of Pillow's Resample.c with the bilinear (triangle) filter,
/// operation by operation, because the weights are rounded: another order of the same arithmetic gives other pixels.
final class ResamplingWeights {
  /// The fraction bits of a weight: 1.0 is `1 << 22`.
  static let precisionBits: Int32 = 22

  /// How many bits of a weight ``Parts/low`` holds.
  static let lowBits: Int32 = 11

  /// A weight in two halves: the product of 8 and 16 bits is one instruction on every CPU, that of 32 bits is not.
  struct Parts {
    var high: Int16
    var low: Int16

    init(_ whole: Int32) {
      high = Int16(whole >> ResamplingWeights.lowBits)
      low = Int16(whole & ((1 << ResamplingWeights.lowBits) - 1))
    }

    var whole: Int32 { Int32(high) << ResamplingWeights.lowBits | Int32(low) }
  }

  /// The number of outputs.
  let outputCount: Int

  /// Weights that are stored for one output, from its first input on.
  let windowSize: Int

  /// First input of each output; never decreases.
  let starts: UnsafeMutablePointer<Int>

  /// Number of inputs of each output, 1...windowSize.
  let counts: UnsafeMutablePointer<Int>

  /// `[outputCount, windowSize]`, of which the first `counts` in each row are set.
  let parts: UnsafeMutablePointer<Parts>

  init(inputSize: Int, outputSize: Int) {
    let scale = Double(inputSize) / Double(outputSize)
    let support = max(scale, 1)
    let inverseSupport = 1 / support
    outputCount = outputSize
    windowSize = Int(support.rounded(.up)) * 2 + 1
    starts = .allocate(capacity: outputSize)
    counts = .allocate(capacity: outputSize)
    parts = .allocate(capacity: outputSize * windowSize)
    var window = [Double](repeating: 0, count: windowSize)
    for output in 0..<outputSize {
      let center = (Double(output) + 0.5) * scale
      let start = max(Int(center - support + 0.5), 0)
      let count = min(Int(center + support + 0.5), inputSize) - start
      var sum = 0.0
      for index in 0..<count {
        let weight = max(1 - abs((Double(index + start) - center + 0.5) * inverseSupport), 0)
        window[index] = weight
        sum += weight
      }
      starts[output] = start
      counts[output] = count
      for index in 0..<count {
        let whole = Int32(0.5 + window[index] / sum * Double(1 << Self.precisionBits))
        parts[output * windowSize + index] = Parts(whole)
      }
    }
  }

  deinit {
    starts.deallocate()
    counts.deallocate()
    parts.deallocate()
  }
}
