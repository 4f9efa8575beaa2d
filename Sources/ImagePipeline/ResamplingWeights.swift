/// Which inputs make up each output of a one-dimensional resize, and with what fixed-point weights.
///
/// This is `precompute_coeffs` and `normalize_coeffs_8bpc` of Pillow's Resample.c with the bilinear (triangle) filter,
/// operation by operation, because the weights are rounded: another order of the same arithmetic gives other pixels.
struct ResamplingWeights {
  /// The fraction bits of a weight: 1.0 is `1 << 22`.
  static let precisionBits: Int32 = 22

  /// Weights of one output, from its first input on; 0 behind its last.
  let windowSize: Int

  /// First input of each output.
  private(set) var starts: [Int] = []

  /// Number of inputs of each output, 1...windowSize.
  private(set) var counts: [Int] = []

  /// `[outputs, windowSize]`.
  private(set) var weights: [Int32] = []

  init(inputSize: Int, outputSize: Int) {
    let scale = Double(inputSize) / Double(outputSize)
    let support = max(scale, 1)
    let inverseSupport = 1 / support
    windowSize = Int(support.rounded(.up)) * 2 + 1
    weights.reserveCapacity(outputSize * windowSize)
    var window = [Double](repeating: 0, count: windowSize)
    for output in 0..<outputSize {
      let center = (Double(output) + 0.5) * scale
      let start = max(Int(center - support + 0.5), 0)
      let end = min(Int(center + support + 0.5), inputSize)
      var sum = 0.0
      for index in 0..<(end - start) {
        let weight = max(1 - abs((Double(index + start) - center + 0.5) * inverseSupport), 0)
        window[index] = weight
        sum += weight
      }
      starts.append(start)
      counts.append(end - start)
      for index in 0..<windowSize {
        let weight = index < end - start ? window[index] / sum : 0
        weights.append(Int32(0.5 + weight * Double(1 << Self.precisionBits)))
      }
    }
  }
}
