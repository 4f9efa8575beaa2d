import SystemModule

package enum TensorDataType: String, Sendable, CaseIterable {
  case float32 = "F32"
  case float16 = "F16"
  /// The upper half of IEEE single precision.
  case brainFloat16 = "BF16"
  /// Signed integers, the weights of quantised layers.
  case int8 = "I8"

  package var byteCount: Int {
    switch self {
    case .float32: 4
    case .float16, .brainFloat16: 2
    case .int8: 1
    }
  }
}

/// A tensor as it lies in its file: little-endian elements, the last dimension running fastest, at any alignment.
package struct StoredTensor: Sendable {
  package private(set) var name: String
  package let dataType: TensorDataType
  package let shape: [Int]
  package let elementCount: Int

  let fileName: String
  let file: FilePages
  package let byteRange: Range<Int>

  func named(_ name: String) -> StoredTensor {
    var tensor = self
    tensor.name = name
    return tensor
  }

  /// Converts some elements to Float32, exactly, in the order stored.
  ///
  /// - Parameters:
  ///   - range: places among all `elementCount` elements.
  ///   - destination: room for exactly so many numbers; may be uninitialized.
  /// - Throws: an error for the tensor's first NaN or infinity when there is one in the range.
  package func convert(
    _ range: Range<Int>, into destination: UnsafeMutableBufferPointer<Float>
  ) throws(DermaFusionError) {
    precondition(
      range.lowerBound >= 0 && range.upperBound <= elementCount && destination.count == range.count,
      "converting \(range) of \(elementCount) elements of \(name) into room for \(destination.count)")
    guard !range.isEmpty, let target = destination.baseAddress else { return }
    let bytes = bytes(range)
    let isFinite = file.withBytes { file in
      let stored = file.extracting(bytes)
      return unsafe stored.withUnsafeBytes { bytes in
        let source = bytes.baseAddress!
        return switch dataType {
        case .float32: unsafe FloatConversion.convertSingle(source, count: range.count, into: target)
        case .float16: unsafe FloatConversion.convertHalf(source, count: range.count, into: target)
        case .brainFloat16: unsafe FloatConversion.convertBrainFloat(source, count: range.count, into: target)
        case .int8:
          preconditionFailure("\(name) has whole numbers, and numbers with fractions were asked for")
        }
      }
    }
    if !isFinite { throw firstNonFiniteValue() }
  }

  /// Every element as Float32; see ``convert(_:into:)``.
  package func floats() throws(DermaFusionError) -> [Float] {
    // The array without elements is one for all threads, and its count would be written.
    if elementCount == 0 { return [] }
    var failure: DermaFusionError?
    let values = unsafe [Float](unsafeUninitializedCapacity: elementCount) { buffer, count in
      do throws(DermaFusionError) {
        try unsafe convert(
          0..<elementCount, into: UnsafeMutableBufferPointer(rebasing: buffer[..<elementCount]))
        count = elementCount
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    return values
  }

  /// Every element of a tensor of whole numbers, in the order stored.
  package func integers() -> [Int8] {
    precondition(dataType == .int8, "\(name) has the data type \(dataType.rawValue), and I8 was asked for")
    return file.withBytes { bytes in
      unsafe bytes.extracting(byteRange).withUnsafeBufferPointer { bytes in
        unsafe [Int8](unsafeUninitializedCapacity: bytes.count) { levels, count in
          for index in bytes.indices { unsafe levels[index] = unsafe Int8(bitPattern: bytes[index]) }
          count = bytes.count
        }
      }
    }
  }

  /// Gives the memory of some elements back, where nobody reads them again but the hash of the file.
  package func release(_ range: Range<Int>) { file.release(bytes(range)) }

  private func bytes(_ range: Range<Int>) -> Range<Int> {
    let start = byteRange.lowerBound + range.lowerBound * dataType.byteCount
    return start..<start + range.count * dataType.byteCount
  }

  private func firstNonFiniteValue() -> DermaFusionError {
    for index in 0..<elementCount {
      let value = file.withBytes { element(at: index, in: $0) }
      if !value.isFinite {
        let word = value.isNaN ? "NaN" : value < 0 ? "-infinity" : "infinity"
        return .invalidModel(
          "\(fileName): the tensor \(quoted(name)) has the value \(word) at index \(index); every value must be finite"
        )
      }
    }
    preconditionFailure("\(name) was found to have a non-finite value, and none is there")
  }

  /// One element, for errors: infinities and NaNs keep their sign and kind.
  private func element(at index: Int, in file: Span<UInt8>) -> Float {
    let start = byteRange.lowerBound + index * dataType.byteCount
    // Little-endian.
    let bits = (0..<dataType.byteCount).reversed().reduce(UInt32(0)) { $0 << 8 | UInt32(file[start + $1]) }
    if dataType == .float32 { return Float(bitPattern: bits) }
    if dataType == .float16, bits & 0x7C00 != 0x7C00 { return 0 }
    // The sign and an exponent of all ones mean the same in all three types; any mantissa bit makes a NaN.
    return Float(
      bitPattern: dataType == .brainFloat16
        ? bits << 16 : (bits & 0x8000) << 16 | 0x7F80_0000 | (bits & 0x03FF) << 13)
  }
}

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
