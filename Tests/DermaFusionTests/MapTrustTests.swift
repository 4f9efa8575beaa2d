import ImagePipeline
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
