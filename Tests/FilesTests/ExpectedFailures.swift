import SystemModule

@testable import Files

// The messages of the module's failures, to the letter. Users and scripts rely on them.

extension DermaFusionError {
  static func folderMissing(path: String) -> Self {
    modelNotFound("\(path): there is no such model folder")
  }
  static func notAFolder(path: String) -> Self {
    modelNotFound("\(path): a model is a folder, and this is a file")
  }
  static func fileMissing(name: String, folder: String) -> Self {
    modelNotFound("\(folder): the model folder lacks \(name)")
  }
  static func checksumMissing(path: String, name: String) -> Self {
    invalidModel("\(path): there is no line for \(name)")
  }
  static func malformedChecksum(path: String, line: Int) -> Self {
    invalidModel(
      "\(path): line \(line) must be a SHA-256 of 64 hexadecimal digits, two spaces and a file's name")
  }
  static func missingTensor(file: String, name: String) -> Self {
    invalidModel("\(file): the tensor \(quoted(name)) is missing")
  }
  static func misshapenTensor(file: String, name: String, expected: [Int], found: [Int]) -> Self {
    invalidModel(
      "\(file): the tensor \(quoted(name)) has shape \(shapeInWords(found)), and the network needs \(expected)"
    )
  }
  static func nonFiniteValue(file: String, name: String, index: Int, value: String) -> Self {
    invalidModel(
      "\(file): the tensor \(quoted(name)) has the value \(value) at index \(index); every value must be finite"
    )
  }
}
extension DermaFusionError {
  static func unknownKey(_ key: String) -> Self {
    invalidModel("the key \(quoted(key)) is unknown")
  }
  static func wrongType(key: String, expected: String, found: String) -> Self {
    invalidModel("\(quoted(key)) must be \(expected), and is \(found)")
  }
  static func malformedText(key: String) -> Self {
    invalidModel(
      "\(quoted(key)) must be a text of 1 to \(ConfigurationObject.textLimit) characters, without control characters, "
        + "marks of the direction of writing and code points that are no characters")
  }
  static func duplicateClass(_ name: String) -> Self {
    invalidModel("\"classes\" has \(quoted(name)) twice")
  }
  static func partialMalignancy(present: String, missing: String) -> Self {
    invalidModel(
      "\"classes\" tells the malignancy of \(quoted(present)) and not that of \(quoted(missing)); it must tell all or none"
    )
  }
  static var listsMembers: DermaFusionError {
    invalidModel(
      "the key \"members\" makes this an ensemble, and a single model is required here, such as one of its members"
    )
  }
  static func notAPlainName(key: String, value: String) -> Self {
    invalidModel(
      "\(quoted(key)) is \(quoted(value)), and must be the plain name of a folder beside this file")
  }
  static func duplicateMember(key: String, folder: String) -> Self {
    invalidModel("\(quoted(key)) is \(quoted(folder)), which another member has already")
  }
  static func unlikeFirstMember(key: String, found: String, first: String) -> Self {
    invalidModel(
      "\(quoted(key)) is \(shortened(found, to: 400)), and must be \(shortened(first, to: 400)), as in the ensemble's "
        + "first member")
  }
}
extension DermaFusionError {
  static func unexpectedEnd(offset: Int) -> Self {
    invalidJSON("the JSON ends at byte \(offset) in the middle of a value")
  }
  static func unexpectedByte(offset: Int, byte: UInt8, expected: String) -> Self {
    invalidJSON("the JSON has \(inWords(byte)) at byte \(offset) where \(expected) is required")
  }
  static func malformedNumber(offset: Int) -> Self {
    invalidJSON("the JSON has a malformed number at byte \(offset)")
  }
  static func controlCharacter(offset: Int, byte: UInt8) -> Self {
    invalidJSON("the JSON has \(inWords(byte)) unescaped in a string at byte \(offset)")
  }
  static func malformedEscape(offset: Int) -> Self {
    invalidJSON("the JSON has a malformed escape at byte \(offset)")
  }
  static func loneSurrogate(offset: Int) -> Self {
    invalidJSON("the JSON has half a surrogate pair at byte \(offset)")
  }
  static func malformedUTF8(offset: Int) -> Self {
    invalidJSON("the JSON string at byte \(offset) is not UTF-8")
  }
  static func duplicateKey(_ key: String, offset: Int) -> Self {
    invalidJSON("the JSON has the key \(quoted(key)) a second time at byte \(offset)")
  }
  static func nestedTooDeep(offset: Int, limit: Int) -> Self {
    invalidJSON("the JSON is nested deeper than \(limit) levels at byte \(offset)")
  }
  static func trailingBytes(offset: Int) -> Self {
    invalidJSON("the JSON has something after its end, at byte \(offset)")
  }

