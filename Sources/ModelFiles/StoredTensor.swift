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
  let byteRange: Range<Int>

  /// Calls the body with the tensor's bytes, valid until it returns. They are not known to be finite numbers.
  package func withUnsafeBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try file.withBytes { (bytes) throws(Failure) in
      try body(UnsafeRawBufferPointer(rebasing: bytes[byteRange]))
    }
  }

  /// Converts every element to Float32, exactly, in the order stored.
  ///
  /// - Parameter destination: room for exactly `elementCount` numbers; may be uninitialized.
  /// - Throws: `ModelFileError.nonFiniteValue` for the first NaN or infinity.
  package func convert(into destination: UnsafeMutableBufferPointer<Float>) throws(ModelFileError) {
    try convert(0..<elementCount, into: destination)
  }

  /// Converts some elements to Float32, exactly, in the order stored.
  ///
  /// - Parameters:
  ///   - range: places among all `elementCount` elements.
  ///   - destination: room for exactly so many numbers; may be uninitialized.
  /// - Throws: `ModelFileError.nonFiniteValue` for the tensor's first NaN or infinity when there is one in the range.
  package func convert(
    _ range: Range<Int>, into destination: UnsafeMutableBufferPointer<Float>
  ) throws(ModelFileError) {
    precondition(
      range.lowerBound >= 0 && range.upperBound <= elementCount && destination.count == range.count,
      "converting \(range) of \(elementCount) elements of \(name) into room for \(destination.count)")
    guard !range.isEmpty, let target = destination.baseAddress else { return }
    let isFinite = withUnsafeBytes { bytes in
      let source = bytes.baseAddress! + range.lowerBound * dataType.byteCount
      return switch dataType {
      case .float32: FloatConversion.convertSingle(source, count: range.count, into: target)
      case .float16: FloatConversion.convertHalf(source, count: range.count, into: target)
      case .brainFloat16: FloatConversion.convertBrainFloat(source, count: range.count, into: target)
      case .int8: preconditionFailure("\(name) has whole numbers, and numbers with fractions were asked for")
      }
    }
    if !isFinite { throw firstNonFiniteValue() }
  }

  /// Converts every element to Float32, exactly, in the order stored.
  ///
  /// - Throws: `ModelFileError.nonFiniteValue` for the first NaN or infinity.
  package func floats() throws(ModelFileError) -> [Float] {
    var failure: ModelFileError?
    let values = [Float](unsafeUninitializedCapacity: elementCount) { buffer, count in
      do throws(ModelFileError) {
        try convert(into: UnsafeMutableBufferPointer(rebasing: buffer[..<elementCount]))
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
    return withUnsafeBytes { bytes in bytes.map { Int8(bitPattern: $0) } }
  }

  private func firstNonFiniteValue() -> ModelFileError {
    withUnsafeBytes { bytes in
      for index in 0..<elementCount {
        let value = element(at: index, in: bytes)
        if !value.isFinite {
          let word = value.isNaN ? "NaN" : value < 0 ? "-infinity" : "infinity"
          return .nonFiniteValue(file: fileName, name: name, index: index, value: word)
        }
      }
      preconditionFailure("\(name) was found to have a non-finite value, and none is there")
    }
  }

  /// One element, for errors: infinities and NaNs keep their sign and kind.
  private func element(at index: Int, in bytes: UnsafeRawBufferPointer) -> Float {
    if dataType == .float32 {
      return Float(
        bitPattern: UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: index * 4, as: UInt32.self)))
    }
    let bits = UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: index * 2, as: UInt16.self))
    if dataType == .float16, bits & 0x7C00 != 0x7C00 { return 0 }
    // The sign and an exponent of all ones mean the same in all three types; any mantissa bit makes a NaN.
    return Float(
      bitPattern: dataType == .brainFloat16
        ? UInt32(bits) << 16 : UInt32(bits & 0x8000) << 16 | 0x7F80_0000 | UInt32(bits & 0x03FF) << 13)
  }
}
