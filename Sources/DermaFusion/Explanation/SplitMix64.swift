/// Steele, Lea & Flood's SplitMix64 (2014): the same seed gives the same numbers with every compiler, which the
/// standard library's generators and its `random(in:)` do not promise.
package struct SplitMix64: Sendable {
  private var state: UInt64

  package init(seed: UInt64) { state = seed }

  /// All 64-bit values, equally likely.
  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var bits = state
    bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
    return bits ^ (bits >> 31)
  }

  /// 0..<count, equally likely: Lemire's multiplication, drawing again where it would favour some.
  package mutating func index(below count: Int) -> Int {
    precondition(count > 0, "a number below \(count)")
    let bound = UInt64(count)
    let favoured = (0 &- bound) % bound
    while true {
      let product = next().multipliedFullWidth(by: bound)
      if product.low >= favoured { return Int(product.high) }
    }
  }
}