  private static func invalidJSON(_ message: Sentence) -> Self {
    Self(.invalidJSON, message: message, remedy: "Correct the JSON at this place.")
  }

  private static func inWords(_ byte: UInt8) -> String {
    byte > 0x20 && byte < 0x7F ? "'\(Character(Unicode.Scalar(byte)))'" : "the byte \(byte)"
  }
}
private func shapeInWords(_ shape: [Int]) -> String {
  shape.count > 8 ? "[" + shape.prefix(8).map(String.init).joined(separator: ", ") + ", ...]" : "\(shape)"
}
extension DermaFusionError {
  static func header(_ error: DermaFusionError) -> Self { invalidModel("in the header, \(error)") }
  static func headerLengthMissing(fileSize: Int) -> Self {
    invalidModel(
      "the file has \(fileSize) bytes, and a safetensors file begins with eight that give its header's length"
    )
  }
  static func headerTooLarge(length: UInt64, limit: Int) -> Self {
    invalidModel("the header's length is given as \(length) bytes, and at most \(limit) are allowed")
  }
  static func headerTruncated(length: Int, available: Int) -> Self {
    invalidModel("the header should have \(length) bytes, and the file has \(available) more")
  }
  static func headerStart(byte: UInt8) -> Self {
    invalidModel("the header begins with the byte \(byte) instead of '{'")
  }
  static var headerEmpty: DermaFusionError { invalidModel("the header is empty") }
  static func metadataNotStrings(key: String) -> Self {
    invalidModel("the header's __metadata__ must map strings to strings, and \(quoted(key)) does not")
  }
  static func entryNotAnObject(tensor: String) -> Self {
    invalidModel("the header's entry for the tensor \(quoted(tensor)) is not an object")
  }
  static func missingField(tensor: String, field: String) -> Self {
    invalidModel("the header's entry for the tensor \(quoted(tensor)) lacks \(quoted(field))")
  }
  static func unknownField(tensor: String, field: String) -> Self {
    invalidModel("the header's entry for the tensor \(quoted(tensor)) has the unknown field \(quoted(field))")
  }
  static func malformedField(tensor: String, field: String, rule: String) -> Self {
    invalidModel("the tensor \(quoted(tensor)) has a malformed \(quoted(field)), which must be \(rule)")
  }
  static func unsupportedDataType(tensor: String, dataType: String) -> Self {
    invalidModel(
      "the tensor \(quoted(tensor)) has the data type \(quoted(dataType)); only F32, F16, BF16 and I8 are supported"
    )
  }
  static func shapeOverflow(tensor: String, shape: [Int]) -> Self {
    invalidModel(
      "the tensor \(quoted(tensor)) has shape \(shapeInWords(shape)), whose size in bytes overflows")
  }
  static func offsetsReversed(tensor: String, begin: Int, end: Int) -> Self {
    invalidModel("the tensor \(quoted(tensor)) begins at \(begin) and ends before it, at \(end)")
  }
  static func hole(tensor: String, expectedBegin: Int, begin: Int) -> Self {
    invalidModel(
      "the tensor \(quoted(tensor)) begins at \(begin) and leaves a hole: it must begin at \(expectedBegin)")
  }
  static func overlap(tensor: String, expectedBegin: Int, begin: Int) -> Self {
    invalidModel(
      "the tensor \(quoted(tensor)) begins at \(begin) and overlaps another: it must begin at \(expectedBegin)"
    )
  }
  static func sizeMismatch(tensor: String, expectedBytes: Int, bytes: Int) -> Self {
    invalidModel(
      "the tensor \(quoted(tensor)) has \(bytes) bytes, and its shape and data type need \(expectedBytes)")
  }
  static func dataTruncated(tensor: String, end: Int, available: Int) -> Self {
    invalidModel(
      "the tensor \(quoted(tensor)) ends at byte \(end) of the data, and the file has only \(available)")
  }
  static func trailingData(bytes: Int) -> Self {
    invalidModel("\(bytes) bytes follow the last tensor")
  }
}
