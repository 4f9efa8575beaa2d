/// `[32, 3, 3, 3]`; of a shape that no tensor here has only the beginning.
func inWords(_ shape: [Int]) -> String {
  shape.count > 8 ? "[" + shape.prefix(8).map(String.init).joined(separator: ", ") + ", ...]" : "\(shape)"
}

/// The rules of the safetensors format, one case each. Source: `tensor.rs` of the safetensors project.
package enum SafetensorsError: Error, Equatable, Sendable {
  /// The file is shorter than the eight bytes that give the header's length.
  case headerLengthMissing(fileSize: Int)
  /// The header's length is above the limit.
  case headerTooLarge(length: UInt64, limit: Int)
  /// The header's length reaches past the end of the file.
  case headerTruncated(length: Int, available: Int)
  /// The header's first byte is not `{`.
  case headerStart(byte: UInt8)
  /// The header is empty.
  case headerEmpty
  /// The header is not JSON; offsets count from the header's start.
  case json(JSONError)
  /// `__metadata__` is not a map from strings to strings.
  case metadataNotStrings(key: String)
  /// A tensor's entry is not an object.
  case entryNotAnObject(tensor: String)
  /// A tensor's entry lacks a field.
  case missingField(tensor: String, field: String)
  /// A tensor's entry has a field that the format does not know.
  case unknownField(tensor: String, field: String)
  /// A tensor's field is not of its type; the rule is given in words.
  case malformedField(tensor: String, field: String, rule: String)
  /// The tensor's element type is not one that this reader converts.
  case unsupportedDataType(tensor: String, dataType: String)
  /// The product of the tensor's dimensions and its element size does not fit in 63 bits.
  case shapeOverflow(tensor: String, shape: [Int])
  /// The tensor ends before it begins.
  case offsetsReversed(tensor: String, begin: Int, end: Int)
  /// The tensor does not begin where the one before it ends, but further on.
  case hole(tensor: String, expectedBegin: Int, begin: Int)
  /// The tensor begins before the one before it ends.
  case overlap(tensor: String, expectedBegin: Int, begin: Int)
  /// The tensor's offsets do not span the bytes that its shape and element type need.
  case sizeMismatch(tensor: String, expectedBytes: Int, bytes: Int)
  /// The tensor reaches past the end of the file; both count bytes of the data section.
  case dataTruncated(tensor: String, end: Int, available: Int)
  /// Bytes follow the last tensor.
  case trailingData(bytes: Int)
}

extension SafetensorsError: CustomStringConvertible {
  /// The broken rule, in one line.
  package var description: String {
    switch self {
    case .headerLengthMissing(let fileSize):
      "the file has \(fileSize) bytes, and a safetensors file begins with eight that give its header's length"
    case .headerTooLarge(let length, let limit):
      "the header's length is given as \(length) bytes, and at most \(limit) are allowed"
    case .headerTruncated(let length, let available):
      "the header should have \(length) bytes, and the file has \(available) more"
    case .headerStart(let byte):
      "the header begins with the byte \(byte) instead of '{'"
    case .headerEmpty:
      "the header is empty"
    case .json(let error):
      "in the header, \(error)"
    case .metadataNotStrings(let key):
      "the header's __metadata__ must map strings to strings, and \(quoted(key)) does not"
    case .entryNotAnObject(let tensor):
      "the header's entry for the tensor \(quoted(tensor)) is not an object"
    case .missingField(let tensor, let field):
      "the header's entry for the tensor \(quoted(tensor)) lacks \(quoted(field))"
    case .unknownField(let tensor, let field):
      "the header's entry for the tensor \(quoted(tensor)) has the unknown field \(quoted(field))"
    case .malformedField(let tensor, let field, let rule):
      "the tensor \(quoted(tensor)) has a malformed \(quoted(field)), which must be \(rule)"
    case .unsupportedDataType(let tensor, let dataType):
      "the tensor \(quoted(tensor)) has the data type \(quoted(dataType)); only F32, F16, BF16 and I8 are supported"
    case .shapeOverflow(let tensor, let shape):
      "the tensor \(quoted(tensor)) has shape \(inWords(shape)), whose size in bytes overflows"
    case .offsetsReversed(let tensor, let begin, let end):
      "the tensor \(quoted(tensor)) begins at \(begin) and ends before it, at \(end)"
    case .hole(let tensor, let expectedBegin, let begin):
      "the tensor \(quoted(tensor)) begins at \(begin) and leaves a hole: it must begin at \(expectedBegin)"
    case .overlap(let tensor, let expectedBegin, let begin):
      "the tensor \(quoted(tensor)) begins at \(begin) and overlaps another: it must begin at \(expectedBegin)"
    case .sizeMismatch(let tensor, let expectedBytes, let bytes):
      "the tensor \(quoted(tensor)) has \(bytes) bytes, and its shape and data type need \(expectedBytes)"
    case .dataTruncated(let tensor, let end, let available):
      "the tensor \(quoted(tensor)) ends at byte \(end) of the data, and the file has only \(available)"
    case .trailingData(let bytes):
      "\(bytes) bytes follow the last tensor"
    }
  }
}
