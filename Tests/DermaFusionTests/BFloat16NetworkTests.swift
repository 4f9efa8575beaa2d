import Files
import Foundation
import ImageCodecs
import ImagePipeline
import KernelInterface
import ReferenceLayers
import SystemModule
import TensorModule
import TestModels
import Testing

@testable import DermaFusion
@testable import NetworkModule

/// Networks computed in bfloat16, beside the same networks in floats.
@Suite struct BFloat16NetworkTests {
  private static let kernels = KernelChoice.runnable.filter { $0.products.bfloat16 != nil }

  private static func folder(_ item: (network: FormulaNetwork, configuration: [UInt8])) throws -> ModelFolder
  {
    try ModelFolder(configuration: item.configuration, weights: item.network.weights())
  }

  private static func logits(
    _ network: FormulaNetwork, _ folder: ModelFolder, threadCount: Int, kernels: KernelSet
  ) throws -> [Float] {
    let input = network.inputValues()
    return try Network(folder, threadCount: threadCount, kernels: kernels).run(
      metadata: PatientMetadata.unknown.encoded(),
      writeInput: { $0.update(from: input, count: input.count) }
    ).logits
  }

  /// Every architecture that has a form in bfloat16: close to floats, not equal to them, and the same for any threads.
  @Test(arguments: kernels)
  func logitsAreCloseToThoseOfFloatsForAnyNumberOfThreads(kernels: KernelSet) throws {
    var found = 0
    for item in try FormulaNetwork.all() + FormulaNetwork.all(in: FormulaNetwork.architectures) {
      let folder = try Self.folder(item)
      guard folder.configuration.precision == .float32,
        try NetworkBuilder(of: folder.configuration).list.supports(.bfloat16)
      else { continue }
      let half = try folder.computed(in: Precision.bfloat16)
      let exact = try Self.logits(item.network, folder, threadCount: 1, kernels: kernels)
      let one = try Self.logits(item.network, half, threadCount: 1, kernels: kernels)
      for threadCount in [2, 3] {
        let more = try Self.logits(item.network, half, threadCount: threadCount, kernels: kernels)
        #expect(more == one, "\(item.network.name), \(threadCount) threads")
      }
      let largest = exact.reduce(0) { max($0, abs($1)) }
      let change = zip(exact, one).reduce(0) { max($0, abs($1.0 - $1.1)) }
      #expect(change > 0 && change < largest / 16, "\(item.network.name): \(exact) and \(one)")
      found += 1
    }
    #expect(found >= 2)
  }

  /// The shipped model's answers hardly change, and its maps neither.
  @Test(arguments: kernels.isEmpty ? [] : ["phantom_brown.jpg", "phantom_melanoma.jpg"])
  func theShippedModelAnswersAsInFloats(picture: String) throws {
    guard KernelChoice.current.products.bfloat16 != nil else { return }
    let image = try ImageDecoder.decode(Fixtures.read("images/\(picture)"))
    let path = Fixtures.root.appending(path: "Weights").path
    let answers = try [Precision.float32, .bfloat16].map {
      try Classifier(modelDirectory: path, threadCount: 2, precision: $0).classify(image)
    }
    let files = try ["config.json", "model.safetensors"].map {
      [UInt8](try Data(contentsOf: Fixtures.root.appending(path: "Weights/\($0)")))
    }
    let fromMemory = try Classifier(
      configuration: files[0], weights: files[1], threadCount: 2, precision: .bfloat16
    ).classify(image)
    #expect(fromMemory.logits == answers[1].logits)
    #expect(answers[0].prediction == answers[1].prediction)
    let changes = zip(answers[0].logits.values, answers[1].logits.values).map { abs($0 - $1) }
    #expect(changes.allSatisfy { $0 < 0.1 } && changes.contains { $0 > 0 }, "\(picture): \(changes)")
  }

  @Test func aMachineWithoutTheInstructionRefuses() throws {
    let item = try #require(try FormulaNetwork.all().first)
    let folder = try Self.folder(item).computed(in: Precision.bfloat16)
    for kernels in KernelChoice.runnable where kernels.products.bfloat16 == nil {
      let error = #expect(throws: DermaFusionError.self) { _ = try Network(folder, kernels: kernels) }
      #expect(
        error?.description
          == "config.json: bfloat16 needs a CPU with AVX-512 BF16 and the instruction set avx512vnni, and this "
          + "process computes with \(kernels.instructionSet.rawValue)")
    }
  }

  @Test func anArchitectureWithoutAFormRefuses() throws {
    let item = try #require(
      try FormulaNetwork.all(in: FormulaNetwork.architectures)
        .first { try Self.folder($0).configuration.architecture == "resnet18" })
    let folder = try Self.folder(item).computed(in: Precision.bfloat16)
    let error = #expect(throws: DermaFusionError.self) { _ = try Network(folder) }
    #expect(
      error?.description
        == "config.json: bfloat16 is for networks with 1x1 convolutions, and resnet18 has none")
  }

  /// `Scripts/dermafusion_training/model/bfloat16.py` says what they are.
  @Test(arguments: kernels)
  func productsAreThoseOfPythonToTheBit(kernels: KernelSet) throws {
    let cases = try QuantizedFormula.bfloat16()
    #expect(!cases.isEmpty)
    for expected in cases {
      let (pixels, outputs) = (expected.shape[0], expected.shape[1])
      let depth = try #require(Int(expected.name.split(separator: " ")[2]))
      let weight = FormulaNetwork.uniform("\(expected.name) weight", count: outputs * depth)
      let layer = Convolution2D(
        matrix: PackedMatrix(
          columnCount: outputs, depth: depth,
          bias: FormulaNetwork.uniform("\(expected.name) bias", count: outputs), kernels: kernels,
          type: .bfloat16
        ) { column, start, target in
          for k in target.indices { target[k] = weight[column * depth + start + k] }
        }, activation: .identity)
      let shapes = [depth, outputs].map { FeatureShape(height: pixels, width: 1, channels: $0) }
      let memory = shapes.map { AlignedBuffer(count: FeatureMap.count($0, kernels: kernels)) }
      let maps = zip(shapes, memory).map { FeatureMap($1.pointer, $0, kernels: kernels) }
      for (place, value) in FormulaNetwork.uniform("\(expected.name) input", count: pixels * depth)
        .enumerated()
      {
        maps[0].pointer[place / depth * maps[0].pixelStride + place % depth] = value * 3
      }
      let pool = ThreadPool(threadCount: 1)
      let scratch = AlignedBuffer(count: layer.scratchCount(shapes[0], pool: pool))
      layer(maps[0], into: maps[1], scratch: scratch.pointer, pool: pool)
      let values = withExtendedLifetime(memory) { maps[1].dense() }
      #expect(
        firstDifference(Array(values.prefix(expected.values.count)), expected.values) == nil,
        "\(expected.name)")
      #expect(SHA256.hexDigest(values.withUnsafeBytes { Array($0) }) == expected.sha256, "\(expected.name)")
    }
  }

  @Test func weightsIn8BitsHaveNoOtherForm() throws {
    let (formula, configuration) = try QuantizedFormula.all()[0]
    let folder = try ModelFolder(
      configuration: configuration, weights: safetensors(formula.tensors { _ in true }))
    let error = #expect(throws: DermaFusionError.self) {
      _ = try folder.computed(in: Precision.bfloat16)
    }
    #expect(
      error?.description
        == "config.json: \"precision\" is \"int8\", and such a model cannot be computed in bfloat16")
  }
}
