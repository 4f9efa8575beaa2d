import CBuiltins

/// The C library's functions of real numbers.
package enum Mathematics {
  /// e to the power of `x`.
  package static func exp(_ x: Double) -> Double { c_exp(x) }

  /// The natural logarithm of `x`.
  package static func log(_ x: Double) -> Double { c_log(x) }

  package static func pow(_ base: Double, _ exponent: Double) -> Double { c_pow(base, exponent) }
}
