import Files
import Foundation
import ImageCodecs
import ImagePipeline
import KernelInterface
import ReferenceLayers
import TensorModule
import TestFiles
import TestModels
import Testing

@testable import DermaFusion
@testable import NetworkModule

/// Formula networks in 8 bits: against Python's to the bit, against the same networks in floats, and their files' rules.
@Suite struct QuantizedNetworkTests {
  private static func network(
    _ index: Int = 0, threadCount: Int = 2, kernels: KernelSet = KernelChoice.current,
    _ change: (inout StoredValues) -> Bool = { _ in true }
  ) throws -> (QuantizedFormula, Network) {
    let (formula, configuration) = try QuantizedFormula.all()[index]
    let folder = try ModelFolder(
      configuration: configuration, weights: safetensors(formula.tensors(change)))
    return (formula, try Network(folder, threadCount: threadCount, kernels: kernels))
  }

  @Test(arguments: KernelChoice.runnable, [1, 2, 3])
  func mapsAreThoseOfPythonToTheBit(kernels: KernelSet, threadCount: Int) throws {
    for index in try QuantizedFormula.all().indices {
      let (formula, network) = try Self.network(index, threadCount: threadCount, kernels: kernels)
      let input = formula.inputValues()
      var found: [(name: String, shape: [Int], values: [Float])] = []
      _ = network.run(
        metadata: PatientMetadata.unknown.encoded(),
        writeInput: { $0.update(from: input, count: input.count) },
        observe: { name, map in
          found.append((name, [map.shape.height, map.shape.width, map.shape.channels], map.dense()))
        })
      try #require(found.count == formula.maps.count)
      for (map, expected) in zip(found, formula.maps) {
        let place = "\(formula.config.architecture), \(map.name), \(kernels.instructionSet.rawValue)"
        #expect(map.name == expected.name && map.shape == expected.shape, "\(place)")
        let digest = SHA256.hexDigest(map.values.withUnsafeBytes { Array($0) })
        #expect(
          firstDifference(Array(map.values.prefix(expected.values.count)), expected.values) == nil,
          "\(place)")
        try #require(digest == expected.sha256, "\(place) on \(threadCount) threads")
      }
    }
  }

  /// The maps of formula networks beside those of the same networks in floats, and where they look: the gradients go
  /// through the weights as floats. Of those two whose values stay within the levels.
  @Test(arguments: [1, 2])
  func mapsAndGradientsAreNearThoseOfTheSameNetworkInFloats(index: Int) throws {
    let (formula, network) = try Self.network(index)
    let (_, configuration) = try QuantizedFormula.all()[index]
    var object = try #require(
      try JSONSerialization.jsonObject(with: Data(configuration)) as? [String: Any])
    object["precision"] = nil
    let epsilon = try #require(object["batch_norm_epsilon"] as? Double)
    let floats = try Network(
      ModelFolder(
        configuration: [UInt8](try JSONSerialization.data(withJSONObject: object)),
        weights: safetensors(formula.floatTensors(batchNormEpsilon: epsilon))))
    let input = formula.inputValues()
    for layer in ["stage0", "stage1", "stage2"] {
      let runs = try [network, floats].map { network in
        network.runWithGradients(
          layer: try network.layerName(layer), metadata: PatientMetadata.unknown.encoded(),
          needsGradients: true, classes: [2], writeInput: { $0.update(from: input, count: input.count) })
      }
      let maps = cosine(runs[0].activations.values, runs[1].activations.values)
      let gradients = cosine(runs[0].gradients[0].values, runs[1].gradients[0].values)
      #expect(
        maps > 0.95 && gradients > 0.8,
        "\(formula.config.architecture), \(layer): likeness \(maps) of maps, \(gradients) of gradients")
    }
  }

  /// Stem, first stage, pooling and head included, from a photograph on.
  @Test(arguments: ["phantom_brown.jpg", "phantom_melanoma.jpg"])
  func everyInstructionSetGivesTheSameBits(picture: String) throws {
    let image = try ImageDecoder.decode(Fixtures.read("images/\(picture)"))
    let folder = try ModelFolder(directory: Fixtures.root.appending(path: "Weights/int8").path)
    let input = try Classifier(try Model(folder, threadCount: 1)).preprocessor(image)
    let metadata = try PatientMetadata(ageInYears: 61, sex: .female, site: .back).encoded()
    let outputs = try KernelChoice.runnable.map { kernels in
      try Network(folder, threadCount: 2, kernels: kernels).run(
        metadata: metadata, writeInput: { input.writeNormalizedNHWC(to: $0) })
    }
    for (kernels, output) in zip(KernelChoice.runnable, outputs) {
      #expect(output == outputs[0], "\(kernels.instructionSet.rawValue)")
    }
  }

  /// A folder needs no SHA256SUMS; without them the memory of a tensor may go back once it is packed.
  @Test func aFolderWithoutHashesGivesTheSameAnswer() throws {
    let shipped = Fixtures.root.appending(path: "Weights/int8")
    let folder = TemporaryFolder()
    for name in ["config.json", "model.safetensors"] {
      folder.write(Array(try Data(contentsOf: shipped.appending(path: name))), to: name)
    }
    let image = try ImageDecoder.decode(Fixtures.read("images/phantom_melanoma.jpg"))
    let logits = try [shipped.path, folder.path].map {
      try Classifier(modelDirectory: $0, threadCount: 2).classify(image).logits.values
    }
    #expect(firstDifference(logits[1], logits[0]) == nil)
  }

  /// The shipped model in 8 bits beside the one that it was made from: an answer, and where the network looked.
  @Test(arguments: ["phantom_brown.jpg", "phantom_melanoma.jpg"])
  func theShippedModelAnswersAndLooksAsTheOneItWasMadeFrom(picture: String) throws {
    let image = try ImageDecoder.decode(Fixtures.read("images/\(picture)"))
    let classifiers = try ["Weights", "Weights/int8"].map {
      try Classifier(modelDirectory: Fixtures.root.appending(path: $0).path, threadCount: 2)
    }
    let answers = try classifiers.map { try $0.classify(image) }
    // Not the prediction, which a picture at the limit of the distance has in one of the two only.
    #expect(answers[0].probabilities.highest == answers[1].probabilities.highest)
    let changes = zip(answers[0].logits.values, answers[1].logits.values).map { abs($0 - $1) }
    #expect(changes.allSatisfy { $0 < 0.25 } && changes.contains { $0 > 0 }, "\(picture): \(changes)")
    for layer in ["stage2", "stage4", "conv_head"] {
      let runs = try classifiers.map { classifier in
        let network = try classifier.singleModel().network
        let input = try classifier.preprocessor(image)
        return network.runWithGradients(
          layer: try network.layerName(layer), metadata: PatientMetadata.unknown.encoded(),
          needsGradients: true, classes: [LesionLabel.mel.index],
          writeInput: { input.writeNormalizedNHWC(to: $0) })
      }
      // GradCAM++ divides by sums that come close to 0; its poles lie elsewhere.
      for method in ActivationMapMethod.allCases where method != .gradcamPlusPlus {
        let maps = runs.map { method.signedMap(activations: $0.activations, gradient: $0.gradients[0]) }
        let likeness = cosine(maps[0], maps[1])
        #expect(likeness > 0.9, "\(picture), \(layer), \(method.rawValue): likeness \(likeness)")
      }
    }
  }

  /// 1 for maps that differ by a factor only.
  private func cosine(_ a: [Float], _ b: [Float]) -> Double {
    func product(_ a: [Float], _ b: [Float]) -> Double {
      zip(a, b).reduce(0) { $0 + Double($1.0) * Double($1.1) }
    }
    return product(a, b) / (product(a, a) * product(b, b)).squareRoot()
  }

  private func message(
    _ tensor: String, _ values: StoredValues.Values, network: Int = 0
  ) throws -> String {
    let error = #expect(throws: DermaFusionError.self) {
      _ = try Self.network(network) {
        if $0.name == tensor { $0.values = values }
        return true
      }
    }
    return error?.description ?? "no error"
  }

  @Test func aQuantizedLayerMayNotBeOfFloats() throws {
    let name = "blocks.1.0.conv_pw.weight"
    let count = 96 * 16
    #expect(
      try message(name, .floats([Float](repeating: 0, count: count)))
        == "model.safetensors: the tensor \"\(name)\" has the data type \"F32\", and the network needs I8")
  }

  @Test func aFloatLayerMayNotBeOfIntegers() throws {
    let name = "classifier.bias"
    #expect(
      try message(name, .integers([Int8](repeating: 0, count: 7)))
        == "model.safetensors: the tensor \"\(name)\" has the data type \"I8\", and the network "
        + "needs F32, F16 or BF16")
  }

  @Test(arguments: [0, -1, 0x1p-140, 1e-13, 1e13])
  func aScaleMustBeNeitherTooSmallNorTooLarge(value: Float) throws {
    for (name, count) in [("blocks.1.0.conv_dw.weight_scale", 96), ("conv_head.input_scale", 1)] {
      var values = [Float](repeating: 0.01, count: count)
      values[count - 1] = value
      #expect(
        try message(name, .floats(values))
          == "model.safetensors: the tensor \"\(name)\" has the value \(value) at index \(count - 1), and a scale "
          + "must be from 1e-12 to 1e12")
    }
  }

  @Test(arguments: [-1, 256, 3.5] as [Float])
  func aZeroPointIsALevel(value: Float) throws {
    let name = "blocks.2.0.conv_pw.input_zero_point"
    #expect(
      try message(name, .floats([value]))
        == "model.safetensors: the tensor \"\(name)\" is \(value), and must be a whole number from 0 to 255")
  }

  @Test func afterReLU6ZeroIsTheFirstLevel() throws {
    let name = "blocks.2.0.conv_pwl.input_zero_point"
    #expect(
      try message(name, .floats([3]))
        == "model.safetensors: the tensor \"\(name)\" is 3, and must be 0 after ReLU6")
    // After SiLU it may be any.
    _ = try Self.network(1) {
      if $0.name == name { $0.values = .floats([3]) }
      return true
    }
  }

  @Test(arguments: [0, 1, 2])
  func theLevelsBeforeADepthwiseConvolutionHaveNoZeroPoint(network: Int) throws {
    let name = "blocks.2.0.conv_dw.input_zero_point"
    #expect(
      try message(name, .floats([3]), network: network)
        == "model.safetensors: the tensor \"\(name)\" is 3, and must be 0 before a depthwise convolution")
  }

  @Test func squeezeExciteNeedsTheStepOfItsLevels() throws {
    let name = "blocks.0.0.se.input_scale"
    #expect(
      try message(name, .floats([0]), network: 1)
        == "model.safetensors: the tensor \"\(name)\" has the value 0.0 at index 0, and a scale must be from 1e-12 "
        + "to 1e12")
    let error = #expect(throws: DermaFusionError.self) { _ = try Self.network(1) { $0.name != name } }
    #expect(error?.description == "model.safetensors: the tensor \"\(name)\" is missing")
  }

  @Test func neighboursMustFitIn16Bits() throws {
    let name = "blocks.1.0.conv_pw.weight"
    var levels = [Int8](repeating: 1, count: 96 * 16)
    levels.replaceSubrange(16 * 3 + 2..<16 * 3 + 4, with: [65, 64])
    #expect(
      try message(name, .integers(levels))
        == "model.safetensors: the tensor \"\(name)\" has neighbours of one sign that add up to more than 128, and "
        + "their products must fit in 16 bits")
    // A pair begins at an even place.
    levels.replaceSubrange(16 * 3 + 2..<16 * 3 + 5, with: [1, 65, 64])
    _ = try Self.network {
      if $0.name == name { $0.values = .integers(levels) }
      return true
    }
  }

  @Test(arguments: ["blocks.1.0.conv_pw", "blocks.1.0.conv_dw", "blocks.1.0.conv_pwl"])
  func sumsMustStayWholeNumbers(layer: String) throws {
    let count = layer.hasSuffix("pwl") ? 24 : 96
    #expect(
      try message("\(layer).bias", .floats([Float](repeating: 1e9, count: count)))
        == "model.safetensors: the tensor \"\(layer).weight\" makes sums that no whole number here can hold, with "
        + "these scales and biases")
  }
}
