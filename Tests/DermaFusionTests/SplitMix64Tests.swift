import Testing

@testable import DermaFusion

@Suite struct SplitMix64Tests {
  /// The first numbers of the reference implementation for the seed 1234567.
  @Test func theSequenceIsThePublishedOne() {
    var generator = SplitMix64(seed: 1_234_567)
    #expect(generator.next() == 6_457_827_717_110_365_317)
    #expect(generator.next() == 3_203_168_211_198_807_973)
  }

  @Test func everyIndexIsDrawnAboutEquallyOften() {
    var generator = SplitMix64(seed: 1)
    var counts = [Int](repeating: 0, count: 7)
    for _ in 0..<7000 { counts[generator.index(below: 7)] += 1 }
    #expect(counts.allSatisfy { (850...1150).contains($0) }, "\(counts)")
  }
}
