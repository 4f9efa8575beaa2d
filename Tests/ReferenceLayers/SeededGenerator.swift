/// SplitMix64: the same values for the same seed, everywhere.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// A generator of the seed's sequence.
  public init(seed: UInt64) { state = seed }

  /// The next 64 bits.
  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  /// Values of both signs, spread evenly over `-scale...scale`.
  public mutating func floats(_ count: Int, scale: Float = 1) -> [Float] {
    var values = [Float](repeating: 0, count: count)
    for i in 0..<count { values[i] = (Float(next() >> 40) * 0x1p-23 - 1) * scale }
    return values
  }

  /// Values spread evenly over the range.
  public mutating func floats(_ count: Int, in range: ClosedRange<Float>) -> [Float] {
    floats(count).map { range.lowerBound + ($0 + 1) / 2 * (range.upperBound - range.lowerBound) }
  }
}
