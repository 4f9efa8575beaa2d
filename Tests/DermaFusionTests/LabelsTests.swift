import Files
import TestModels
import Testing

@testable import DermaFusion

/// Models whose classes are not the seven of HAM10000.
@Suite struct LabelsTests {
  private static let image = PixelImage(
    width: 40, height: 40, pixels: (0..<4800).map { UInt8(truncatingIfNeeded: $0 * 37 + $0 / 120 * 11) })

  private func classify(classes: String, _ logits: [Float]) throws -> Classification {
    let model = try StandIn.model(StandIn.configuration(classes: classes)) { _ in logits }
    return try Classifier(model).classify(Self.image)
  }

  /// The eight classes of the ISIC challenge of 2019.
  private static let isic2019 = """
    [{"class": "MEL", "name": "Melanoma", "malignancy": "malignant"},
     {"class": "NV", "name": "Melanocytic nevus", "malignancy": "benign"},
     {"class": "BCC", "name": "Basal cell carcinoma", "malignancy": "malignant"},
     {"class": "AK", "name": "Actinic keratosis", "malignancy": "pre-malignant"},
     {"class": "BKL", "name": "Benign keratosis", "malignancy": "benign"},
     {"class": "DF", "name": "Dermatofibroma", "malignancy": "benign"},
     {"class": "VASC", "name": "Vascular lesion", "malignancy": "benign"},
     {"class": "SCC", "name": "Squamous cell carcinoma", "malignancy": "malignant"}]
    """

  @Test func riskFollowsFromWhatTheModelSaysOfItsClasses() throws {
    let squamous = try classify(classes: Self.isic2019, [0, 3, 0, 0, 0, 0, 0, 2.9])
    #expect(squamous.prediction?.id == "NV" && squamous.risk == .high)
    #expect(squamous.answer?.concern?.id == "SCC")
    #expect(
      squamous.summary.contains("; Squamous cell carcinoma cannot be excluded ("), "\(squamous.summary)")
    let keratosis = try classify(classes: Self.isic2019, [0, 0, 0, 9, 0, 0, 0, 0])
    #expect(keratosis.prediction?.name == "Actinic keratosis" && keratosis.risk == .moderate)
    #expect(try classify(classes: Self.isic2019, [0, 9, 0, 0, 0, 0, 0, 0]).risk == .low)
  }

  @Test(arguments: ["mel", "MEL", "Melanoma", "MELANOMA"])
  func anyClassOfThisNameIsMelanoma(id: String) throws {
    let classes = #"[{"class": "x"}, {"class": "\#(id)", "name": "M"}]"#
    let urgent = try classify(classes: classes, [0, 9])
    #expect(urgent.summary.hasSuffix(Wording.urgentSentence), "\(urgent.summary)")
    #expect(urgent.probabilities.labels.melanoma?.id == id)
    let other = try classify(classes: classes, [9, 0])
    #expect(!other.summary.contains(Wording.urgentSentence))
  }

  @Test func aClassThatOnlyResemblesMelanomaIsNot() throws {
    let result = try classify(classes: #"["melanocytic", "nevus"]"#, [9, 0])
    #expect(
      result.summary
        == "Classification suggests melanocytic (99% confidence). This is not a diagnosis. Please consult a dermatologist."
    )
  }

  @Test func aModelThatDoesNotSayWhatIsMalignantHasNoRisk() throws {
    let result = try classify(classes: #"["malignant", "benign"]"#, [4, 0])
    #expect(result.prediction?.name == "malignant")
    #expect(result.risk == nil && result.answer?.concern == nil)
    #expect(!result.abstains)
    let json = result.json(imageName: "x")
    #expect(
      json.contains(#""risk":null,"#) && json.contains(#""prediction":{"class":"malignant","#), "\(json)")
    #expect(
      result.summary
        == "Classification suggests malignant (98% confidence). This is not a diagnosis. Please consult a dermatologist."
    )
  }

  @Test func aThousandClassesKeepTheirOrder() throws {
    let ids = (0..<1000).map { "c\(($0 * 617) % 1000)" }
    let classes = "[\(ids.map { "\"\($0)\"" }.joined(separator: ","))]"
    let logits = (0..<1000).map { Float(($0 * 389) % 1000) / 50 }
    let result = try classify(classes: classes, logits)
    #expect(result.probabilities.labels.ids == ids)
    let best = try #require(logits.indices.max { logits[$0] < logits[$1] })
    #expect(result.prediction?.id == ids[best])
    #expect(result.logits[ids[417]] == logits[417])
    #expect(result.confidence == .low)
    let ranked = result.probabilities.ranked
    let isSorted = zip(ranked, ranked.dropFirst()).allSatisfy { result.logits[$0] >= result.logits[$1] }
    #expect(isSorted)
  }

  @Test func labelsAreFoundByTheirIds() {
    let labels = Labels.ham10000
    for (index, label) in labels.enumerated() {
      #expect(label.index == index && labels[label.id] == label)
    }
    #expect(labels["MEL"] == nil && labels.melanoma == .mel)
  }

  @Test func aLabelOfAnotherModelIsNotExplained() throws {
    let classifier = try LightDetector.classifier()
    let other = try StandIn.model(StandIn.configuration(classes: #"["a", "mel"]"#)) { _ in [0, 1] }
    let error = #expect(throws: DermaFusionError.self) {
      try classifier.explain(Self.image, labels: [other.labels[1]])
    }
    #expect(error?.code == .unknownClass)
    #expect(error?.message == "the model has no class 'mel' at place 1")
  }

  @Test(arguments: [6, 8])
  func aLastLayerOfOtherOutputsThanClassesIsRefused(outputs: Int) throws {
    let files = try LightDetector.files(classes: Labels.ham10000.ids, rising: 5, falling: 4, outputs: outputs)
    let error = #expect(throws: DermaFusionError.self) {
      try Classifier(configuration: files.configuration, weights: files.weights)
    }
    #expect(error?.code == .invalidModel)
    #expect(
      error?.message == """
        model.safetensors: the last layer "classifier.weight" has \(outputs) outputs, and config.json lists 7 classes
        """)
  }
}
