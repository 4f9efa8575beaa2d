import Files
import Foundation
import TestModels
import Testing

@testable import DermaFusion
@testable import ImagePipeline
@testable import NetworkModule

/// The vote itself, of members that are a few lines long.
@Suite struct EnsembleTests {
  private typealias Logits = @Sendable (_ image: PixelImage) -> [Float]

  private static func member(
    temperature: Double, metadata: [Int: [Float]]? = nil, abstention: String? = nil,
    _ logits: @escaping Logits
  ) throws -> Model {
    try StandIn.model(
      StandIn.configuration(temperature: temperature, hasFusion: metadata != nil, abstention: abstention),
      metadata: metadata ?? [:], logits: logits)
  }

  private static func ensemble(
    _ members: [Model], weights: [Double], temperature: Double = 1
  ) throws -> Classifier {
    let list = weights.enumerated().map { #"{"folder":"m\#($0)","weight":\#($1)}"# }.joined(separator: ",")
    let text =
      #"{"format_version":1,"name":"e","version":"3","temperature":\#(temperature),"members":[\#(list)]}"#
    let configuration = try #require(try EnsembleConfiguration(parsing: Array(text.utf8)))
    return Classifier(
      Ensemble(configuration, file: "E/config.json", models: members, sha256: { "e1" }))
  }

  private static let image = PixelImage(
    width: 40, height: 40, pixels: (0..<4800).map { UInt8(truncatingIfNeeded: $0 * 37 + $0 / 120 * 11) })

  /// exp(logit / temperature) over its sum, in Double.
  private static func softmax(_ logits: [Float], _ temperature: Double) -> [Double] {
    let scaled = logits.map { Double($0) / temperature }
    let exponentials = scaled.map { exp($0 - scaled.max()!) }
    return exponentials.map { $0 / exponentials.reduce(0, +) }
  }

  @Test func probabilitiesAreTheWeightedMeanEachAtItsOwnTemperature() throws {
    var generator = SplitMix64(seed: 11)
    for _ in 0..<20 {
      let logits = (0..<3).map { _ in
        (0..<7).map { _ in Float(Int64(bitPattern: generator.next()) >> 40) / Float(1 << 21) }
      }
      let (temperatures, weights) = ([0.5, 1, 3], [0.25, 2, 1e-3])
      let members = try zip(temperatures, logits).map { temperature, logits in
        try Self.member(temperature: temperature) { _ in logits }
      }
      let result = try Self.ensemble(members, weights: weights).classify(Self.image)
      let votes = zip(logits, temperatures).map(Self.softmax)
      for index in 0..<7 {
        let sum = (0..<3).reduce(0) { $0 + weights[$1] * votes[$1][index] }
        let expected = sum / weights.reduce(0, +)
        #expect(
          abs(Double(result.probabilities.values[index]) - expected) < 1e-6,
          "class \(index) of \(logits): \(result.probabilities.values[index]), expected \(expected)")
        #expect(abs(exp(Double(result.logits.values[index])) - expected) < 1e-6)
      }
      // The ensemble's own temperature comes after the vote.
      let cooled = try Self.ensemble(members, weights: weights, temperature: 0.5).classify(Self.image)
      #expect(cooled.logits == result.logits)
      #expect(cooled.probabilities == result.logits.softmax(temperature: 0.5))
    }
  }

  @Test func logitsFarApartStayFinite() throws {
    let extreme: [Float] = [-3e38, 3e38, 0, -1, 1, 2, -300]
    let members = try [extreme, extreme].map { logits in
      try Self.member(temperature: 0.001) { _ in logits }
    }
    let result = try Self.ensemble(members, weights: [1, 3]).classify(Self.image)
    let areFinite = result.logits.values.allSatisfy(\.isFinite)
    #expect(areFinite, "\(result.logits.values)")
    #expect(result.probabilities.values == [0, 1, 0, 0, 0, 0, 0])
  }

  @Test func aModelWithItselfIsTheModel() throws {
    let logits: [Float] = [0.5, -2, 3, 1, -0.25, 2, 0]
    let member = try Self.member(temperature: 1.5) { _ in logits }
    let alone = try Classifier(member).classify(Self.image).probabilities.values
    for weights in [[1.0], [0.3, 7]] {
      let vote = try Self.ensemble(weights.map { _ in member }, weights: weights).classify(Self.image)
      for index in 0..<7 {
        #expect(abs(vote.probabilities.values[index] - alone[index]) < 1e-6, "class \(index)")
      }
    }
  }

