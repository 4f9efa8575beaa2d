import CBuiltins

package enum Mathematics {
  /// e to the power of `x`, within one unit in the last place. Unlike the C library's it gives the same bits everywhere.
  ///
  /// x = n ln 2 + r with |r| <= ln 2 / 2, and Taylor's series for r, whose rest is below 1e-17. ln 2 comes in two parts, the
  /// first short enough for n times it to be exact.
  package static func exp(_ x: Double) -> Double {
    if x.isNaN { return x }
    if x > 709.8 { return .infinity }
    if x < -745.2 { return 0 }
    let n = (x * 1.442_695_040_888_963_4).rounded(.toNearestOrEven)
    let r = (x - n * 0.693_147_180_369_123_8) - n * 1.908_214_929_270_587_7e-10
    var series = 1 / 6_227_020_800.0
    for factorial in [
      479_001_600.0, 39_916_800, 3_628_800, 362_880, 40_320, 5040, 720, 120, 24, 6, 2,
    ] { series = series * r + 1 / factorial }
    let power = 1 + (r + r * r * series)
    // In two steps, since 2^n alone may be no normal number.
    let half = Int(n) / 2
    return power * Double(sign: .plus, exponent: half, significand: 1)
      * Double(sign: .plus, exponent: Int(n) - half, significand: 1)
  }

  /// The sine of `x`, from -10 to 10, within 1e-15. Unlike the C library's it gives the same bits everywhere.
  ///
  /// x = n pi + r with |r| <= pi / 2, and Taylor's series for r, whose rest is below 1e-17. pi comes in two parts, the first
  /// short enough for n times it to be exact.
  package static func sin(_ x: Double) -> Double {
    let n = (x / .pi).rounded(.toNearestOrEven)
    let r = (x - n * 3.141_592_502_593_994) - n * 1.509_957_990_978_376_4e-7
    var series = 1.0
    for term in stride(from: 22, to: 0, by: -2) {
      series = 1 - series * r * r / Double(term * (term + 1))
    }
    return Int(n).isMultiple(of: 2) ? r * series : -r * series
  }

  package static func log(_ x: Double) -> Double { c_log(x) }

  package static func pow(_ base: Double, _ exponent: Double) -> Double { c_pow(base, exponent) }

  /// The sum of the products, added up in order.
  package static func dot(_ a: [Double], _ b: [Double]) -> Double {
    var sum = 0.0
    for index in a.indices { sum += a[index] * b[index] }
    return sum
  }

  package static func add(_ values: [Double], times factor: Double, to sum: inout [Double]) {
    for index in sum.indices { sum[index] += factor * values[index] }
  }
}
