import Foundation
import SystemModule
import TestModels
import Testing

@testable import DermaFusion

@Suite struct CodableTests {
  private func roundTrip<Value: Codable>(_ value: Value) throws -> Value {
    try JSONDecoder().decode(Value.self, from: JSONEncoder().encode(value))
  }

  @Test func aResultReadsBackAsItWas() throws {
    let metadata = try PatientMetadata(ageInYears: 0.5, sex: .female, site: .upperExtremity)
    let set = Abstention.ConformalSet(classes: [.nv, .mel], coverage: 0.9)
    for reasons in [[], [.blurred, .unlikeSkin]] as [[AbstentionReason]] {
      let result = Classification(
        logits: ClassScores([0.1, -2, 1e-7, 3.5, 0, 4, -1]), temperature: 1.3, metadata: metadata,
        warnings: [.smallImage], imageSHA256: reasons.isEmpty ? nil : "ab",
        model: ModelIdentity(name: "m", version: "2", sha256: "cd"),
        abstention: Abstention(reasons: reasons, conformalSet: set))
      let read = try roundTrip(result)
      #expect(read == result)
      #expect(read.outcome == result.outcome && read.abstains == !reasons.isEmpty)
      #expect(read.json(imageName: "x") == result.json(imageName: "x"))
    }
  }

  @Test(arguments: [
    #"[]"#, #"[{"index":0,"id":"a","name":"A"}]"#,
    #"[{"index":0,"id":"a","name":"A"},{"index":0,"id":"b","name":"B"}]"#,
    #"[{"index":0,"id":"a","name":"A"},{"index":1,"id":"a","name":"B"}]"#,
    #"[{"index":0,"id":"a","name":"A","malignancy":"benign"},{"index":1,"id":"b","name":"B"}]"#,
  ])
  func whatIsNoModelsLabelsIsRefused(text: String) {
    #expect(throws: DecodingError.self) { try JSONDecoder().decode(Labels.self, from: Data(text.utf8)) }
  }

  @Test func anAgeThatIsNoneIsRefused() {
    let text = #"{"ageInYears":131,"sex":"male","site":"back"}"#
    #expect(throws: DermaFusionError.self) {
      try JSONDecoder().decode(PatientMetadata.self, from: Data(text.utf8))
    }
  }

  @Test func descriptionsAreShort() throws {
    #expect("\(LesionLabel.mel)" == "Melanoma (mel)")
    #expect("\(Labels.ham10000)" == "akiec, bcc, bkl, df, mel, nv, vasc")
    #expect("\(ClassScores([0, 0.25, 0, 0, 0.5, 0.125, 0]))" == "mel 0.50, bcc 0.25, nv 0.13")
    #expect("\(try PatientMetadata(ageInYears: 55, sex: .male))" == "age 55, male, site missing")
    #expect("\(ModelIdentity(name: "m", version: "2", sha256: "cd"))" == "m 2")
  }
}

@Suite struct AsyncTests {
  private static func image(_ seed: Int) -> PixelImage {
    PixelImage(
      width: 40, height: 40, pixels: (0..<4800).map { UInt8(truncatingIfNeeded: $0 * 37 + seed * 5) })
  }

  /// Its logits follow from the image's first red.
  private static func classifier(threadCount: Int = 3) throws -> Classifier {
    Classifier(
      try StandIn.model(StandIn.configuration(), threadCount: threadCount) { image in
        (0..<7).map { Float(image.pixels[0]) / Float(50 + $0) }
      })
  }

  private func classifiedAlone(_ image: PixelImage, by classifier: Classifier) throws -> Classification {
    try classifier.classify(image)
  }

  @Test func aTaskGetsWhatAThreadGets() async throws {
    let classifier = try Self.classifier()
    let expected = try classifiedAlone(Self.image(4), by: classifier)
    #expect(try await classifier.classify(Self.image(4)) == expected)
    let small = PixelImage(width: 31, height: 31, pixels: [UInt8](repeating: 0, count: 31 * 31 * 3))
    do {
      _ = try await classifier.classify(small)
      Issue.record("an image of 31x31 pixels was classified")
    } catch {
      #expect(error.code == .invalidImage)
    }
  }

  @Test func ofManyTasksAsManyComputeAsThereAreProcessors() async throws {
    let (running, most) = (Locked(0), Locked(0))
    let model = try StandIn.model(StandIn.configuration(), threadCount: 1) { image in
      let count = running.withLock { running in
        running += 1
        return running
      }
      most.withLock { $0 = max($0, count) }
      // Long enough for all tasks to begin, if they may.
      Thread.sleep(forTimeInterval: 0.02)
      running.withLock { $0 -= 1 }
      return (0..<7).map { Float(image.pixels[0]) + Float($0) }
    }
    let (classifier, processors) = (Classifier(model), ProcessorCount.available())
    try await withThrowingTaskGroup(of: (Int, Classification).self) { group in
      for seed in 0..<8 * processors {
        group.addTask { (seed, try await classifier.classify(Self.image(seed))) }
      }
      for try await (seed, result) in group {
        #expect(result.logits.values[0] == Float(Self.image(seed).pixels[0]))
      }
    }
    #expect((1...processors).contains(most.withLock { $0 }))
  }

  @Test(arguments: [1, 4]) func resultsComeInTheOrderOfTheInputs(threadCount: Int) async throws {
    let classifier = try Self.classifier(threadCount: threadCount)
    let expected = try (0..<23).map { try classifiedAlone(Self.image($0), by: classifier).logits }
    var found: [ClassScores] = []
    for await result in classifier.results(
      of: Array(0..<23),
      { classifier, seed throws(DermaFusionError) in
        try classifier.classify(Self.image(seed))
      })
    { found.append(try result.get().logits) }
    #expect(found == expected)
  }

  @Test func aSequenceThatIsNoLongerReadBeginsNoMoreInputs() async throws {
    let classifier = try Self.classifier(threadCount: 2)
    let begun = Locked(0)
    let count = 100_000
    do {
      let results = classifier.results(of: Array(0..<count)) { classifier, seed throws(DermaFusionError) in
        begun.withLock { $0 += 1 }
        return try classifier.classify(Self.image(seed))
      }
      for await _ in results { break }
    }
    #expect(begun.withLock { $0 } < count)
  }
}
