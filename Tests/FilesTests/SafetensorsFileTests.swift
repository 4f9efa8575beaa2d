import Foundation
import ReferenceLayers
import SystemModule
import Testing

@testable import Files

@Suite struct SafetensorsFileTests {
  /// b before a in the header, a before b in the data; an F16 tensor of odd size leaves the F32 one unaligned.
  static let mixed = safetensors(
    #"{"__metadata__":{"format":"pt"},"b":{"dtype":"F32","shape":[2,1],"data_offsets":[6,14]},"#
      + #""none":{"dtype":"F32","shape":[0,7],"data_offsets":[6,6]},"#
      + #""a":{"dtype":"F16","shape":[3],"data_offsets":[0,6]},"c":{"dtype":"BF16","shape":[],"data_offsets":[14,16]}}  "#,
    [0x00, 0x3C, 0x00, 0xC0, 0x01, 0x00] + [0x00, 0x00, 0x20, 0xC1, 0x01, 0x00, 0x00, 0x00] + [0xC8, 0xC2])

  @Test func readsEveryDataType() throws {
    let file = try SafetensorsFile(bytes: Self.mixed)
    #expect(file.metadata == ["format": "pt"])
    #expect(file.tensors.map(\.name) == ["a", "none", "b", "c"])
    #expect(file.tensors.map(\.elementCount) == [3, 0, 2, 1])
    #expect(try file.tensor("a", shape: [3]).floats() == [1, -2, 0x1p-24])
    #expect(try file.tensor("b", shape: [2, 1]).floats() == [-10, 0x1p-149])
    #expect(try file.tensor("c", shape: []).floats() == [-100])
    #expect(try file.tensor("none", shape: [0, 7]).floats() == [])
  }

  @Test func fileWithoutTensors() throws {
    #expect(try SafetensorsFile(bytes: safetensors("{}")).tensors.isEmpty)
    #expect(try SafetensorsFile(bytes: safetensors(#"{"__metadata__":{}}"#)).tensors.isEmpty)
  }

