import Files
import Foundation
import TestFiles
import Testing

@testable import DermaFusion

/// Results that are read back from a file that anybody may have written.
@Suite struct ImportedResultTests {
  private static let sha256 = String(repeating: "0af1", count: 16)

  private static func classification(
    _ given: [String: Float], labels: Labels = .ham10000, reasons: [AbstentionReason] = [],
    age: Double? = 61.5, coverage: Double? = 0.9
  ) throws -> Classification {
    let probabilities = ClassScores(labels.map { given[$0.id] ?? 0 }, labels: labels)
    return Classification(
      logits: ClassScores(probabilities.values.map { log($0 + 1e-6) * 1.7 }, labels: labels),
      probabilities: probabilities, metadata: try PatientMetadata(ageInYears: age, sex: .female, site: .ear),
      warnings: [.smallImage], imageSHA256: sha256,
      model: ModelIdentity(name: "m", version: "1.2.3", sha256: sha256),
      abstention: Abstention(
        reasons: reasons, conformalSet: .init(classes: [labels[5], labels[4]], coverage: coverage)))
  }

  private static func text(of result: Classification, labels: Labels = .ham10000) -> String {
    let members: [(key: String, value: JSONValue)] = [
      (
        "classes",
        .array(
          labels.map { label in
            .object([
              "class": .string(label.id), "name": .string(label.name),
              "malignancy": .string(label.malignancy!.rawValue),
            ])
          })
      ), ("result", .object(result.members(imageName: "a lesion.jpg"))),
    ]
    return JSONValue.object(members).text
  }

  private static func read(_ text: String, own: Labels? = nil) throws -> ImportedResult {
    try ImportedResult(json: Array(text.utf8)) { $0 == sha256 ? own : nil }
  }

