import TestModels
import Testing

@testable import DermaFusion
@testable import Evaluation

/// Manifests that break a rule, each in one place.
@Suite struct ParityManifestTests {
  static let file = "images/phantom_brown.jpg"

  private func expectUnreadable(
    _ reason: String, file: String? = Self.file, sourceLocation: SourceLocation = #_sourceLocation,
    changing change: @escaping @Sendable (inout [String: Any]) -> Void
  ) {
    let error = DermaFusionError.unreadableFixture("manifest.json", reason: reason)
    #expect(throws: error, sourceLocation: sourceLocation) {
      try Fixtures.load(file: file, changing: change).report(classifier: nil)
    }
  }

  /// Changes the list of samples of the only image.
  private func expectUnreadableSamples(
    _ reason: String, sourceLocation: SourceLocation = #_sourceLocation,
    changing change: @escaping @Sendable (inout [String: Any]) -> Void
  ) {
    expectUnreadable(reason, sourceLocation: sourceLocation) {
      $0.change("images") { image in
        var samples = image["normalized"] as! [String: Any]
        change(&samples)
        image["normalized"] = samples
      }
    }
  }

  /// Changes the preprocessing of the whole.
  private func expectUnreadablePreprocessing(
    _ reason: String, sourceLocation: SourceLocation = #_sourceLocation,
    changing change: @escaping @Sendable (inout [String: Any]) -> Void
  ) {
    expectUnreadable(reason, file: "none", sourceLocation: sourceLocation) { manifest in
      var preprocessing = manifest["preprocessing"] as! [String: Any]
      change(&preprocessing)
      manifest["preprocessing"] = preprocessing
    }
  }

  @Test func whatIsNoManifestSaysWhy() {
    #expect(
      throws: DermaFusionError.unreadableFixture(
        "manifest.json", reason: "the JSON has 'h' at byte 0 where a value is required")
    ) {
      try ParityFixtures { _ in Array("hello".utf8) }
    }
    expectUnreadable("the key \"images\" is missing") { $0["images"] = nil }
    expectUnreadable("\"formatVersion\" is 2, and must be 1, the version this software reads") {
      $0["formatVersion"] = 2
    }
    expectUnreadable("\"images[0].file\" must be a string, and is a number") {
      $0.change("images") { $0["file"] = 1 }
    }
  }

  @Test func samplesOutsideOfTheirShapeAreRefused() {
    let size = "433200, the size of shape [3, 380, 380]"
    expectUnreadableSamples("\"images[0].normalized.indices\" is 433200, and must be below \(size)") {
      $0["indices"] = [433200] + Array(1..<48)
    }
    expectUnreadableSamples("\"images[0].normalized.indices[1]\" is -1, and must be an integer from 0 up") {
      $0["indices"] = [0, -1]
    }
    expectUnreadableSamples("\"images[0].normalized.values\" must have 2 numbers, and has 48") {
      $0["indices"] = [0, 1]
    }
    expectUnreadableSamples(
      "\"images[0].normalized.shape\" is [4294967296, 4294967296], and must be that of an array which can be"
    ) {
      $0["shape"] = [4_294_967_296, 4_294_967_296]
    }
    expectUnreadableSamples("\"images[0].normalized.shape[0]\" is -1, and must be an integer from 0 up") {
      $0["shape"] = [-1]
    }
  }

  @Test func constantsThatNoModelMayHaveAreRefused() {
    expectUnreadablePreprocessing("\"preprocessing.size\" is 0, and must be an integer in 32...2048") {
      $0["size"] = 0
    }
    expectUnreadablePreprocessing("\"preprocessing.mean\" must have 3 numbers, and has 2") {
      $0["mean"] = [0.5, 0.5]
    }
    expectUnreadablePreprocessing("\"preprocessing.std[1]\" is 0, and must be in 1e-6...1e6") {
      $0["std"] = [1, 0, 1]
    }
  }

  /// Before the first checksum, where all of an image's rows but the last have one, and far behind.
  @Test(arguments: [-1, nil, Int.max])
  func rowsWithoutChecksumsAreRefused(offset: Int?) throws {
    let checksumCount = try (Fixtures.read("row_checksums.npy").count - 128) / 4
    let error = #expect(throws: DermaFusionError.self) {
      try Fixtures.load(
        file: Self.file,
        changing: {
          $0.change("images") {
            $0.change("stages") { stage in
              let rowCount = (stage["shape"] as! [Int])[0]
              stage["rowChecksumOffset"] = offset ?? checksumCount - rowCount + 1
              stage["sha256"] = "of another array"
            }
          }
        }
      ).report(classifier: nil)
    }
    let reason =
      offset == -1
      ? "manifest.json: \"images[0].stages[0].rowChecksumOffset\" is -1, and must be an integer from 0 up"
      : "row_checksums.npy: no row checksums for \(Self.file)"
    #expect(error?.description == reason)
  }
}
