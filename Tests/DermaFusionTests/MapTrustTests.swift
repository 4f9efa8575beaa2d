import Files
import ImagePipeline
import KernelInterface
import TensorModule
import TestModels
import Testing

@testable import DermaFusion
@testable import NetworkModule

@Suite struct MapTrustTests {
  @Test func aMapOfWhatTheModelRespondsToIsBelievedAndAConstantComponentIsNot() throws {
    let classifier = try LightDetector.classifier()
    let image = ActivationMapPlacementTests.image(corner: (1, 0), width: 150, height: 150)
    let map = try classifier.activationMap(of: image, label: .nv)
    let trust = try classifier.trust(in: [map], of: image)[0]
    #expect(trust.deletionAUC < trust.randomDeletionAUC)
    #expect(trust.sentences.count == 4)
    #expect(try classifier.trust(in: [map], of: image) == [trust], "the same input gives the same numbers")

    let eigen = try classifier.activationMap(of: image, label: .nv, method: .eigencam)
    let eigenTrust = try classifier.trust(in: [eigen], of: image)[0]
    #expect((eigenTrust.shuffledHeadCorrelation ?? 0) > 0.999, "it does not look at the head")
    #expect(!eigenTrust.passes)
  }

  @Test func aMapOfALayerThatTheModelLacksIsRefused() throws {
    let classifier = try LightDetector.classifier()
    let image = ActivationMapPlacementTests.image(corner: (1, 0), width: 90, height: 90)
    let map = try ActivationMap(
      classIndex: LesionLabel.nv.index, method: .gradcam, layer: "blocks.9.9", height: 1, width: 2,
      signedValues: [1, -1],
      size: classifier.preprocessor.configuration.size)
    #expect(throws: DermaFusionError.self) { try classifier.trust(in: [map], of: image) }
  }

  @Test func severalMapsAreJudgedAsEachAlone() throws {
    let classifier = try LightDetector.classifier()
    let image = ActivationMapPlacementTests.image(corner: (0, 1), width: 90, height: 110)
    let maps = try classifier.explain(image, labels: [.nv, .mel, .vasc], layer: "stage2").maps
    let trusts = try classifier.trust(in: maps, of: image)
    #expect(trusts == (try maps.flatMap { try classifier.trust(in: [$0], of: image) }))
    #expect(Set(trusts.map(\.deletionAUC)).count == 3, "each of its own class")
    #expect(try classifier.trust(in: [], of: image) == [])
  }

  /// A probability that counts how much of the left half is bright.
  @Test func deletionAndInsertionFollowTheOrderOfTheMap() throws {
    let size = 16
    let left = (0..<size * size).map { $0 % size < size / 2 }
    let pixels = left.flatMap { [Float](repeating: $0 ? 1 : -1, count: 3) }
    let check = PerturbationCheck(pixels: pixels, size: size) { (pixels) throws(DermaFusionError) in
      let share = Double(left.indices.count { left[$0] && pixels[$0 * 3] > 0.9 }) / Double(size * size / 2)
      return [share, 1 - share]
    }
    let right = try check.areas(left.map { $0 ? 1 : 0 })
    let wrong = try check.areas(left.map { $0 ? 0 : 1 })
    // The bright half is gone after half of the steps: a triangle of a quarter; or stays until then.
    #expect(abs(right.deletion[0] - 0.25) < 1e-9)
    #expect(abs(wrong.deletion[0] - 0.75) < 1e-9)
    #expect(abs(right.deletion[1] - 0.75) < 1e-9, "what the first loses the second wins")
    #expect(right.insertion[0] > wrong.insertion[0])
  }