  /// Classes that may be right at once have probabilities that do not add up to 1; any other result's must.
  @Test func aResultOfSeveralLabelsIsReadBack() throws {
    let logits = ClassScores([-3, 2, 0.5, -1, 3.5, 4, -6], labels: .ham10000)
    func result(isMultiLabel: Bool, _ abstention: Abstention = .none) -> Classification {
      Classification(
        logits: logits, probabilities: logits.sigmoids(temperature: 1), isMultiLabel: isMultiLabel,
        metadata: .unknown, warnings: [], imageSHA256: Self.sha256,
        model: ModelIdentity(name: "m", version: "1", sha256: Self.sha256), abstention: abstention)
    }
    let whole = result(isMultiLabel: true)
    #expect(whole.prediction?.id == "nv" && whole.risk == .high && whole.answer?.concern?.id == "mel")
    // Melanoma is above the threshold, and another class is likelier still.
    #expect(whole.isUrgent && whole.summary.contains(Wording.urgentSentence))
    #expect(try Self.read(Self.text(of: whole)).classification == whole)
    #expect(
      try JSONDecoder().decode(Classification.self, from: JSONEncoder().encode(whole)) == whole)
    func refusal(_ result: Classification) -> String {
      let error = #expect(throws: DermaFusionError.self) { try Self.read(Self.text(of: result)) }
      return error?.message ?? ""
    }
    #expect(refusal(result(isMultiLabel: false)).contains("and must add up to 1"))
    let set = Abstention(
      reasons: [], conformalSet: .init(classes: [whole.probabilities.highest], coverage: 0.9))
    #expect(refusal(result(isMultiLabel: true, set)).contains("conformalSet"))
  }

  static let given: [[String: Float]] = [
    ["nv": 0.87, "bkl": 0.13], ["nv": 0.51, "mel": 0.46, "bcc": 0.03], ["mel": 0.97, "nv": 0.03],
    ["nv": 0.2, "mel": 0.2, "bcc": 0.2, "df": 0.2, "vasc": 0.1, "bkl": 0.1],
    ["nv": 0.18, "mel": 0.17, "bcc": 0.15, "df": 0.15, "vasc": 0.15, "bkl": 0.1, "akiec": 0.1],
  ]

  @Test(arguments: given) func whatTheLibraryWritesIsReadBack(given: [String: Float]) throws {
    for reasons in [[], [AbstentionReason.blurred, .outOfDistribution]] {
      for age in [nil, 0, 61.5] {
        // Without a share, as of a class whose threshold was not fitted.
        let result = try Self.classification(
          given, reasons: reasons, age: age, coverage: age == 0 ? nil : 0.9)
        let stored = try Self.read(Self.text(of: result), own: .ham10000)
        #expect(stored.classification.outcome == result.outcome)
        #expect(stored.classification.metadata == result.metadata)
        guard case .object(let members) = stored.json else { return #expect(Bool(false)) }
        for (key, value) in result.members(imageName: "a lesion.jpg") {
          if let found = members[key] { #expect(found == value, "\(key)") }
        }
        #expect(members["summary"] == .string(result.summary))
        #expect(members["disclaimer"] == .string(Wording.disclaimer))
        guard case .object(let summaries) = members["summaries"] else { return #expect(Bool(false)) }
        for language in Language.allCases {
          #expect(summaries[language.rawValue] == .string(result.summary(in: language)))
        }
      }
    }
  }

  /// JavaScript writes 1e-7 for 1e-07 and 1 for 1.0.
  @Test func numbersMayHaveOtherDigits() throws {
    let result = try Self.classification(["nv": 1])
    let text = Self.text(of: result).replacingOccurrences(of: ":0.0,", with: ":0,").replacingOccurrences(
      of: "\"probability\":1.0", with: "\"probability\":1")
    #expect(text.contains("\"probability\":1}") && text.contains(":0,"))
    #expect(try Self.read(text).classification.prediction?.id == "nv")
  }

  @Test func anOlderResultGetsWhatItLacks() throws {
    let result = try Self.classification(["nv": 0.51, "mel": 0.46, "bcc": 0.03])
    let older = Self.text(of: result).replacingOccurrences(of: #""concern":"mel","urgent":false,"#, with: "")
      .replacingOccurrences(of: "; Melanoma cannot be excluded (46%)", with: "")
    #expect(!older.contains("\"concern\"") && !older.contains("cannot be excluded"))
    guard case .object(let members) = try Self.read(older).json else { return #expect(Bool(false)) }
    #expect(members["concern"] == .string("mel") && members["urgent"] == .bool(false))
    #expect(members["summary"] == .string(result.summary))
  }

  /// Before, 0.298 was 30 % in a sentence.
  @Test func anOlderSentenceMayRoundInAnotherWay() throws {
    let result = try Self.classification(["nv": 0.298, "bkl": 0.29, "df": 0.28, "vasc": 0.132])
    #expect(result.summary.contains("(29% confidence)"))
    let older = Self.text(of: result).replacing("(29% confidence)", with: "(30% confidence)")
    guard case .object(let members) = try Self.read(older).json else { return #expect(Bool(false)) }
    #expect(members["summary"] == .string(result.summary))
  }

  /// A result in another language is held against the sentences of that language.
  @Test func aResultInAnotherLanguageIsReadBack() throws {
    let result = try Self.classification(["nv": 0.51, "mel": 0.46, "bcc": 0.03])
    let english = JSONValue.object(result.members(imageName: "a lesion.jpg")).text
    let german = JSONValue.object(result.members(imageName: "a lesion.jpg", language: .german)).text
    let text = Self.text(of: result).replacing(english, with: german)
    #expect(try Self.read(text).classification.outcome == result.outcome)
    for (part, other) in [
      ("ist keine Diagnose", "ist harmlos"), ("KEIN Medizinprodukt", "ein Medizinprodukt"),
    ] {
      #expect(text.contains(part))
      #expect(throws: DermaFusionError.self) { try Self.read(text.replacing(part, with: other)) }
    }
    #expect(throws: DermaFusionError.self) {
      try Self.read(text.replacing("\"language\":\"de\"", with: "\"language\":\"xx\""))
    }
  }

  /// A change in a good result, and the error's words on it.
  static let lies: [(from: String, to: String, says: String)] = [
    ("cannot be excluded", "can be excluded", #""summary" is "Classification"#),
    (#""risk":"high""#, #""risk":"low""#, #""risk" is "low", and its other members make it "high""#),
    (#""risk":"high""#, #""risk":null"#, #""risk" is null"#),
    (#""concern":"mel""#, #""concern":null"#, "concern"),
    (#""urgent":false"#, #""urgent":true"#, "urgent"),
    (#""confidence":"normal""#, #""confidence":"low""#, "confidence"),
    (#""abstain":false"#, #""abstain":true"#, "abstain"),
    (#""abstainReasons":[]"#, #""abstainReasons":["blurred"]"#, "prediction"),
    (#""abstainReasons":[]"#, #""abstainReasons":["bored"]"#, "abstainReasons"),
    (#""warnings":["small_image"]"#, #""warnings":["small_image","small_image"]"#, "warnings"),
    (#""probability":0.51"#, #""probability":0.99"#, #""probability":0.51"#),
    (#""bcc":0.03"#, #""bcc":1"#, "add up to 1.97"),
    (#""bcc":0.03"#, #""bcc":-0.03"#, "probabilities.bcc"), (#""bcc":0.03,"#, "", "probabilities.bcc"),
    (#""bcc":0.03"#, #""bcc":0.03,"moon":0"#, "probabilities.moon"),
    (
      #""class":"nv","name":"Melanocytic nevi","probability""#,
      #""class":"nv","name":"Healthy","probability""#, "prediction"
    ),
    (
      #""class":"mel","name":"Melanoma","malignancy":"malignant""#,
      #""class":"mel","name":"Melanoma","malignancy":"benign""#, "benign"
    ),
    (#""class":"df""#, #""class":"nv""#, "twice"), (#""age":61.5"#, #""age":131"#, "130"),
    (#""site":"ear""#, #""site":"moon""#, "moon"),
    (#""missing":[]"#, #""missing":["age"]"#, "metadata"),
    (#""conformalSet":["nv","mel"]"#, #""conformalSet":["nv","nv"]"#, "conformalSet"),
    (#""conformalCoverage":0.9"#, #""conformalCoverage":9"#, "conformalCoverage"),
    (#""schemaVersion":2"#, #""schemaVersion":3"#, "schemaVersion"),
    ("is NOT a medical device", "is a medical device", "disclaimer"),
    (#""version":"1.2.3""#, #""version":"\#(String(repeating: "9", count: 201))""#, "version"),
    (#""image":"a lesion.jpg""#, #""image":"\#(String(repeating: "x", count: 1001))""#, "image"),
    (#""imageSHA256":"0"#, #""imageSHA256":"g"#, "SHA-256"), (#""summary":"#, #""summery":"#, "summary"),
    (#""result":{"#, #""result":[{"#, "JSON"),
  ]

  @Test(arguments: lies) func whatContradictsItselfIsRefused(from: String, to: String, says: String) throws {
    let good = Self.text(of: try Self.classification(["nv": 0.51, "mel": 0.46, "bcc": 0.03]))
    let range = try #require(good.range(of: from), "\(from) is not in \(good)")
    let error = #expect(throws: DermaFusionError.self) {
      _ = try Self.read(good.replacingCharacters(in: range, with: to))
    }
    #expect(error?.message.contains(says) == true, "\(error?.message ?? "none")")
    #expect((error?.message.count ?? 0) < 600, "one line that can be read")
  }

  @Test func theHighestLogitIsTheHighestProbability() throws {
    let text = Self.text(of: try Self.classification(["nv": 0.87, "bkl": 0.13]))
    let logits = try #require(text.range(of: #""logits":{"akiec":"#))
    let error = #expect(throws: DermaFusionError.self) {
      _ = try Self.read(text.replacingCharacters(in: logits, with: #""logits":{"akiec":9,"x":"#))
    }
    #expect(error?.message.contains("logits.x") == true)
    let value = try #require(text.range(of: #""logits":\{"akiec":[-0-9.]+"#, options: .regularExpression))
    let wrong = #expect(throws: DermaFusionError.self) {
      _ = try Self.read(text.replacingCharacters(in: value, with: #""logits":{"akiec":9"#))
    }
    #expect(wrong?.message.contains("highest logit") == true, "\(wrong?.message ?? "none")")
  }

  /// Sums that rounding explains are taken, others are not.
  @Test(arguments: [
    (0.8705, true), (0.8695, true), (0.8715, false), (0.8685, false), (0.9, false), (0.8, false),
  ])
  func probabilitiesAddUpToOne(probability: Float, isTaken: Bool) throws {
    let text = Self.text(of: try Self.classification(["nv": probability, "bkl": 0.13]))
    if isTaken {
      #expect(try Self.read(text).classification.prediction?.id == "nv")
    } else {
      let error = #expect(throws: DermaFusionError.self) { _ = try Self.read(text) }
      #expect(error?.message.contains("add up to") == true, "\(error?.message ?? "none")")
    }
  }

  /// A logit may be lower by what rounding explains than one whose probability is not higher.
  @Test(arguments: [(0.0005, true), (0.002, false), (0.3, false)])
  func theHighestLogitIsTheHighestProbabilitysToThreeDigits(lead: Float, isTaken: Bool) throws {
    let probabilities = ClassScores([0, 0, 0, 0, 0, 0.5, 0.5], labels: .ham10000)
    let result = Classification(
      logits: ClassScores([0, 0, 0, 0, 0, 2, 2 + lead], labels: .ham10000), probabilities: probabilities,
      metadata: .unknown, warnings: [], imageSHA256: nil,
      model: ModelIdentity(name: "m", version: "1", sha256: Self.sha256))
    let text = Self.text(of: result)
    if isTaken {
      #expect(try Self.read(text).classification.logits == result.logits)
    } else {
      let error = #expect(throws: DermaFusionError.self) { _ = try Self.read(text) }
      #expect(error?.message.contains("highest logit") == true, "\(error?.message ?? "none")")
    }
  }

  @Test func theClassesOfAModelThatTheReaderHasAreItsOwn() throws {
    let text = Self.text(of: try Self.classification(["nv": 0.87, "bkl": 0.13]))
    let renamed = text.replacingOccurrences(of: "Melanocytic nevi", with: "Nothing to worry about")
    _ = try Self.read(renamed)
    let error = #expect(throws: DermaFusionError.self) { _ = try Self.read(renamed, own: .ham10000) }
    #expect(error?.message.contains("classes are not those of the model") == true)
  }
}
