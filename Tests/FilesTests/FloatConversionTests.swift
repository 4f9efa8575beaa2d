import ReferenceLayers
import Testing

@testable import Files

@Suite struct FloatConversionTests {
  /// The value of a finite half-precision pattern by its definition: (-1)^s x m x 2^e, in Double.
  private func halfByDefinition(_ pattern: UInt16) -> Float {
    let exponent = Int(pattern >> 10 & 0x1F)
    let fraction = Int(pattern & 0x3FF)
    let significand = Double(exponent == 0 ? fraction : fraction + 1024)
    var power = 1.0
    for _ in 0..<abs(max(exponent, 1) - 25) { power *= exponent < 25 ? 0.5 : 2 }
    return Float(pattern & 0x8000 == 0 ? significand * power : -significand * power)
  }

  private func convert(
    _ patterns: [UInt16], _ conversion: (UnsafeRawPointer, Int, UnsafeMutablePointer<Float>) -> Bool
  ) -> (values: [Float], isFinite: Bool) {
    var values = [Float](repeating: .nan, count: patterns.count)
    let stored = patterns.map(\.littleEndian)
    let isFinite = stored.withUnsafeBytes { source in
      values.withUnsafeMutableBufferPointer {
        conversion(source.baseAddress!, patterns.count, $0.baseAddress!)
      }
    }
    return (values, isFinite)
  }

  @Test func everyFiniteHalf() {
    let patterns = (UInt16.min...UInt16.max).filter { $0 & 0x7C00 != 0x7C00 }
    #expect(patterns.count == 63_488)
    let result = convert(patterns, FloatConversion.convertHalf)
    #expect(result.isFinite)
    for (pattern, value) in zip(patterns, result.values) {
      let expected = halfByDefinition(pattern)
      guard value.bitPattern == expected.bitPattern else {
        Issue.record("half 0x\(String(pattern, radix: 16)) became \(value), not \(expected)")
        return
      }
    }
  }

  @Test func everyFiniteBrainFloat() {
    let patterns = (UInt16.min...UInt16.max).filter { $0 & 0x7F80 != 0x7F80 }
    #expect(patterns.count == 65_280)
    let result = convert(patterns, FloatConversion.convertBrainFloat)
    #expect(result.isFinite)
    for (pattern, value) in zip(patterns, result.values) {
      guard value.bitPattern == UInt32(pattern) * 65_536 else {
        Issue.record("bfloat16 0x\(String(pattern, radix: 16)) became \(value)")
        return
      }
    }
  }

  /// The rest of the 65,536 patterns: alone and in every place of a vector with a tail.
  @Test func everyNonFiniteHalfAndBrainFloatIsSeen() {
    for pattern in UInt16.min...UInt16.max {
      var patterns = [UInt16](repeating: 0x0001, count: 19)
      patterns[Int(pattern) % 19] = pattern
      let half = convert(patterns, FloatConversion.convertHalf)
      let brainFloat = convert(patterns, FloatConversion.convertBrainFloat)
      guard half.isFinite == (pattern & 0x7C00 != 0x7C00), brainFloat.isFinite == (pattern & 0x7F80 != 0x7F80)
      else {
        Issue.record(
          "0x\(String(pattern, radix: 16)): half \(half.isFinite), bfloat16 \(brainFloat.isFinite)")
        return
      }
    }
  }

  @Test func everyCountWritesItsElementsAndNoMore() {
    for count in 0...67 {
      let patterns = (0..<count).map { index -> UInt16 in
        let sign: UInt16 = index % 2 == 0 ? 0x8000 : 0
        return UInt16(index * 400) | sign
      }
      var values = [Float](repeating: 99, count: count + 1)
      let isFinite = (patterns + [0x7C00]).withUnsafeBytes { source in
        values.withUnsafeMutableBufferPointer {
          FloatConversion.convertHalf(source.baseAddress!, count: count, into: $0.baseAddress!)
        }
      }
      #expect(isFinite, "count \(count)")
      #expect(values == patterns.map(halfByDefinition) + [99], "count \(count)")
    }
  }

  @Test func singlesKeepTheirBits() {
    var generator = SeededGenerator(seed: 7)
    let patterns =
      [0, 0x8000_0000, 1, 0x807F_FFFF, 0x7F7F_FFFF, 0xFF7F_FFFF]
      + (0..<1000).map { _ in UInt32.random(in: 0...UInt32.max, using: &generator) }.filter {
        $0 & 0x7F80_0000 != 0x7F80_0000
      }
    var values = [Float](repeating: 0, count: patterns.count)
    let isFinite = patterns.map(\.littleEndian).withUnsafeBytes { source in
      values.withUnsafeMutableBufferPointer {
        FloatConversion.convertSingle(source.baseAddress!, count: patterns.count, into: $0.baseAddress!)
      }
    }
    #expect(isFinite)
    #expect(values.map(\.bitPattern) == patterns)
  }
}