  @Test func namesMayBeEscaped() throws {
    let file = try SafetensorsFile(
      bytes: safetensors(
        #"{"\u0061\ud83d\ude00":{"dtype":"F16","shape":[1],"data_offsets":[0,2]}}"#, [0, 0x3C]))
    #expect(try file.tensor("a😀", shape: [1]).floats() == [1])
  }

  @Test func missingTensor() throws {
    let file = try SafetensorsFile(bytes: Self.mixed, name: "m")
    #expect(throws: DermaFusionError.missingTensor(file: "m", name: "a.weight")) {
      try file.tensor("a.weight", shape: [3]).floats()
    }
  }

  @Test(arguments: [[], [2], [1, 3], [3, 1]])
  func misshapenTensor(shape: [Int]) throws {
    let file = try SafetensorsFile(bytes: Self.mixed, name: "m")
    #expect(throws: DermaFusionError.misshapenTensor(file: "m", name: "a", expected: shape, found: [3])) {
      try file.tensor("a", shape: shape).floats()
    }
    #expect(
      DermaFusionError.misshapenTensor(file: "m", name: "a", expected: [2, 1], found: [3]).description
        == "m: the tensor \"a\" has shape [3], and the network needs [2, 1]")
  }

  /// Every place in a tensor, so that the vectorised part and the tail are both seen, for every non-finite value.
  @Test(arguments: [
    (TensorDataType.float32, 0x7F80_0000 as UInt32, "infinity"), (.float32, 0xFF80_0000, "-infinity"),
    (.float32, 0x7FC0_0000, "NaN"), (.float32, 0xFF80_0001, "NaN"), (.float16, 0x7C00, "infinity"),
    (.float16, 0xFC00, "-infinity"), (.float16, 0x7E00, "NaN"), (.float16, 0xFC01, "NaN"),
    (.brainFloat16, 0x7F80, "infinity"),
    (.brainFloat16, 0xFF80, "-infinity"), (.brainFloat16, 0x7FC0, "NaN"), (.brainFloat16, 0xFF81, "NaN"),
  ])
  func nonFiniteValues(dataType: TensorDataType, pattern: UInt32, word: String) throws {
    let size = dataType.byteCount
    let count = 37
    for place in 0..<count {
      var data = [UInt8](repeating: 0, count: count * size)
      withUnsafeBytes(of: pattern.littleEndian) { bytes in
        for byte in 0..<size { data[place * size + byte] = bytes[byte] }
      }
      let file = try SafetensorsFile(
        bytes: safetensors(
          #"{"w":{"dtype":"\#(dataType.rawValue)","shape":[37],"data_offsets":[0,\#(count * size)]}}"#, data),
        name: "m")
      let error = DermaFusionError.nonFiniteValue(file: "m", name: "w", index: place, value: word)
      #expect(throws: error) { try file.tensor("w", shape: [37]).floats() }
    }
  }

  @Test func integersAreReadAsTheyAre() throws {
    let values: [Int8] = [0, 1, -1, 127, -127, -128]
    let header = #"{"w":{"dtype":"I8","shape":[2,3],"data_offsets":[0,6]}}"#
    let file = try SafetensorsFile(bytes: safetensors(header, values.map { UInt8(bitPattern: $0) }))
    #expect(file.tensors[0].dataType == .int8)
    #expect(try file.tensor("w", shape: [2, 3]).integers() == values)
  }

  @Test(arguments: TensorDataType.allCases.filter { $0 != .int8 })
  func partsAreConvertedLikeTheWhole(dataType: TensorDataType) throws {
    let count = 37
    var generator = SeededGenerator(seed: 3)
    let data = (0..<count).flatMap { _ in
      // Small enough a magnitude to be finite in each of the types.
      let bits =
        UInt16.random(in: 0...0x7800, using: &generator) | (Bool.random(using: &generator) ? 0x8000 : 0)
      return dataType.byteCount == 2
        ? [UInt8(bits & 0xFF), UInt8(bits >> 8)] : [0, 0, UInt8(bits & 0xFF), UInt8(bits >> 8)]
    }
    let header =
      #"{"w":{"dtype":"\#(dataType.rawValue)","shape":[\#(count)],"data_offsets":[0,\#(data.count)]}}"#
    let tensor = try SafetensorsFile(bytes: safetensors(header, data)).tensor("w", shape: [count])
    let whole = try tensor.floats()
    for range in [0..<0, 0..<1, 5..<21, 36..<37, 0..<37] {
      var part = [Float](repeating: -1, count: range.count)
      try part.withUnsafeMutableBufferPointer { try tensor.convert(range, into: $0) }
      #expect(part == Array(whole[range]), "\(range)")
    }
  }

  @Test func mappedFileEqualsItsBytes() throws {
    try withTemporaryFolder { folder in
      let path = folder + "/m.safetensors"
      try write(Self.mixed, to: path)
      let mapped = try SafetensorsFile(path: path)
      let copied = try SafetensorsFile(bytes: Self.mixed)
      #expect(mapped.name == path)
      #expect(mapped.metadata == copied.metadata)
      #expect(mapped.tensors.map(\.name) == copied.tensors.map(\.name))
      for (one, other) in zip(mapped.tensors, copied.tensors) {
        #expect(one.shape == other.shape && one.dataType == other.dataType)
        #expect(try one.floats().map(\.bitPattern) == other.floats().map(\.bitPattern))
      }
    }
  }

  @Test func aMappedTensorOutlivesItsFileValue() throws {
    try withTemporaryFolder { folder in
      let path = folder + "/m.safetensors"
      try write(Self.mixed, to: path)
      let tensor = try SafetensorsFile(path: path).tensor("b", shape: [2, 1])
      try FileManager.default.removeItem(atPath: path)
      #expect(try tensor.floats() == [-10, 0x1p-149])
    }
  }

  @Test func pathsThatAreNoFile() throws {
    try withTemporaryFolder { folder in
      let missing = folder + "/missing.safetensors"
      #expect(throws: DermaFusionError.notFound(missing).inModel) {
        try SafetensorsFile(path: missing)
      }
      #expect(throws: DermaFusionError.isFolder(folder).inModel) { try SafetensorsFile(path: folder) }
      #expect(throws: DermaFusionError.notFile("/dev/null").inModel) {
        try SafetensorsFile(path: "/dev/null")
      }
      let pipe = folder + "/pipe.safetensors"
      try #require(mkfifo(pipe, 0o600) == 0)
      #expect(throws: DermaFusionError.notFile(pipe).inModel) { try SafetensorsFile(path: pipe) }
      let empty = folder + "/empty.safetensors"
      try write([], to: empty)
      #expect(throws: DermaFusionError.empty(empty).inModel) { try SafetensorsFile(path: empty) }
    }
  }
}
