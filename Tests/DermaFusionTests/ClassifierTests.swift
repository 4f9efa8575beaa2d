import ImageFiles
import TestModels
import Testing

@testable import DermaFusion
@testable import Files
@testable import ImagePipeline
@testable import NetworkModule

@Suite struct ClassifierTests {
  static let classes = Labels.ham10000.ids

  /// A classifier whose network gives these logits whatever it is shown.
  func classifier(
    classes: [String] = classes, temperature: Double = 1, logits: [Float] = [1, -2, 0.5, 0, 3, -1, 0]
  ) throws -> Classifier {
    let quoted = classes.map { "\"\($0)\"" }.joined(separator: ",")
    return Classifier(
      try StandIn.model(
        StandIn.configuration(
          name: "fixed", version: "2.0.0", classes: "[\(quoted)]", temperature: temperature, size: 64,
          constancy: StandIn.shadesOfGray)
      ) { _ in logits })
  }

  func image(width: Int = 120, height: Int = 110, level: (Int) -> UInt8) -> PixelImage {
    PixelImage(width: width, height: height, pixels: (0..<width * height * 3).map(level))
  }

  /// Two halves of other brightness: something stands out, so that the model answers.
  static func halves(_ index: Int) -> UInt8 { index / 3 % 120 < 60 ? UInt8(40 + index % 31) : 200 }

  @Test func aResultHoldsTheLogitsTheirSoftmaxAndTheModel() throws {
    let result = try classifier(temperature: 2).classify(image(level: Self.halves))
    #expect(result.logits.values == [1, -2, 0.5, 0, 3, -1, 0])
    #expect(result.probabilities == ClassScores([1, -2, 0.5, 0, 3, -1, 0]).softmax(temperature: 2))
    #expect(result.prediction == .mel)
    #expect(result.model == ModelIdentity(name: "fixed", version: "2.0.0", sha256: "abc"))
    #expect(result.imageSHA256 == nil)
    #expect(result.warnings == [])
  }

  @Test func bytesGiveTheSameAsTheirPixelsAndTheirHash() throws {
    let pixels = image { UInt8($0 % 241) }
    let bytes = Array("P6 120 110 255\n".utf8) + pixels.pixels
    let fromBytes = try classifier().classify(encodedImage: bytes)
    #expect(fromBytes.imageSHA256 == SHA256.hexDigest(bytes))
    #expect(fromBytes.logits == (try classifier().classify(pixels)).logits)
  }

  @Test func theImagesWarningsComeFirst() throws {
    let metadata = try PatientMetadata(ageInYears: 4)
    #expect(
      try classifier().classify(image(width: 99, height: 200) { _ in 200 }, metadata: metadata).warnings
        == [.smallImage, .solidColor, .metadataUnused])
    #expect(
      try classifier().classify(image { $0 % 3 == 2 ? 0 : UInt8($0 % 200) }).warnings == [.nearBlack])
  }

  @Test func anImageThatIsTooSmallIsRefused() {
    let error = #expect(throws: DermaFusionError.self) {
      try classifier().classify(image(width: 31, height: 400) { UInt8($0 % 256) })
    }
    #expect(error?.code == .invalidImage)
    #expect(error?.message == DermaFusionError.tooSmall(width: 31, height: 400, minimumSide: 32).description)
  }

  @Test func bytesThatAreNoImageAreRefused() {
    for bytes in [[], Array("hello, world".utf8)] {
      let error = #expect(throws: DermaFusionError.self) { try classifier().classify(encodedImage: bytes) }
      #expect(error?.code == .invalidImage)
    }
  }

  @Test(arguments: [Float.nan, .infinity, -.infinity])
  func noPredictionIsMadeFromLogitsThatAreNotFinite(logit: Float) {
    let error = #expect(throws: DermaFusionError.self) {
      try classifier(logits: [1, 2, logit, 0, 0, 0, 0]).classify(image { UInt8($0 % 251) })
    }
    #expect(error?.code == .nonFiniteOutput)
  }

  @Test func theClassesAndTheirOrderAreTheModels() throws {
    let classifier = try classifier(classes: ["nv", "mel", "scc"], logits: [0, 3, 1])
    #expect(classifier.labels.ids == ["nv", "mel", "scc"])
    let result = try classifier.classify(image(level: Self.halves))
    #expect(result.prediction?.id == "mel")
    #expect(result.probabilities.labels == classifier.labels)
    #expect(result.probabilities["scc"] == result.probabilities.values[2])
    #expect(result.probabilities["bcc"] == nil)
  }

  @Test func aModelThatCannotBeReadSaysWhatIsMissing() {
    let missing = #expect(throws: DermaFusionError.self) {
      try Classifier(modelDirectory: "/no/such/model")
    }
    #expect(missing?.code == .modelNotFound)
    #expect(missing?.message == "/no/such/model: there is no such model folder")
    let empty = #expect(throws: DermaFusionError.self) { try Classifier(configuration: [], weights: []) }
    #expect(empty?.code == .invalidModel)
  }
}
