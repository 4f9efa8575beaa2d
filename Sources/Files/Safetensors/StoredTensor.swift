import SystemModule

/// The type of a stored tensor's elements.
package enum TensorDataType: String, Sendable, CaseIterable {
  /// IEEE single precision.
  case float32 = "F32"
  /// IEEE half precision.
  case float16 = "F16"
  /// The upper half of IEEE single precision.
  case brainFloat16 = "BF16"
  /// Signed integers, the weights of quantised layers.
  case int8 = "I8"

  /// Bytes per element.
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
  /// The dotted name.
  package let name: String
  /// The type of the elements.
  package let dataType: TensorDataType
  /// The dimensions; empty for a single number.
  package let shape: [Int]
  /// The number of elements.
  package let elementCount: Int

  let fileName: String
  let file: FileContent
  /// Where the elements lie in the file.
  package let byteRange: Range<Int>

  /// Converts every element to Float32, exactly, in the order stored.
  ///
  /// - Parameter destination: room for exactly `elementCount` numbers; may be uninitialized.
  /// - Throws: `DermaFusionError.nonFiniteValue` for the first NaN or infinity.
  package func convert(into destination: UnsafeMutableBufferPointer<Float>) throws(DermaFusionError) {
    try unsafe convert(0..<elementCount, into: destination)
  }

  /// Converts some elements to Float32, exactly, in the order stored.
  ///
  /// - Parameters:
  ///   - range: places among all `elementCount` elements.
  ///   - destination: room for exactly so many numbers; may be uninitialized.
  /// - Throws: `DermaFusionError.nonFiniteValue` for the tensor's first NaN or infinity when there is one in the range.
  package func convert(
    _ range: Range<Int>, into destination: UnsafeMutableBufferPointer<Float>
  ) throws(DermaFusionError) {
    precondition(
      range.lowerBound >= 0 && range.upperBound <= elementCount && destination.count == range.count,
      "converting \(range) of \(elementCount) elements of \(name) into room for \(destination.count)")
    guard !range.isEmpty, let target = destination.baseAddress else { return }
    let start = byteRange.lowerBound + range.lowerBound * dataType.byteCount
    let isFinite = file.withBytes { file in
      let stored = file.extracting(start..<start + range.count * dataType.byteCount)
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

  /// Converts every element to Float32, exactly, in the order stored.
  ///
  /// - Throws: `DermaFusionError.nonFiniteValue` for the first NaN or infinity.
  package func floats() throws(DermaFusionError) -> [Float] {
    var failure: DermaFusionError?
    let values = unsafe [Float](unsafeUninitializedCapacity: elementCount) { buffer, count in
      do throws(DermaFusionError) {
        try unsafe convert(into: UnsafeMutableBufferPointer(rebasing: buffer[..<elementCount]))
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
    return file.withBytes { bytes in byteRange.map { Int8(bitPattern: bytes[$0]) } }
  }

  private func firstNonFiniteValue() -> DermaFusionError {
    for index in 0..<elementCount {
      let value = file.withBytes { element(at: index, in: $0) }
      if !value.isFinite {
        let word = value.isNaN ? "NaN" : value < 0 ? "-infinity" : "infinity"
        return .nonFiniteValue(file: fileName, name: name, index: index, value: word)
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
