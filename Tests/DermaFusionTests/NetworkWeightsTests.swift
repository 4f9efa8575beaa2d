import Files
import KernelInterface
import SystemModule
import TensorModule
import TestModels
import Testing

@testable import DermaFusion
@testable import NetworkModule

@Suite struct NetworkWeightsTests {
  /// A 1x1 convolution of two channels to three, and its batch norm with one of its values replaced.
  private func weights(_ tensor: String = "", _ channel: Int = 0, _ value: Float = 0) throws -> NetworkWeights
  {
    var tensors: [(name: String, shape: [Int], values: [Float])] = [
      ("stage.conv.weight", [3, 2, 1, 1], [1, -2, 3, -4, 5, -6]),
      ("stage.bn.weight", [3], [1, -2, 0]), ("stage.bn.bias", [3], [0, 1, -1]),
      ("stage.bn.running_mean", [3], [0.5, -0.5, 3]), ("stage.bn.running_var", [3], [1, 0, 4]),
    ]
    if let index = tensors.firstIndex(where: { $0.name == "stage.bn.\(tensor)" }) {
      tensors[index].values[channel] = value
    }
    return NetworkWeights(
      file: try SafetensorsFile(bytes: safetensors(tensors), name: "m"), precision: .float32,
      kernels: KernelChoice.current
    ).scope("stage")
  }

  private let product = Product(
    name: "conv", channels: 3, hasBias: false, norm: .init(name: "bn", epsilon: 1e-3))

  @Test(
    arguments: [
      ("running_var", -1, "-1.0"), ("running_var", -0.0011, "-0.0011"), ("weight", 3e38, "0.0"),
      ("running_mean", -3e38, "0.0"),
    ] as [(String, Float, String)])
  func aBatchNormThatGivesNoFiniteNumbersIsNamedWithItsVariance(
    tensor: String, value: Float, variance: String
  )
    throws
  {
    let weights = try weights(tensor, 1, value)
    for load in [
      { _ = try weights.floats(product, shape: [3, 2, 1, 1]) },
      { _ = try weights.matrix(product, inputs: 2) },
    ] {
      let error = #expect(throws: DermaFusionError.self) { try load() }
      #expect(
        error?.description
          == "m: the batch norm \"stage.bn\" makes no finite numbers of channel 1, whose variance "
          + "(\"stage.bn.running_var\") is \(variance)")
    }
  }

  @Test(arguments: [("running_var", -0.0009), ("running_var", 3e38), ("weight", 0)] as [(String, Float)])
  func aBatchNormThatGivesFiniteNumbersIsTaken(tensor: String, value: Float) throws {
    let folded = try weights(tensor, 1, value).floats(product, shape: [3, 2, 1, 1])
    let values = folded.weight + folded.bias
    #expect(values.first { !$0.isFinite } == nil)
  }
}

@Suite struct WeightScopeTests {
  private func weights() throws -> NetworkWeights {
    let names = ["blocks.1.0.conv_pw.weight", "blocks.1.0.bn1.bias", "bias", "classifier.bias"]
    let tensors = zip(names, [1, -2, 3, -4] as [Float]).map { (name: $0, shape: [1], values: [$1]) }
    return NetworkWeights(
      file: try SafetensorsFile(bytes: safetensors(tensors), name: "m"), precision: .float32,
      kernels: KernelChoice.current)
  }

  private func expect(_ message: Sentence, _ body: () throws -> Void) {
    #expect(throws: DermaFusionError.invalidModel(message)) { try body() }
  }

  @Test func scopesJoinNamesWithDots() throws {
    let weights = try weights()
    let block = weights.scope("blocks").scope("1").scope("0")
    #expect(block.path == "blocks.1.0")
    #expect(try block.tensor("conv_pw.weight", shape: [1]) == [1])
    #expect(try block.scope("bn1").tensor("bias", shape: [1]) == [-2])
    #expect(try weights.tensor("bias", shape: [1]) == [3])
  }

  @Test func errorsGiveTheFullName() throws {
    let block = try weights().scope("blocks.1.0")
    expect("m: the tensor \"blocks.1.0.bias\" is missing") { _ = try block.tensor("bias", shape: [1]) }
    expect("m: the tensor \"blocks.1.0.conv_pw.weight\" has shape [1], and the network needs [96, 16, 1, 1]")
    {
      _ = try block.tensor("conv_pw.weight", shape: [96, 16, 1, 1])
    }
    expect(
      "m: the tensor \"blocks.1.0.bn1.bias\" has the data type \"F32\", and the network needs I8"
    ) { _ = try block.storedTensor("bn1.bias", shape: [1], isInteger: true) }
  }

  @Test func surplusTensorsAreNamed() throws {
    let weights = try weights()
    expect(
      """
      m: the network has no place for 4 tensors: "blocks.1.0.conv_pw.weight", "blocks.1.0.bn1.bias", "bias", ...
      """
    ) { try weights.requireAllBound() }
    _ = try weights.tensor("bias", shape: [1])
    _ = try weights.scope("classifier").storedTensor("bias", shape: [1])
    expect(
      "m: the network has no place for 2 tensors: \"blocks.1.0.conv_pw.weight\", \"blocks.1.0.bn1.bias\""
    ) { try weights.requireAllBound() }
    _ = try weights.scope("blocks").tensor("1.0.bn1.bias", shape: [1])
    expect("m: the network has no place for the tensor \"blocks.1.0.conv_pw.weight\"") {
      try weights.requireAllBound()
    }
  }

  @Test func whatWasAskedForWithAnotherShapeIsNotBound() throws {
    let weights = try weights()
    for name in ["blocks.1.0.conv_pw.weight", "blocks.1.0.bn1.bias", "classifier.bias"] {
      _ = try weights.tensor(name, shape: [1])
    }
    #expect(throws: DermaFusionError.self) { try weights.tensor("bias", shape: [2]) }
    expect("m: the network has no place for the tensor \"bias\"") { try weights.requireAllBound() }
    _ = try weights.tensor("bias", shape: [1])
    try weights.requireAllBound()
  }
}
