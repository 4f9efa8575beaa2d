/// Words of 64 bits among which those near a given one are found. A vector holds one bit of 128 words, so additions of single bits
/// count the distances of all of them at once; no machine needs an instruction that counts bits.
struct BitSlices {
  private typealias Lanes = SIMD2<UInt64>
  private static let laneCount = 128

  private let count: Int
  /// For each block of words 64 vectors, the lowest bit first.
  private let slices: [Lanes]

  init(_ words: [UInt64]) {
    count = words.count
    let blockCount = (words.count + Self.laneCount - 1) / Self.laneCount
    var slices = [Lanes](repeating: .zero, count: blockCount * 64)
    for (place, word) in words.enumerated() {
      let (first, lane) = (place / Self.laneCount * 64, place % Self.laneCount)
      var rest = word
      while rest != 0 {
        slices[first + rest.trailingZeroBitCount][lane / 64] |= 1 << UInt64(lane % 64)
        rest &= rest &- 1
      }
    }
    self.slices = slices
  }

  /// Calls `found` with the places of the words that differ from `word` in at most `limit` of the bits of `mask`.
  func near(_ word: UInt64, mask: UInt64 = .max, limit: Int, _ found: (Int) -> Void) {
    let bits = (0..<64).filter { mask >> UInt64($0) & 1 == 1 }
    let flips = bits.map { word >> UInt64($0) & 1 == 1 ? Lanes(repeating: .max) : .zero }
    slices.withUnsafeBufferPointer { slices in
      bits.withUnsafeBufferPointer { bits in
        flips.withUnsafeBufferPointer { flips in
          for block in 0..<slices.count / 64 {
            let near = Self.near(slices, first: block * 64, bits, flips, limit: UInt64(limit))
            for half in 0..<2 {
              var rest = near[half]
              while rest != 0 {
                let place = block * Self.laneCount + half * 64 + rest.trailingZeroBitCount
                if place < count { found(place) }
                rest &= rest &- 1
              }
            }
          }
        }
      }
    }
  }

  /// A bit for each word of a block: 1 if it is near.
  private static func near(
    _ slices: UnsafeBufferPointer<Lanes>, first: Int, _ bits: UnsafeBufferPointer<Int>,
    _ flips: UnsafeBufferPointer<Lanes>, limit: UInt64
  ) -> Lanes {
    // The digits of the distances, the ones first.
    var (ones, twos, fours) = (Lanes.zero, Lanes.zero, Lanes.zero)
    var (eights, sixteens, thirtyTwos, sixtyFours) = (Lanes.zero, Lanes.zero, Lanes.zero, Lanes.zero)
    func difference(_ index: Int) -> Lanes { slices[first + bits[index]] ^ flips[index] }
    /// Adds four bits, and returns what is carried to the fours.
    func four(_ bit: Int) -> Lanes {
      let low = add(&ones, difference(bit), difference(bit + 1))
      let high = add(&ones, difference(bit + 2), difference(bit + 3))
      return add(&twos, low, high)
    }
    var bit = 0
    while bit + 16 <= bits.count {
      let low = add(&fours, four(bit), four(bit + 4))
      let high = add(&fours, four(bit + 8), four(bit + 12))
      carry(add(&eights, low, high), &sixteens, &thirtyTwos, &sixtyFours)
      bit += 16
    }
    while bit < bits.count {
      let two = add(&ones, difference(bit), .zero)
      let eight = add(&fours, add(&twos, two, .zero), .zero)
      carry(add(&eights, eight, .zero), &sixteens, &thirtyTwos, &sixtyFours)
      bit += 1
    }
    var (less, equal) = (Lanes.zero, Lanes(repeating: .max))
    func compare(_ digit: Lanes, _ place: UInt64) {
      if limit >> place & 1 == 1 {
        less |= equal & ~digit
        equal &= digit
      } else {
        equal &= ~digit
      }
    }
    compare(sixtyFours, 6)
    compare(thirtyTwos, 5)
    compare(sixteens, 4)
    compare(eights, 3)
    compare(fours, 2)
    compare(twos, 1)
    compare(ones, 0)
    return less | equal
  }

  /// Adds two bits to a digit and returns what is carried.
  @inline(__always)
  private static func add(_ digit: inout Lanes, _ first: Lanes, _ second: Lanes) -> Lanes {
    let sum = first ^ second
    let carried = (first & second) | (sum & digit)
    digit ^= sum
    return carried
  }

  /// Adds a bit to the digits from the sixteens on.
  @inline(__always)
  private static func carry(
    _ bit: Lanes, _ sixteens: inout Lanes, _ thirtyTwos: inout Lanes, _ sixtyFours: inout Lanes
  ) {
    let thirtyTwo = sixteens & bit
    sixteens ^= bit
    sixtyFours ^= thirtyTwos & thirtyTwo
    thirtyTwos ^= thirtyTwo
  }
}
