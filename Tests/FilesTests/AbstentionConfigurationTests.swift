import Foundation
import SystemModule
import Testing

@testable import Files

@Suite struct AbstentionConfigurationTests {
  static let abstention = #"""
    {"quality":{"minimum_brightness":40,"maximum_brightness":235,"minimum_contrast":5,
      "minimum_sharpness":0.03,"minimum_structure":0.4,"maximum_green":0.1,"minimum_color_variety":2.1,"minimum_warmth":-0.4},
     "distance":{"stage":2,"threshold":2.5,"outer_tenth":1.25},
     "conformal":{"coverage":0.9,"thresholds":[0.2,0.25,0.3,0,0.15,0.35,1]}}
    """#

  /// A valid configuration with this value of the key `abstention`.
  private func parse(_ abstention: String) throws -> ModelConfiguration.Abstention? {
    let text = ModelConfigurationTests.valid.replacingOccurrences(
      of: #""training""#, with: "\"abstention\":\(abstention),\"training\"")
    return try ModelConfiguration(parsing: Array(text.utf8)).abstention
  }

  /// The same with one piece of ``abstention`` replaced; the piece must occur once.
  private func parse(replacing piece: String, with replacement: String) throws
    -> ModelConfiguration.Abstention?
  {
    let parts = Self.abstention.components(separatedBy: piece)
    try #require(parts.count == 2, "\(piece) occurs \(parts.count - 1) times")
    return try parse(parts.joined(separator: replacement))
  }

  @Test func everyValueIsRead() throws {
    let abstention = try #require(try parse(Self.abstention))
    #expect(
      abstention.quality
        == .init(
          minimumBrightness: 40, maximumBrightness: 235, minimumContrast: 5, minimumSharpness: 0.03,
          minimumStructure: 0.4, maximumGreen: 0.1, minimumColorVariety: 2.1, minimumWarmth: -0.4))
    #expect(abstention.distance == .init(stage: 2, threshold: 2.5, outerTenth: 1.25))
    #expect(abstention.conformal == .init(coverage: 0.9, thresholds: [0.2, 0.25, 0.3, 0, 0.15, 0.35, 1]))
    #expect(abstention.dermoscopy == nil && abstention.stages == [2])
  }

  private func parse(dermoscopy: String) throws -> ModelConfiguration.Abstention? {
    try parse(replacing: #"{"quality""#, with: #"{"dermoscopy":\#(dermoscopy),"quality""#)
  }

  @Test func theProbeHasStagesAndALimit() throws {
    let limits = try parse(dermoscopy: #"{"stages":[0,2,3],"threshold":-0.5}"#)
    #expect(limits?.dermoscopy == .init(stages: [0, 2, 3], threshold: -0.5))
    #expect(limits?.stages == [0, 2, 3])
    #expect(try parse(dermoscopy: #"{"stages":[5],"threshold":0}"#)?.stages == [2, 5])
  }

  @Test(arguments: [
    (
      #"{"stages":[],"threshold":0}"#,
      DermaFusionError.outOfRange(
        key: "abstention.dermoscopy.stages", value: "[]", rule: "at least one stage, ascending")
    ),
    (
      #"{"stages":[3,3],"threshold":0}"#,
      .outOfRange(
        key: "abstention.dermoscopy.stages", value: "[3, 3]", rule: "at least one stage, ascending")
    ),
    (
      #"{"stages":[-1,3],"threshold":0}"#,
      .outOfRange(key: "abstention.dermoscopy.stages[0]", value: "-1", rule: "an integer from 0 up")
    ),
    (
      #"{"stages":3,"threshold":0}"#,
      .wrongType(key: "abstention.dermoscopy.stages", expected: "an array", found: "a number")
    ),
    (#"{"stages":[3]}"#, .missingKey("abstention.dermoscopy.threshold")),
    (#"{"threshold":0}"#, .missingKey("abstention.dermoscopy.stages")),
    (
      #"{"stages":[3],"threshold":0,"weights":1}"#, .unknownKey("abstention.dermoscopy.weights")
    ),
  ])
  func whatBreaksARuleOfTheProbeIsNamed(dermoscopy: String, error: DermaFusionError) {
    #expect(throws: error) { try parse(dermoscopy: dermoscopy) }
  }

  @Test func theShareOfEachClassMayBeNullAndIsThatOfAllWhereItIsNotStated() throws {
    func shares(_ text: String) throws -> [Double?]? {
      try parse(
        replacing: #""thresholds":"#,
        with:
          #""conformalCoverageByClass":{"nv":0.9,"akiec":1,"bcc":0.9,"bkl":0.9,\#(text)"vasc":0.9},"thresholds":"#
      )?
      .conformal.coverageByClass
    }
    #expect(try parse(Self.abstention)?.conformal.coverageByClass == [Double?](repeating: 0.9, count: 7))
    #expect(try shares(#""df":null,"mel":0,"#) == [1, 0.9, 0.9, nil, 0, 0.9, 0.9])
    let key = "abstention.conformal.conformalCoverageByClass"
    #expect(throws: DermaFusionError.missingKey("\(key).mel")) { try shares(#""df":null,"#) }
    #expect(throws: DermaFusionError.unknownKey("\(key).naevus")) {
      try shares(#""df":null,"mel":0.5,"naevus":0.9,"#)
    }
    #expect(throws: DermaFusionError.outOfRange(key: "\(key).mel", value: "90", rule: "in 0...1")) {
      try shares(#""df":null,"mel":90,"#)
    }
  }

  @Test func whatMayBeLeftOut() throws {
    #expect(try parse(replacing: #","maximum_green":0.1"#, with: "")?.quality.maximumGreen == nil)
    let plain = try parse(replacing: #","minimum_color_variety":2.1,"minimum_warmth":-0.4"#, with: "")?
      .quality
    #expect(try parse(replacing: #","outer_tenth":1.25"#, with: "")?.distance.outerTenth == nil)
    #expect(plain != nil && plain?.minimumColorVariety == nil && plain?.minimumWarmth == nil)
    #expect(try ModelConfiguration(parsing: Array(ModelConfigurationTests.valid.utf8)).abstention == nil)
  }

  @Test(arguments: [
    ("quality", "quality"), ("distance", "distance"), ("conformal", "conformal"),
    ("minimum_brightness", "quality.minimum_brightness"),
    ("maximum_brightness", "quality.maximum_brightness"), ("minimum_contrast", "quality.minimum_contrast"),
    ("minimum_sharpness", "quality.minimum_sharpness"), ("minimum_structure", "quality.minimum_structure"),
    ("stage", "distance.stage"), ("threshold", "distance.threshold"),
    ("coverage", "conformal.coverage"), ("thresholds", "conformal.thresholds"),
  ])
  func missingKeys(key: String, fullKey: String) {
    #expect(throws: DermaFusionError.missingKey("abstention.\(fullKey)")) {
      try parse(replacing: "\"\(key)\":", with: "\"\(key)_\":")
    }
  }

  @Test(arguments: [
    (#""quality":{"#, #""quality":{"sharp":1,"#, DermaFusionError.unknownKey("abstention.quality.sharp")),
    (#""distance":{"#, #""distance":{"mean":1,"#, .unknownKey("abstention.distance.mean")),
    (#""conformal":{"#, #""conformal":{"alpha":1,"#, .unknownKey("abstention.conformal.alpha")),
    (#"{"quality""#, #"{"limits":1,"quality""#, .unknownKey("abstention.limits")),
    (
      #""minimum_contrast":5"#, #""minimum_contrast":"5""#,
      .wrongType(key: "abstention.quality.minimum_contrast", expected: "a number", found: "a string")
    ),
    (
      #""maximum_green":0.1"#, #""maximum_green":null"#,
      .wrongType(key: "abstention.quality.maximum_green", expected: "a number", found: "null")
    ),
    (
      #""maximum_green":0.1"#, #""maximum_green":1.5"#,
      .outOfRange(key: "abstention.quality.maximum_green", value: "1.5", rule: "in 0...1")
    ),
    (
      #""minimum_warmth":-0.4"#, #""minimum_warmth":"cold""#,
      .wrongType(key: "abstention.quality.minimum_warmth", expected: "a number", found: "a string")
    ),
    (
      #""stage":2"#, #""stage":-1"#,
      .outOfRange(key: "abstention.distance.stage", value: "-1", rule: "an integer from 0 up")
    ),
    (
      #""threshold":2.5"#, #""threshold":-2.5"#,
      .outOfRange(key: "abstention.distance.threshold", value: "-2.5", rule: "above 0")
    ),
    (
      #""coverage":0.9"#, #""coverage":90"#,
      .outOfRange(key: "abstention.conformal.coverage", value: "90", rule: "above 0 and at most 1")
    ),
    (
      "0.35,1]", "0.35]",
      .wrongCount(key: "abstention.conformal.thresholds", expected: "7 numbers", found: 6)
    ),
    (
      "0.35,1]", "0.35,-1]",
      .outOfRange(key: "abstention.conformal.thresholds[6]", value: "-1", rule: "in 0...1")
    ),
  ])
  func whatBreaksARuleIsNamed(piece: String, replacement: String, error: DermaFusionError) {
    #expect(throws: error) { try parse(replacing: piece, with: replacement) }
    #expect(!"\(error)".contains("\n"))
  }

  @Test(arguments: [("null", "null"), ("[]", "an array"), ("true", "a boolean"), ("0.9", "a number")])
  func notAnObject(text: String, found: String) {
    #expect(throws: DermaFusionError.wrongType(key: "abstention", expected: "an object", found: found)) {
      try parse(text)
    }
  }
}
