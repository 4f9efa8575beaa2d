import HashModule
import ImageFiles
import Testing

@testable import DermaFusion
@testable import ImagePipeline
@testable import ModelFiles
@testable import NetworkModule

@Suite struct ClassifierTests {
  static let classes = LesionClass.allCases.map(\.rawValue)

  /// A classifier whose network gives these logits whatever it is shown.
  func classifier(
    classes: [String] = classes, temperature: Double = 1, logits: [Float] = [1, -2, 0.5, 0, 3, -1, 0]
  ) throws -> Classifier {
    let quoted = { (names: [String]) in names.map { "\"\($0)\"" }.joined(separator: ",") }
    let configuration = """
      {"format_version": 1, "name": "fixed", "version": "2.0.0", "architecture": "efficientnet_b0",
       "padding": "symmetric", "batch_norm_epsilon": 1e-5, "classes": [\(quoted(classes))],
       "temperature": \(temperature),
       "preprocessing": {"size": 64, "color_constancy": {"method": "shades_of_gray", "p": 6, "rounding": "round"},
         "mean": [0.5, 0.5, 0.5], "std": [0.25, 0.25, 0.25]},
       "metadata": {"sexes": ["male", "female", "unknown"],
         "sites": [\(quoted(BodySite.allCases.map(\.rawValue)))]},
       "fusion": null}
      """
    return try Classifier(
      configuration: ModelConfiguration(parsing: Array(configuration.utf8)), sha256: { "abc" },
      threadCount: 1, instructionSet: "baseline",
      engine: .function { _, _ in NetworkOutput(logits: logits, pooled: []) })
  }

  func image(width: Int = 120, height: Int = 110, level: (Int) -> UInt8) -> PixelImage {
    PixelImage(width: width, height: height, pixels: (0..<width * height * 3).map(level))
  }

  @Test func aResultHoldsTheLogitsTheirSoftmaxAndTheModel() throws {
    let result = try classifier(temperature: 2).classify(image { UInt8($0 % 251) })
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
    #expect(throws: ImageError.tooSmall(width: 31, height: 400, minimumSide: 32)) {
      try classifier().classify(image(width: 31, height: 400) { UInt8($0 % 256) })
    }
  }

  @Test func bytesThatAreNoImageAreRefused() {
    #expect(throws: ImageError.empty) { try classifier().classify(encodedImage: []) }
    #expect(throws: ImageError.self) { try classifier().classify(encodedImage: Array("hello, world".utf8)) }
  }

  @Test(arguments: [Float.nan, .infinity, -.infinity])
  func noPredictionIsMadeFromLogitsThatAreNotFinite(logit: Float) {
    #expect(throws: ClassifierError.self) {
      try classifier(logits: [1, 2, logit, 0, 0, 0, 0]).classify(image { UInt8($0 % 251) })
    }
  }

  @Test func aModelWithOtherClassesOrAnotherOrderIsRefused() {
    for classes in [Self.classes.reversed(), Self.classes.dropLast(), Self.classes + ["scc"]].map(Array.init)
    {
      #expect(throws: ClassifierError.unexpectedClasses(classes, file: "config.json")) {
        try classifier(classes: classes)
      }
    }
    #expect(
      ClassifierError.unexpectedClasses(["nv", "mel"], file: "m/config.json").description
        == "m/config.json: the model's classes are nv, mel; they must be akiec, bcc, bkl, df, mel, nv, vasc, in this order"
    )
  }

  @Test func aModelThatCannotBeReadSaysWhatIsMissing() {
    #expect(throws: ModelFileError.folderMissing(path: "/no/such/model")) {
      try Classifier(modelDirectory: "/no/such/model")
    }
    #expect(throws: ModelFileError.self) { try Classifier(configuration: [], weights: []) }
  }
}
