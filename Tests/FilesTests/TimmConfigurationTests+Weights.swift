import Foundation
import SystemModule
import Testing

@testable import Files

/// The weights beside timm's `config.json`.
extension TimmConfigurationTests {
  static let counted = safetensors(
    #"{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"n.num_batches_tracked":{"dtype":"I64","shape":[],"data_offsets":[4,12]}}"#,
    [0, 0, 128, 63, 9, 0, 0, 0, 0, 0, 0, 0])

  @Test func countsOfBatchesArePassedOverWhereTheyMayBe() throws {
    let file = try SafetensorsFile(bytes: Self.counted, hasCounters: true)
    #expect(file.tensors.map(\.name) == ["w"])
    #expect(try file.tensor("w", shape: [1]).floats() == [1])
    #expect(throws: DermaFusionError.self) { try SafetensorsFile(bytes: Self.counted) }
  }

  /// transformers' wrapper of a network of timm has it as a module; the names of others are left alone.
  @Test func theWrapperOfTransformersIsTakenOff() throws {
    let wrapper = Self.text(more: #""model_type": "timm_wrapper", "problem_type": null, "do_pooling": true,"#)
    func names(_ text: String, _ names: String...) throws -> [String] {
      var header = "{"
      for (index, name) in names.enumerated() {
        header += index == 0 ? "" : ","
        header += #""\#(name)":{"dtype":"F32","shape":[1],"data_offsets":[\#(4 * index),\#(4 * index + 4)]}"#
      }
      let weights = safetensors(header + "}", [UInt8](repeating: 0, count: 4 * names.count))
      return try ModelFolder(configuration: Array(text.utf8), weights: weights).weights.tensors.map(\.name)
    }
    #expect(
      try names(wrapper, "timm_model.fc.bias", "timm_model.timm_model.a") == ["fc.bias", "timm_model.a"])
    #expect(try names(wrapper, "timm_model.fc.bias", "fc.bias") == ["timm_model.fc.bias", "fc.bias"])
    #expect(try names(ModelConfigurationTests.valid, "timm_model.a") == ["timm_model.a"])
  }

  @Test func aMisfitOfTensorsSaysItsWayOut() throws {
    let file = try SafetensorsFile(
      bytes: safetensors(
        #"{"module.fc.bias":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"conv1.weight":{"dtype":"F32","shape":[2,1,1,1],"data_offsets":[4,12]},"head.fc.1.weight":{"dtype":"F32","shape":[1,1],"data_offsets":[12,16]}}"#,
        [UInt8](repeating: 0, count: 16)))
    func refusal(_ name: String, _ shape: [Int]) -> String {
      let error = #expect(throws: DermaFusionError.self) { try file.tensor(name, shape: shape) }
      return error?.message ?? ""
    }
    #expect(refusal("fc.bias", [1]).contains(#"there is "module.fc.bias", whose prefix"#))
    #expect(refusal("head.fc.weight", [1, 1]).contains(#"there is "head.fc.1.weight", to which python"#))
    #expect(refusal("head.weight", [1, 1]).contains(#"there is "head.fc.1.weight", to which"#))
    #expect(refusal("headless.weight", [1, 1]).hasSuffix("is missing"))
    #expect(refusal("conv1.weight", [2, 3, 1, 1]).contains("images of 1 channel, and photographs have 3"))
    #expect(refusal("conv1.weight", [2, 3, 3, 3]).contains("has shape [2, 1, 1, 1]"))
  }

  @Test func shardsAreOneModel() throws {
    let other = safetensors(
      #"{"v":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}"#, [0, 0, 0, 64])
    try withTemporaryFolder { folder in
      let configuration = Array(Self.text().utf8)
      try write(configuration, to: folder + "/config.json")
      try write(Self.counted, to: folder + "/model-00001-of-00002.safetensors")
      try write(other, to: folder + "/model-00002-of-00002.safetensors")
      func index(_ last: String) -> [UInt8] {
        Array(
          #"{"metadata": {}, "weight_map": {"v": "\#(last)", "w": "model-00001-of-00002.safetensors"}}"#.utf8)
      }
      try write(index("model-00002-of-00002.safetensors"), to: folder + "/model.safetensors.index.json")
      let model = try ModelFolder(directory: folder)
      #expect(model.weights.tensors.map(\.name) == ["w", "v"])
      #expect(try model.weights.tensor("v", shape: [1]).floats() == [2])
      #expect(model.digest.sha256 == SHA256.hexDigest(configuration + Self.counted + other))
      #expect(ModelFolder.filePaths(in: folder).contains(folder + "/model-00002-of-00002.safetensors"))

      for (name, part) in [("../model.safetensors", "plain names"), ("gone.safetensors", "gone.safetensors")]
      {
        try write(index(name), to: folder + "/model.safetensors.index.json")
        let error = #expect(throws: DermaFusionError.self) { try ModelFolder(directory: folder) }
        #expect(error?.message.contains(part) == true, "\(error?.message ?? "")")
      }
      // Two shards that both have a tensor: neither is taken for the right one.
      try write(Self.counted, to: folder + "/model-00002-of-00002.safetensors")
      try write(index("model-00002-of-00002.safetensors"), to: folder + "/model.safetensors.index.json")
      let error = #expect(throws: DermaFusionError.self) { try ModelFolder(directory: folder) }
      #expect(error?.message.contains(#"the tensor "w" is in"#) == true, "\(error?.message ?? "")")
    }
  }

  /// `sha256sum *` in the folder states every shard; the one that is another is named, and so is one without a line.
  @Test func shardsAreHeldAgainstTheStatedHashes() throws {
    let names = ["a.safetensors", "b.safetensors"]
    let shards = [
      Self.counted, safetensors(#"{"v":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}"#, [0, 0, 0, 64]),
    ]
    let configuration = Array(Self.text().utf8)
    try withTemporaryFolder { folder in
      try write(configuration, to: folder + "/config.json")
      for (name, bytes) in zip(names, shards) { try write(bytes, to: "\(folder)/\(name)") }
      try write(
        Array(#"{"weight_map": {"v": "b.safetensors", "w": "a.safetensors"}}"#.utf8),
        to: folder + "/model.safetensors.index.json")
      let lines = zip(["config.json"] + names, [configuration] + shards).map { name, bytes in
        "\(SHA256.hexDigest(bytes))  \(name)\n"
      }
      try write(Array(lines.joined().utf8), to: folder + "/SHA256SUMS")
      let model = try ModelFolder(directory: folder)
      #expect(model.hasChecksums)
      model.digest.prepare()
      try model.digest.check()

      var changed = shards[1]
      changed[changed.count - 1] ^= 1
      try write(changed, to: folder + "/b.safetensors")
      let expected = DermaFusionError.checksumMismatch(
        path: folder + "/b.safetensors", expected: SHA256.hexDigest(shards[1]),
        found: SHA256.hexDigest(changed))
      let other = try ModelFolder(directory: folder)
      #expect(throws: expected) { try other.digest.check() }

      try write(Array(lines.dropLast().joined().utf8), to: folder + "/SHA256SUMS")
      let error = #expect(throws: DermaFusionError.self) { try ModelFolder(directory: folder) }
      #expect(error?.message == "\(folder)/SHA256SUMS: there is no line for b.safetensors")
    }
  }
}