  @Test func ofEightViewsEachMemberAveragesItsOwnLogits() throws {
    let place: @Sendable (PixelImage, Int) -> Float = { Float($0.pixels[$1 * 3]) / 16 - 8 }
    let members = try [5, 400].map { first in
      try Self.member(temperature: 2) { image in (0..<7).map { place(image, first + $0 * 97) } }
    }
    let result = try Self.ensemble(members, weights: [1, 2]).classify(Self.image, views: .symmetries)
    let votes = try members.map {
      try Classifier($0).classify(Self.image, views: .symmetries).probabilities.values.map(Double.init)
    }
    for index in 0..<7 {
      let expected = (votes[0][index] + 2 * votes[1][index]) / 3
      #expect(abs(Double(result.probabilities.values[index]) - expected) < 1e-6, "class \(index)")
    }
    #expect(result.views == .symmetries)
  }

  @Test func metadataIsUsedWhenOneMemberUsesIt() throws {
    let metadata = try PatientMetadata(ageInYears: 80)
    let plain = try Self.member(temperature: 1) { _ in [0, 1, 0, 1, 0, 1, 0] }
    let fused = try Self.member(temperature: 1, metadata: [0: [1, 0, 0, 0], 1: [0, 1, 0, 0]]) { _ in
      [Float](repeating: 0, count: 7)
    }
    let both = try Self.ensemble([plain, fused], weights: [1, 1])
    let result = try both.classify(Self.image, metadata: metadata)
    #expect(!result.warnings.contains(.metadataUnused))
    let unknown = try both.classify(Self.image)
    #expect(result.logits != unknown.logits)
    let none = try Self.ensemble([plain, plain], weights: [1, 1])
    #expect(try none.classify(Self.image, metadata: metadata).warnings.contains(.metadataUnused))
  }

  @Test func itAbstainsWhereAnyMemberDoesAndMakesNoSets() throws {
    func member(darkest: Double, mostContrast: Double) throws -> Model {
      try Self.member(
        temperature: 1,
        abstention: """
          {"quality": {"minimum_brightness": \(darkest), "maximum_brightness": 255,
            "minimum_contrast": \(mostContrast), "minimum_sharpness": 0, "minimum_structure": 0},
           "distance": {"stage": 1, "threshold": 1},
           "conformal": {"coverage": 0.9, "thresholds": [0, 0, 0, 0, 0, 0, 0]}}
          """
      ) { _ in [0, 1, 2, 3, 4, 5, 6] }
    }
    let unfitted = try Self.member(temperature: 1) { _ in [0, 1, 2, 3, 4, 5, 6] }
    let (easy, dark) = (
      try member(darkest: 0, mostContrast: 0), try member(darkest: 254, mostContrast: 0)
    )
    let flat = try member(darkest: 254, mostContrast: 250)
    for (members, reasons) in [
      ([unfitted, unfitted], []), ([easy, unfitted], []), ([unfitted, dark], [.underexposed]),
      ([flat, easy], [.underexposed, .lowContrast]), ([dark, flat], [.underexposed, .lowContrast]),
    ] as [([Model], [AbstentionReason])] {
      let result = try Self.ensemble(members, weights: [1, 1]).classify(Self.image)
      #expect(result.abstention.reasons == reasons)
      #expect(result.abstention.conformalSet == nil)
    }
    #expect(try Classifier(dark).classify(Self.image).abstention.conformalSet != nil)
  }

  @Test func aMemberWithoutFiniteLogitsMakesNoPrediction() throws {
    let members = try [0, Float.infinity].map { last in
      try Self.member(temperature: 1) { _ in [0, 1, 2, 3, 4, 5, last] }
    }
    let error = #expect(throws: DermaFusionError.self) {
      try Self.ensemble(members, weights: [1, 1]).classify(Self.image)
    }
    #expect(error?.code == .nonFiniteOutput)
    // The last layer multiplies it by zeros too.
    let message = error?.message ?? ""
    #expect(message.hasPrefix("the network's outputs are not finite (") && message.hasSuffix(", inf)"))
  }

  @Test func mapsAreOfOneNetwork() throws {
    let member = try Self.member(temperature: 1) { _ in [0, 1, 2, 3, 4, 5, 6] }
    let ensemble = try Self.ensemble([member, member], weights: [1, 1])
    for explain in [
      { _ = try ensemble.explain(Self.image) }, { _ = try ensemble.activationMap(of: Self.image) },
    ] as [() throws -> Void] {
      let error = #expect(throws: DermaFusionError.self) { try explain() }
      #expect(error?.code == .ensembleNotExplained)
      #expect(
        error?.message == """
          E/config.json: an activation map is of one network, and this is an ensemble; name the folder of one of its \
          members as the model (m0, m1)
          """)
    }
    #expect(ensemble.layers.isEmpty)
  }
}