  /// Each of the three checks alone, and its sentence.
  @Test(arguments: [
    (0.2, 0.3, 0.6, 0.5, 0.1 as Double?, true), (0.3, 0.3, 0.6, 0.5, 0.1, false),
    (0.4, 0.3, 0.6, 0.5, 0.1, false),
    (0.2, 0.3, 0.5, 0.5, 0.1, false), (0.2, 0.3, 0.4, 0.5, 0.1, false), (0.2, 0.3, 0.6, 0.5, 0.5, false),
    (0.2, 0.3, 0.6, 0.5, 0.7, false), (0.2, 0.3, 0.6, 0.5, -0.4, true), (0.2, 0.3, 0.6, 0.5, nil, false),
  ])
  func aMapPassesIfAllThreeChecksDo(
    deletion: Double, randomDeletion: Double, insertion: Double, randomInsertion: Double,
    correlation: Double?,
    passes: Bool
  ) {
    let trust = MapTrust(
      deletionAUC: deletion, insertionAUC: insertion, randomDeletionAUC: randomDeletion,
      randomInsertionAUC: randomInsertion, shuffledHeadCorrelation: correlation)
    #expect(trust.passes == passes)
    let faster = deletion < randomDeletion ? "faster than" : "no faster than"
    #expect(
      trust.sentences[0]
        == "Deletion: hiding the map's strongest places first lowers the probability \(faster) hiding random ones "
        + "(mean \(deletion.fixed(digits: 3)), random \(randomDeletion.fixed(digits: 3)); lower is better).")
    let higher = insertion > randomInsertion ? "faster than" : "no faster than"
    #expect(
      trust.sentences[1]
        == "Insertion: showing the map's strongest places first raises the probability \(higher) showing random ones "
        + "(mean \(insertion.fixed(digits: 3)), random \(randomInsertion.fixed(digits: 3)); higher is better)."
    )
    let meaning =
      switch correlation {
      case nil: "Randomisation: a map without variance cannot be compared."
      case .some(0.5), .some(0.7): "it shows the image more than what the model learned."
      default: "it depends on what the model learned."
      }
    #expect(trust.sentences[2].hasSuffix(meaning), "\(trust.sentences[2])")
    #expect(trust.sentences[3] == trust.verdict && trust.verdict.contains("passed all three") == passes)
  }

  /// A model in 8 bits has the same numbers on every machine: its shuffled heads add up exactly, as its own does.
  @Test func everyInstructionSetGivesTheSameNumbersInEightBits() throws {
    let (formula, configuration) = try QuantizedFormula.all()[1]
    let folder = try ModelFolder(
      configuration: configuration, weights: safetensors(formula.tensors { _ in true }))
    let input = formula.inputValues()
    let metadata = try PatientMetadata(ageInYears: 61, sex: .female, site: .back).encoded()
    let trusts = try KernelChoice.runnable.map { kernels in
      let network = try Network(folder, threadCount: 2, kernels: kernels)
      let layer = try network.layerName(nil)
      let run = network.runWithGradients(
        layer: layer, metadata: metadata, needsGradients: true, classes: [2],
        writeInput: { $0.update(from: input, count: input.count) })
      let map = try ActivationMap(
        classIndex: 2, method: .gradcam, layer: layer, activations: run.activations,
        gradient: run.gradients[0],
        size: network.inputSize, geometry: network.geometry(ofFeatureMap: layer))
      return try network.trust(in: [map], pixels: input, metadata: metadata) {
        Softmax.probabilities($0.logits, temperature: 1).map { Double($0) }
      }
    }
    for (kernels, trust) in zip(KernelChoice.runnable, trusts) {
      #expect(trust == trusts[0], "\(kernels.instructionSet.rawValue)")
    }
  }

  @Test func correlationIsPearsons() throws {
    #expect(abs(try #require(correlation([1, 2, 3], [-2, -4, -6])) + 1) < 1e-12)
    #expect(abs(try #require(correlation([1, 2, 3, 4], [1, -1, -1, 1]))) < 1e-12)
    #expect(correlation([1, 1], [0, 5]) == nil)
  }
}

@Suite struct MetadataSharesTests {
  @Test func eachFieldLeftOutIsTheClassificationWithoutIt() throws {
    let (formula, configuration) = try #require(
      FormulaNetwork.all().first { $0.network.name == "efficientnet_lite0" })
    let classifier = try Classifier(configuration: configuration, weights: formula.weights(), threadCount: 2)
    let image = ActivationMapPlacementTests.image(corner: (0, 1), width: 90, height: 80)
    let metadata = try PatientMetadata(ageInYears: 61, sex: .female, site: .face)
    let shares = try classifier.metadataShares(of: image, metadata: metadata)
    func logits(_ metadata: PatientMetadata) throws -> ClassScores {
      try classifier.classify(image, metadata: metadata).logits
    }
    #expect(shares.everything == (try logits(metadata)))
    #expect(shares.imageAlone == (try logits(.unknown)))
    #expect(shares.withoutAge == (try logits(PatientMetadata(sex: .female, site: .face))))
    #expect(shares.withoutSex == (try logits(PatientMetadata(ageInYears: 61, site: .face))))
    #expect(shares.withoutSite == (try logits(PatientMetadata(ageInYears: 61, sex: .female))))
    #expect(Set(shares.named.map(\.logits.values)).count == 5, "every field matters to this network")

    let partial = try classifier.metadataShares(of: image, metadata: PatientMetadata(sex: .female))
    #expect(partial.withoutAge == partial.everything)
    #expect(partial.withoutSex == partial.imageAlone)
  }
}
