import Files
import SystemModule
import TestModels
import Testing

@testable import DermaFusion
@testable import ImagePipeline
@testable import NetworkModule

@Suite struct ImageViewsTests {
  /// A classifier of 40x40 pixels, so that images of that size are not resized.
  private static func classifier(
    abstention: String? = nil, _ network: @escaping @Sendable (PixelImage) -> [Float]
  ) throws -> Classifier {
    Classifier(
      try StandIn.model(StandIn.configuration(name: "places", abstention: abstention), logits: network))
  }

  /// The red of seven places: other places in each view.
  @Sendable private static func reds(_ image: PixelImage) -> [Float] {
    (0..<7).map { Float(image.pixels[($0 * 97 + 5) * 3]) / 7 - 16 }
  }

  private static let image = PixelImage(
    width: 40, height: 40, pixels: (0..<4800).map { UInt8(truncatingIfNeeded: $0 * 37 + $0 / 120 * 11) })

  @Test func logitsAreTheMeanOverTheEightViews() throws {
    let seen = Locked<[[UInt8]]>([])
    let classifier = try Self.classifier { image in
      seen.withLock { $0.append(image.pixels) }
      return Self.reds(image)
    }
    let result = try classifier.classify(Self.image, views: .symmetries)
    let views = seen.withLock { $0 }
    #expect(views == ImageViews.symmetries.symmetriesOfSquare.map { $0.applied(to: Self.image).pixels })
    #expect(Set(views).count == 8)
    let expected = (0..<7).map { index in
      Float(views.reduce(0) { $0 + Double(Float($1[(index * 97 + 5) * 3]) / 7 - 16) } / 8)
    }
    #expect(result.logits.values == expected)
    #expect(result.probabilities == ClassScores(expected).softmax(temperature: 1))
    #expect(result.views == .symmetries)
  }

  /// Their thresholds were fitted on probabilities of one view.
  @Test func setsOfClassesAreMadeOfOneViewOnly() throws {
    let classifier = try Self.classifier(
      abstention: """
        {"quality": {"minimum_brightness": 0, "maximum_brightness": 255, "minimum_contrast": 0,
          "minimum_sharpness": 0, "minimum_structure": 0},
         "distance": {"stage": 4, "threshold": 2.5},
         "conformal": {"coverage": 0.9, "thresholds": [0.2, 0.2, 0.2, 0, 0.15, 0.3, 0.2]}}
        """, Self.reds)
    #expect(try classifier.classify(Self.image).abstention.conformalSet?.coverage == 0.9)
    #expect(try classifier.classify(Self.image, views: .symmetries).abstention.conformalSet == nil)
  }

  @Test func withoutViewsTheNetworkRunsOnce() throws {
    let count = Locked(0)
    let classifier = try Self.classifier { image in
      count.withLock { $0 += 1 }
      return Self.reds(image)
    }
    let result = try classifier.classify(Self.image)
    #expect(count.withLock { $0 } == 1)
    #expect(result.views == .upright)
    #expect(!result.json(imageName: "a").contains("views"))
    #expect(
      try classifier.classify(Self.image, views: .symmetries).json(imageName: "a").contains("\"views\":8,"))
  }

  @Test func logitsThatAreNotFiniteInOneViewMakeNoPrediction() throws {
    let corner = Self.image.pixels[0]
    let classifier = try Self.classifier { image in
      [1, 2, 3, 4, 5, 6, image.pixels[0] == corner ? 7 : .infinity]
    }
    #expect(throws: Never.self) { try classifier.classify(Self.image) }
    #expect(throws: DermaFusionError.self) { try classifier.classify(Self.image, views: .symmetries) }
  }

  /// The network of the fixtures, at any number of threads; a pattern that no symmetry changes looks the same from
  /// every side.
  @Test func bitsDependNeitherOnThreadsNorOnTheSideOfASymmetricImage() throws {
    let (formula, configuration) = try #require(
      FormulaNetwork.all().first { $0.network.name == "efficientnet_lite0" })
    let weights = formula.weights()
    let side = formula.size
    let pixels = (0..<side * side * 3).map { index in
      let (y, x) = (index / 3 / side, index / 3 % side)
      let (a, b) = (min(y, side - 1 - y), min(x, side - 1 - x))
      return UInt8((a * b * 5 + (a + b) * 3 + index % 3 * 40) % 256)
    }
    let symmetric = PixelImage(width: side, height: side, pixels: pixels)
    let uneven = PixelImage(
      width: side, height: side, pixels: pixels.indices.map { UInt8(($0 * 29 + $0 / side) % 251) })
    let classifiers = try [1, 3].map {
      try Classifier(configuration: configuration, weights: weights, threadCount: $0)
    }
    let metadata = try PatientMetadata(ageInYears: 40, sex: .female)
    let results = try classifiers.map {
      try $0.classify(uneven, metadata: metadata, views: .symmetries).logits
    }
    #expect(results[0] == results[1])
    #expect(results[0] != (try classifiers[0].classify(uneven, metadata: metadata).logits))
    #expect(
      try classifiers[1].classify(symmetric, views: .symmetries).logits
        == classifiers[0].classify(symmetric).logits)
  }
}
