import SystemModule
import Testing

@testable import Files

/// One file per rule of the format that breaks this rule and no other.
@Suite struct SafetensorsRuleTests {
  private func expectError(
    _ error: DermaFusionError, _ bytes: [UInt8], _ place: SourceLocation = #_sourceLocation
  ) {
    #expect(throws: error.named("x.safetensors"), sourceLocation: place) {
      try SafetensorsFile(bytes: bytes, name: "x.safetensors")
    }
  }

  private static let a = #""a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}"#

  @Test func emptyFile() {
    #expect(throws: DermaFusionError.empty("x").inModel) { try SafetensorsFile(bytes: [], name: "x") }
  }

  @Test func shorterThanTheLength() {
    expectError(.headerLengthMissing(fileSize: 7), [2, 0, 0, 0, 0, 0, 0])
  }

  @Test func headerAboveTheLimit() {
    // 4 MB and a byte, little-endian; the limit itself fails only because the bytes are missing.
    expectError(
      .headerTooLarge(length: 4_194_305, limit: 4_194_304), [0x01, 0, 0x40, 0, 0, 0, 0, 0, 0x7B])
    expectError(.headerTruncated(length: 4_194_304, available: 1), [0, 0, 0x40, 0, 0, 0, 0, 0, 0x7B])
    expectError(
      .headerTooLarge(length: .max, limit: 4_194_304), [UInt8](repeating: 0xFF, count: 8) + [0x7B])
  }

  /// 93 MB of header took 1.7 GB of memory.
  @Test func aHeaderOf93MegabytesIsRefusedBeforeItIsParsed() {
    let tensor = Array(#""a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"#.utf8)
    let header = String(
      decoding: [UInt8(ascii: "{")] + Array(repeatElement(tensor, count: 90_000).joined()), as: UTF8.self)
    expectError(.headerTooLarge(length: UInt64(header.utf8.count), limit: 4_194_304), safetensors(header))
  }

  @Test func ofAShapeThatNoTensorHasOnlyTheBeginningIsShown() throws {
    let shape = [Int](repeating: 2, count: 100_000)
    let file = safetensors(#"{"a":{"dtype":"F32","shape":\#(shape),"data_offsets":[0,4]}}"#, [0, 0, 0, 0])
    let error = #expect(throws: DermaFusionError.self) { try SafetensorsFile(bytes: file, name: "x") }
    #expect(
      error?.description == """
        x: the tensor "a" has shape [2, 2, 2, 2, 2, 2, 2, 2, ...], whose size in bytes overflows
        """)
  }

  @Test func headerLengthIsLittleEndian() {
    expectError(
      .headerTooLarge(length: 0x0200_0000_0000_0000, limit: 4_194_304),
      [0, 0, 0, 0, 0, 0, 0, 2] + Array("{}".utf8))
  }

  @Test func headerPastTheEnd() {
    expectError(.headerTruncated(length: 3, available: 2), [3, 0, 0, 0, 0, 0, 0, 0] + Array("{}".utf8))
  }

  @Test func emptyHeader() {
    expectError(.headerEmpty, [0, 0, 0, 0, 0, 0, 0, 0])
  }

  @Test func headerBeginsWithABrace() {
    expectError(.headerStart(byte: 0x20), safetensors(" {}"))
    expectError(.headerStart(byte: 0x5B), safetensors("[]"))
  }

  @Test func headerIsJSON() {
    expectError(.header(.unexpectedEnd(offset: 1)), safetensors("{"))
    expectError(.header(.trailingBytes(offset: 2)), safetensors("{}x"))
    expectError(
      .header(.malformedUTF8(offset: 1)), [6, 0, 0, 0, 0, 0, 0, 0, 0x7B, 0x22, 0xFF, 0x22, 0x3A, 0x7D])
  }

  @Test func duplicateKeys() {
    let data: [UInt8] = [0, 0, 128, 63]
    expectError(.header(.duplicateKey("a", offset: 54)), safetensors("{\(Self.a),\(Self.a)}", data))
    expectError(
      .header(.duplicateKey("dtype", offset: 20)),
      safetensors(#"{"a":{"dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4]}}"#, data))
  }

  @Test func aPointerOfGitLFSSaysWhatToRun() {
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12345\n"
    let error = #expect(throws: DermaFusionError.self) { try SafetensorsFile(bytes: Array(pointer.utf8)) }
    #expect(error?.message.hasSuffix("in the place of the file; run git lfs pull") == true)
  }

  /// The safetensors project's reader takes null for a header without metadata.
  @Test func metadataMayBeNull() throws {
    #expect(try SafetensorsFile(bytes: safetensors(#"{"__metadata__":null}"#)).metadata.isEmpty)
  }

  @Test func metadataMapsStringsToStrings() {
    expectError(.metadataNotStrings(key: "n"), safetensors(#"{"__metadata__":{"format":"pt","n":1}}"#))
    expectError(.metadataNotStrings(key: "__metadata__"), safetensors(#"{"__metadata__":"pt"}"#))
  }

  @Test func entryIsAnObject() {
    expectError(.entryNotAnObject(tensor: "a"), safetensors(#"{"a":[1]}"#))
  }

  @Test func entryHasItsFields() {
    expectError(
      .missingField(tensor: "a", field: "dtype"), safetensors(#"{"a":{"shape":[1],"data_offsets":[0,4]}}"#))
    expectError(
      .missingField(tensor: "a", field: "shape"), safetensors(#"{"a":{"dtype":"F32","data_offsets":[0,4]}}"#))
    expectError(
      .missingField(tensor: "a", field: "data_offsets"), safetensors(#"{"a":{"dtype":"F32","shape":[1]}}"#))
    expectError(
      .unknownField(tensor: "a", field: "scale"),
      safetensors(#"{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"scale":1}}"#, [0, 0, 0, 0]))
  }

  @Test(arguments: ["1", "null", "[]"])
  func dataTypeIsAString(dataType: String) {
    expectError(
      .malformedField(tensor: "a", field: "dtype", rule: "a string"),
      safetensors(#"{"a":{"dtype":\#(dataType),"shape":[1],"data_offsets":[0,4]}}"#, [0, 0, 0, 0]))
  }

  @Test(arguments: ["I64", "F64", "I16", "U8", "BOOL", "F8_E4M3", "f32", ""])
  func otherDataTypes(dataType: String) {
    expectError(
      .unsupportedDataType(tensor: "a.b", dataType: dataType),
      safetensors(#"{"a.b":{"dtype":"\#(dataType)","shape":[1],"data_offsets":[0,4]}}"#, [0, 0, 0, 0]))
  }

  @Test(arguments: ["[-1]", "[1.0]", "[1e0]", #"["1"]"#, "1", "{}", "[-0]", "[9223372036854775808]", "[[1]]"])
  func shapeHoldsNaturalNumbers(shape: String) {
    expectError(
      .malformedField(tensor: "a", field: "shape", rule: "an array of natural numbers"),
      safetensors(#"{"a":{"dtype":"F32","shape":\#(shape),"data_offsets":[0,4]}}"#, [0, 0, 0, 0]))
  }

  @Test(arguments: ["[0]", "[0,4,8]", "[0,4.0]", "[-4,0]", "4", "[]"])
  func offsetsAreTwoNaturalNumbers(offsets: String) {
    expectError(
      .malformedField(tensor: "a", field: "data_offsets", rule: "two natural numbers"),
      safetensors(#"{"a":{"dtype":"F32","shape":[1],"data_offsets":\#(offsets)}}"#, [0, 0, 0, 0]))
  }

  @Test func shapeProductOverflows() {
    expectError(
      .shapeOverflow(tensor: "a", shape: [4_294_967_296, 4_294_967_296]),
      safetensors(#"{"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}}"#))
    // The elements can be counted, their bytes cannot.
    expectError(
      .shapeOverflow(tensor: "a", shape: [4_611_686_018_427_387_904]),
      safetensors(#"{"a":{"dtype":"F16","shape":[4611686018427387904],"data_offsets":[0,0]}}"#))
    // A zero does not excuse what stands before it.
    expectError(
      .shapeOverflow(tensor: "a", shape: [4_294_967_296, 4_294_967_296, 0]),
      safetensors(#"{"a":{"dtype":"F32","shape":[4294967296,4294967296,0],"data_offsets":[0,0]}}"#))
  }

  @Test func endBeforeBegin() {
    expectError(
      .offsetsReversed(tensor: "a", begin: 4, end: 0),
      safetensors(#"{"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}}"#, [0, 0, 0, 0]))
  }

  @Test func firstTensorBeginsAtZero() {
    expectError(
      .hole(tensor: "a", expectedBegin: 0, begin: 4),
      safetensors(#"{"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}"#, [UInt8](repeating: 0, count: 8))
    )
  }

  @Test func holeBetweenTensors() {
    expectError(
      .hole(tensor: "b", expectedBegin: 4, begin: 6),
      safetensors(
        #"{\#(Self.a),"b":{"dtype":"F16","shape":[1],"data_offsets":[6,8]}}"#, [UInt8](repeating: 0, count: 8)
      ))
  }

  @Test func overlappingTensors() {
    expectError(
      .overlap(tensor: "b", expectedBegin: 4, begin: 2),
      safetensors(
        #"{\#(Self.a),"b":{"dtype":"F32","shape":[1],"data_offsets":[2,6]}}"#, [UInt8](repeating: 0, count: 6)
      ))
    expectError(
      .overlap(tensor: "b", expectedBegin: 4, begin: 0),
      safetensors(
        #"{\#(Self.a),"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}"#, [UInt8](repeating: 0, count: 4)
      ))
  }

  @Test func bytesFitTheShape() {
    expectError(
      .sizeMismatch(tensor: "a", expectedBytes: 8, bytes: 4),
      safetensors(#"{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}}"#, [0, 0, 0, 0]))
    expectError(
      .sizeMismatch(tensor: "a", expectedBytes: 12, bytes: 16),
      safetensors(
        #"{"a":{"dtype":"BF16","shape":[2,3],"data_offsets":[0,16]}}"#, [UInt8](repeating: 0, count: 16)))
  }

  @Test func dataEndEarly() {
    expectError(.dataTruncated(tensor: "a", end: 4, available: 3), safetensors("{\(Self.a)}", [0, 0, 0]))
  }

  @Test func dataGoOn() {
    expectError(.trailingData(bytes: 1), safetensors("{\(Self.a)}", [0, 0, 0, 0, 0]))
    expectError(.trailingData(bytes: 2), safetensors("{}", [0, 0]))
  }

  @Test func errorsAreOneLineThatNamesFileAndTensor() {
    let error = DermaFusionError.unsupportedDataType(tensor: "bn1.num_batches\ntracked", dataType: "I64")
      .named("m.safetensors")
    #expect(
      error.description
        == "m.safetensors: the tensor \"bn1.num_batches\u{FFFD}tracked\" has the data type \"I64\"; "
        + "only F32, F16, BF16 and I8 are supported")
  }
}
