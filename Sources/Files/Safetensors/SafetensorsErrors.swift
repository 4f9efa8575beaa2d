import SystemModule

/// `[32, 3, 3, 3]`; of a shape that no tensor here has only the beginning.
func inWords(_ shape: [Int]) -> String {
  shape.count > 8 ? "[" + shape.prefix(8).map(String.init).joined(separator: ", ") + ", ...]" : "\(shape)"
}

/// The rules of the safetensors format. Source: `tensor.rs` of the safetensors project.
extension DermaFusionError {
  /// The header is not JSON; offsets count from the header's start.
  package static func header(_ error: DermaFusionError) -> Self { invalidModel("in the header, \(error)") }
  /// The file is shorter than the eight bytes that give the header's length.
  package static func headerLengthMissing(fileSize: Int) -> Self {
    invalidModel(
      "the file has \(fileSize) bytes, and a safetensors file begins with eight that give its header's length"
    )
  }
  /// The header's length is above the limit.
  package static func headerTooLarge(length: UInt64, limit: Int) -> Self {
    invalidModel("the header's length is given as \(length) bytes, and at most \(limit) are allowed")
  }
  /// The header's length reaches past the end of the file.
  package static func headerTruncated(length: Int, available: Int) -> Self {
    invalidModel("the header should have \(length) bytes, and the file has \(available) more")
  }
  /// The header's first byte is not an opening brace.
  package static func headerStart(byte: UInt8) -> Self {
    invalidModel("the header begins with the byte \(byte) instead of '{'")
  }
  /// The header is empty.
  package static var headerEmpty: DermaFusionError { invalidModel("the header is empty") }
  /// `__metadata__` is not a map from strings to strings.
  package static func metadataNotStrings(key: String) -> Self {
    invalidModel("the header's __metadata__ must map strings to strings, and \(quoted(key)) does not")
  }
  /// A tensor's entry is not an object.
  package static func entryNotAnObject(tensor: String) -> Self {
    invalidModel("the header's entry for the tensor \(quoted(tensor)) is not an object")
  }
  /// A tensor's entry lacks a field.
  package static func missingField(tensor: String, field: String) -> Self {
    invalidModel("the header's entry for the tensor \(quoted(tensor)) lacks \(quoted(field))")
  }
  /// A tensor's entry has a field that the format does not know.
  package static func unknownField(tensor: String, field: String) -> Self {
    invalidModel("the header's entry for the tensor \(quoted(tensor)) has the unknown field \(quoted(field))")
  }
  /// A tensor's field is not of its type; the rule is given in words.
  package static func malformedField(tensor: String, field: String, rule: String) -> Self {
    invalidModel("the tensor \(quoted(tensor)) has a malformed \(quoted(field)), which must be \(rule)")
  }
  /// The tensor's element type is not one that this reader converts.
  package static func unsupportedDataType(tensor: String, dataType: String) -> Self {
    invalidModel(
      "the tensor \(quoted(tensor)) has the data type \(quoted(dataType)); only F32, F16, BF16 and I8 are supported"
    )
  }
  /// The product of the tensor's dimensions and its element size does not fit in 63 bits.
  package static func shapeOverflow(tensor: String, shape: [Int]) -> Self {
    invalidModel("the tensor \(quoted(tensor)) has shape \(inWords(shape)), whose size in bytes overflows")
  }
  /// The tensor ends before it begins.
  package static func offsetsReversed(tensor: String, begin: Int, end: Int) -> Self {
    invalidModel("the tensor \(quoted(tensor)) begins at \(begin) and ends before it, at \(end)")
  }
  /// The tensor does not begin where the one before it ends, but further on.
  package static func hole(tensor: String, expectedBegin: Int, begin: Int) -> Self {
    invalidModel(
      "the tensor \(quoted(tensor)) begins at \(begin) and leaves a hole: it must begin at \(expectedBegin)")
  }
  /// The tensor begins before the one before it ends.
  package static func overlap(tensor: String, expectedBegin: Int, begin: Int) -> Self {
    invalidModel(
      "the tensor \(quoted(tensor)) begins at \(begin) and overlaps another: it must begin at \(expectedBegin)"
    )
  }
  /// The tensor's offsets do not span the bytes that its shape and element type need.
  package static func sizeMismatch(tensor: String, expectedBytes: Int, bytes: Int) -> Self {
    invalidModel(
      "the tensor \(quoted(tensor)) has \(bytes) bytes, and its shape and data type need \(expectedBytes)")
  }
  /// The tensor reaches past the end of the file; both count bytes of the data section.
  package static func dataTruncated(tensor: String, end: Int, available: Int) -> Self {
    invalidModel(
      "the tensor \(quoted(tensor)) ends at byte \(end) of the data, and the file has only \(available)")
  }
  /// Bytes follow the last tensor.
  package static func trailingData(bytes: Int) -> Self {
    invalidModel("\(bytes) bytes follow the last tensor")
  }
}
