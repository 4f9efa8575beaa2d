import SystemModule
import Testing

@testable import Files

@Suite struct WeightBinderTests {
  private let file: SafetensorsFile

  init() throws {
    let names = ["blocks.1.0.conv_pw.weight", "blocks.1.0.bn1.bias", "bias", "classifier.bias"]
    let entries = names.enumerated().map { index, name in
      #""\#(name)":{"dtype":"BF16","shape":[1],"data_offsets":[\#(index * 2),\#(index * 2 + 2)]}"#
    }
    file = try SafetensorsFile(
      bytes: safetensors(
        "{\(entries.joined(separator: ","))}", [0x80, 0x3F, 0x00, 0xC0, 0x40, 0x40, 0x80, 0xC0]),
      name: "m")
  }

  @Test func scopesJoinNamesWithDots() throws {
    let binder = WeightBinder(file)
    let block = binder.scope("blocks").scope("1").scope("0")
    #expect(block.path == "blocks.1.0")
    #expect(try block.tensor("conv_pw.weight", shape: [1]) == [1])
    #expect(try block.scope("bn1").tensor("bias", shape: [1]) == [-2])
    #expect(try binder.tensor("bias", shape: [1]) == [3])
  }

  @Test func errorsGiveTheFullName() throws {
    let block = WeightBinder(file).scope("blocks.1.0")
    #expect(throws: DermaFusionError.missingTensor(file: "m", name: "blocks.1.0.bias")) {
      try block.tensor("bias", shape: [1])
    }
    #expect(
      throws: DermaFusionError.misshapenTensor(
        file: "m", name: "blocks.1.0.conv_pw.weight", expected: [96, 16, 1, 1], found: [1])
    ) {
      try block.tensor("conv_pw.weight", shape: [96, 16, 1, 1])
    }
  }

  @Test func surplusTensorsAreNamed() throws {
    let binder = WeightBinder(file)
    _ = try binder.tensor("bias", shape: [1])
    _ = try binder.scope("classifier").storedTensor("bias", shape: [1])
    let surplus = ["blocks.1.0.conv_pw.weight", "blocks.1.0.bn1.bias"]
    #expect(throws: DermaFusionError.surplusTensors(file: "m", names: surplus)) {
      try binder.requireAllBound()
    }
    #expect(
      DermaFusionError.surplusTensors(file: "m", names: [surplus[0]]).description
        == "m: the network has no place for the tensor \"blocks.1.0.conv_pw.weight\"")
    #expect(
      DermaFusionError.surplusTensors(file: "m", names: ["a", "b", "c", "d"]).description
        == "m: the network has no place for 4 tensors: \"a\", \"b\", \"c\", ...")
  }

  @Test func whatWasAskedForWithAnotherShapeIsNotBound() throws {
    let binder = WeightBinder(file)
    for name in ["blocks.1.0.conv_pw.weight", "blocks.1.0.bn1.bias", "classifier.bias"] {
      _ = try binder.tensor(name, shape: [1])
    }
    #expect(throws: DermaFusionError.self) { try binder.tensor("bias", shape: [2]) }
    #expect(throws: DermaFusionError.surplusTensors(file: "m", names: ["bias"])) {
      try binder.requireAllBound()
    }
    _ = try binder.tensor("bias", shape: [1])
    try binder.requireAllBound()
  }
}
