extension TensorDataType {
  /// Numbers as a file stores them: little-endian, the nearest that the type has, of two equally near ones the even one. What is too
  /// large for the type becomes an infinity.
  ///
  /// - Parameter values: of a type with fractions.
  package func bytes(of values: [Float]) -> [UInt8] {
    values.flatMap { value in
      let bits: UInt32
      switch self {
      case .float32: bits = value.bitPattern
      case .float16: bits = Self.halfBits(value)
      case .brainFloat16: bits = (value.bitPattern &+ 0x7FFF &+ (value.bitPattern >> 16 & 1)) >> 16
      case .int8: preconditionFailure("a number with fractions for a tensor of whole numbers")
      }
      return (0..<byteCount).map { UInt8(truncatingIfNeeded: bits >> (8 * $0)) }
    }
  }

  /// The number that is stored in the place of another.
  ///
  /// - Parameter value: small enough for the type, which has fractions.
  package func nearest(to value: Float) -> Float {
    if self == .float32 { return value }
    let bits = bytes(of: [value]).reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    if self == .brainFloat16 { return Float(bitPattern: bits << 16) }
    let magnitude = bits & 0x7FFF
    let size =
      magnitude < 0x0400 ? Float(magnitude) * 0x1p-24 : Float(bitPattern: magnitude << 13 &+ (112 << 23))
    return bits & 0x8000 == 0 ? size : -size
  }

  private static func halfBits(_ value: Float) -> UInt32 {
    let sign = value.bitPattern >> 16 & 0x8000
    // Below 2^-14 the numbers are 2^-24 apart.
    if value.magnitude < 0x1p-14 {
      return sign | UInt32((value.magnitude * 0x1p24).rounded(.toNearestOrEven))
    }
    if value.magnitude >= 65520 { return sign | 0x7C00 }
    let magnitude = value.magnitude.bitPattern
    let rounded = magnitude &+ 0x0FFF &+ (magnitude >> 13 & 1)
    // The exponent's bias shrinks by 127 - 15 = 112.
    return sign | (rounded >> 13 &- 112 << 10)
  }
}
