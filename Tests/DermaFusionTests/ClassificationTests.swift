import Files
import ReferenceLayers
import TestModels
import Testing

@testable import DermaFusion

/// Probabilities with the named classes set and the rest shared by `nv`.
func probabilities(_ given: [LesionLabel: Float]) -> ClassScores {
  var values = Labels.ham10000.map { given[$0] ?? 0 }
  if given[.nv] == nil { values[LesionLabel.nv.index] = 1 - given.values.reduce(0, +) }
  return ClassScores(values)
}

func classification(
  logits: [Float], temperature: Double = 1, metadata: PatientMetadata = .unknown,
  warnings: [ClassificationWarning] = [], imageSHA256: String? = "ab12"
) -> Classification {
  Classification(
    logits: ClassScores(logits), temperature: temperature, metadata: metadata, warnings: warnings,
    imageSHA256: imageSHA256, model: ModelIdentity(name: "m", version: "1.2.3", sha256: "cd34"))
}

@Suite struct HAM10000Tests {
  @Test func codesStandInTheOrderOfTheOutputs() {
    #expect(Labels.ham10000.ids == ["akiec", "bcc", "bkl", "df", "mel", "nv", "vasc"])
    #expect(Labels.ham10000.map(\.index) == Array(0..<7))
  }
}

@Suite struct ClassScoresTests {
  @Test func softmaxSumsToOneAndKeepsTheOrder() {
    let scores = ClassScores([-2, -1, 0, 1, 2, 3, 4])
    let result = scores.softmax(temperature: 1)
    #expect(abs(result.values.reduce(0, +) - 1) < 1e-6)
    #expect(result.ranked == scores.ranked)
    #expect(result.values == result.values.sorted())
    // e^4 / sum of e^-2...e^4
    #expect(abs(result[.vasc] - 0.6326975) < 1e-6)
  }

  @Test func softmaxHoldsForLogitsWhoseExponentialOverflows() {
    let result = ClassScores([1000, -1000, 0, 0, 0, 0, 999]).softmax(temperature: 1)
    #expect(!result.values.contains { !$0.isFinite })
    #expect(abs(result[.akiec] - 0.7310586) < 1e-6)
    #expect(result[.bcc] == 0)
  }

  @Test func temperatureDividesTheLogits() {
    let logits: [Float] = [-3, 2.5, 0, -0.5, 1, 4, -1]
    #expect(
      ClassScores(logits).softmax(temperature: 2)
        == ClassScores(logits.map { $0 / 2 }).softmax(temperature: 1))
  }

  @Test func equalScoresRankInTheOrderOfTheClasses() {
    let scores = ClassScores([0, 1, 1, 0, 1, 0, -1])
    #expect(scores.highest == .bcc)
    #expect(scores.ranked == [.bcc, .bkl, .mel, .akiec, .df, .nv, .vasc])
  }
}

@Suite struct RiskLevelTests {
  @Test(
    arguments: [
      ([.mel: 0.30], .high), ([.bcc: 0.30], .high), ([.mel: Float(0.30).nextDown], .moderate),
      ([.mel: 0.10], .moderate), ([.bcc: 0.10], .moderate), ([.akiec: 0.10], .moderate),
      ([.akiec: 0.9], .moderate), ([.akiec: Float(0.10).nextDown], .low),
      ([.mel: 0.09, .bcc: 0.09, .akiec: 0.09], .low), ([.akiec: 0.5, .bcc: 0.30], .high),
      ([.bkl: 0.9], .low), ([.vasc: 1], .low), ([.df: 0.6], .low), ([:], .low),
    ] as [([LesionLabel: Float], RiskLevel)])
  func thresholdsAreInclusiveAndTheHighestWins(given: [LesionLabel: Float], risk: RiskLevel) {
    #expect(RiskLevel(probabilities: probabilities(given)) == risk)
  }

  @Test func levelsAreOrdered() {
    #expect(RiskLevel.allCases.sorted(by: >) == [.high, .moderate, .low])
  }

  @Test func confidenceIsLowOnlyWhenNoClassReachesAFifth() {
    let even = ClassScores([Float](repeating: 1 / 7, count: 7))
    #expect(ConfidenceLevel(probabilities: even) == .low)
    var values = [Float](repeating: 0.8 / 6, count: 7)
    values[3] = 0.2
    #expect(ConfidenceLevel(probabilities: ClassScores(values)) == .normal)
    values[3] = Float(0.2).nextDown
    #expect(ConfidenceLevel(probabilities: ClassScores(values)) == .low)
  }
}

@Suite struct ClassificationJSONTests {
  @Test func keysStandInTheOrderOfTheContract() throws {
    let metadata = try PatientMetadata(ageInYears: 55, sex: .male, site: .back)
    let result = classification(
      logits: [-1.2, 0.1, 0, -5, 1e-7, 3, -2], metadata: metadata, warnings: [.smallImage, .metadataUnused])
    let p = result.probabilities.values
    #expect(
      result.json(imageName: "a \"b\"\\\n\u{1}é.jpg") == """
        {"schemaVersion":2,"image":"a \\"b\\"\\\\\\n\\u0001é.jpg","imageSHA256":"ab12",\
        "model":{"name":"m","version":"1.2.3","sha256":"cd34"},\
        "prediction":{"class":"nv","name":"Melanocytic nevi","probability":\(p[5])},\
        "probabilities":{"akiec":\(p[0]),"bcc":\(p[1]),"bkl":\(p[2]),"df":\(p[3]),"mel":\(p[4]),\
        "nv":\(p[5]),"vasc":\(p[6])},\
        "logits":{"akiec":-1.2,"bcc":0.1,"bkl":0.0,"df":-5.0,"mel":1e-07,"nv":3.0,"vasc":-2.0},\
        "risk":"low","concern":null,"urgent":false,"confidence":"normal",\
        "metadata":{"age":55,"sex":"male","site":"back","missing":[]},\
        "warnings":["small_image","metadata_unused"],\
        "abstain":false,"abstainReasons":[],"conformalSet":null,"conformalCoverage":null,\
        "instructionSet":null,"precision":null,\
        "summary":"\(result.summary)","disclaimer":"\(Wording.disclaimer)"}
        """)
  }

  @Test func whatIsMissingIsNullOrUnknownAndListed() {
    let text = classification(logits: [0, 0, 0, 0, 0, 0, 0], imageSHA256: nil).json(imageName: "-")
    #expect(text.contains(#""imageSHA256":null"#))
    #expect(
      text.contains(
        #""metadata":{"age":null,"sex":"unknown","site":"unknown","missing":["age","sex","site"]}"#))
    #expect(text.contains(#""confidence":"low""#))
  }

  @Test func numbersReadBackAsTheSameFloat() throws {
    var generator = SeededGenerator(seed: 55)
    for _ in 0..<1000 {
      let value = Float(bitPattern: UInt32.random(in: 0...UInt32.max, using: &generator))
      guard value.isFinite else { continue }
      #expect(Float(JSONValue.float(value).text) == value)
    }
    #expect(JSONValue.number(55.5).text == "55.5")
    #expect(JSONValue.number(0).text == "0")
  }

  @Test func noStringInJSONBreaksALineForAnyReader() {
    let breaks = "a\u{0}\n\u{B}\u{C}\r\u{1C}\u{7F}\u{85}\u{9B}\u{2028}\u{2029}\u{E9}"
    #expect(
      JSONValue.string(breaks).text
        == "\"a\\u0000\\n\\u000b\\u000c\\r\\u001c\\u007f\\u0085\\u009b\\u2028\\u2029\u{E9}\"")
  }
}
