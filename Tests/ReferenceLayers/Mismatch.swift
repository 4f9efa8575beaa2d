/// A departure of a result in Float32 from a reference by more than rounding explains.
public struct Mismatch: Sendable, Equatable, CustomStringConvertible {
  /// Values outside the tolerance.
  public let count: Int
  /// Values compared.
  public let total: Int
  /// The first one outside, in the order of memory.
  public let firstIndex: Int
  /// Its place, as `[y, x, channel]`.
  public let firstPlace: [Int]
  /// The value that was computed there.
  public let actual: Float
  /// The value that should have been.
  public let expected: Double
  /// The tolerance there.
  public let tolerance: Double
  /// The most units in the last place, of the larger of the two, between any value and its reference.
  public let largestULP: Double

  /// The first place, both values, the count and the largest distance.
  public var description: String {
    "\(count) of \(total) outside the tolerance, first at index \(firstIndex) = \(firstPlace): \(actual), "
      + "expected \(expected) within \(tolerance); at most \(largestULP) ULP"
  }
}

extension ReferenceMap {
  /// Compares values in Float32 with these: `|actual - expected| <= factor * ulpOfOne * magnitude`.
  ///
  /// - Parameters:
  ///   - actual: `[height, width, channels]`
  ///   - factor: The kernel's constant.
  /// - Returns: nil when all are within the tolerance. NaN never is.
  public func mismatch(_ actual: [Float], factor: Double) -> Mismatch? {
    precondition(
      actual.count == values.count, "\(actual.count) values compared with \(values.count)")
    var count = 0
    var first: Int?
    var largest = 0.0
    for i in values.indices {
      let difference = abs(Double(actual[i]) - values[i])
      let unit = max(abs(Float(values[i])), abs(actual[i]), Float.leastNormalMagnitude).ulp
      largest = max(largest, difference / Double(unit))
      if difference <= factor * Double(Float.ulpOfOne) * magnitudes[i] { continue }
      count += 1
      if first == nil { first = i }
    }
    guard let first else { return nil }
    return Mismatch(
      count: count, total: values.count, firstIndex: first,
      firstPlace: [first / channels / width, first / channels % width, first % channels],
      actual: actual[first], expected: values[first],
      tolerance: factor * Double(Float.ulpOfOne) * magnitudes[first], largestULP: largest)
  }
}

/// The first place where two results differ in a bit, with both values; nil when they are the same.
public func firstDifference(_ a: [Float], _ b: [Float]) -> String? {
  if a.count != b.count { return "\(a.count) and \(b.count) values" }
  for i in a.indices where a[i].bitPattern != b[i].bitPattern { return "index \(i): \(a[i]) and \(b[i])" }
  return nil
}
