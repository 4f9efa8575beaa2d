/// Conversion of stored numbers to Float32. All of it is exact: every finite half and bfloat16 number is a Float32.
///
/// Plain loops over integers, which the compiler turns into vector code on every instruction set. Swift's `Float16`
/// is not used: without the F16C instructions it calls a routine for each element.
enum FloatConversion {
  /// Converts IEEE half-precision numbers (little-endian, any alignment). Returns whether all are finite; an
  /// infinity or NaN gives an unspecified value.
  @inline(never)
  static func convertHalf(
    _ source: UnsafeRawPointer, count: Int, into destination: UnsafeMutablePointer<Float>
  ) -> Bool {
    var overflow: UInt32 = 0
    for index in 0..<count {
      let half = UInt32(
        unsafe UInt16(littleEndian: source.loadUnaligned(fromByteOffset: index &* 2, as: UInt16.self)))
      let magnitude = half & 0x7FFF
      overflow |= magnitude &+ 0x0400

      // Normal numbers: the exponent's bias grows by 127 - 15 = 112.
      let normal = magnitude &<< 13 &+ (112 &<< 23)
      // Subnormal ones, m x 2^-24: put m into the mantissa of a number of exponent -14 and take that exponent's
      // leading one away. No Float32 subnormal occurs on the way, so flushing them changes nothing.
      let subnormal = Float(bitPattern: magnitude &<< 13 &+ (113 &<< 23)) - Float(bitPattern: 113 &<< 23)
      let isSubnormal = UInt32(bitPattern: (Int32(bitPattern: magnitude) &- 0x0400) &>> 31)

      let bits = (subnormal.bitPattern & isSubnormal) | (normal & ~isSubnormal) | (half & 0x8000) &<< 16
      unsafe destination[index] = Float(bitPattern: bits)
    }
    return overflow & 0x8000 == 0
  }

  /// Converts bfloat16 numbers (little-endian, any alignment). Returns whether all are finite.
  @inline(never)
  static func convertBrainFloat(
    _ source: UnsafeRawPointer, count: Int, into destination: UnsafeMutablePointer<Float>
  ) -> Bool {
    var overflow: UInt32 = 0
    for index in 0..<count {
      let bits = UInt32(
        unsafe UInt16(littleEndian: source.loadUnaligned(fromByteOffset: index &* 2, as: UInt16.self)))
      overflow |= (bits & 0x7FFF) &+ 0x0080
      unsafe destination[index] = Float(bitPattern: bits &<< 16)
    }
    return overflow & 0x8000 == 0
  }

  /// Copies single-precision numbers (little-endian, any alignment). Returns whether all are finite.
  @inline(never)
  static func convertSingle(
    _ source: UnsafeRawPointer, count: Int, into destination: UnsafeMutablePointer<Float>
  ) -> Bool {
    var overflow: UInt32 = 0
    for index in 0..<count {
      let bits = unsafe UInt32(
        littleEndian: source.loadUnaligned(fromByteOffset: index &* 4, as: UInt32.self))
      overflow |= (bits & 0x7FFF_FFFF) &+ 0x0080_0000
      unsafe destination[index] = Float(bitPattern: bits)
    }
    return overflow & 0x8000_0000 == 0
  }
}
