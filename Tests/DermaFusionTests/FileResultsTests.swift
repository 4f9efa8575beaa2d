import DermaFusion
import ImageCodecs
import ImageFiles
import TestFiles
import TestModels
import Testing

/// Many files by one call of the library.
@Suite struct FileResultsTests {
  private static func file(red: UInt8) -> [UInt8] {
    Array("P6 32 33 255\n".utf8) + (0..<32 * 33).flatMap { [red, UInt8(truncatingIfNeeded: $0), 7] }
  }

  @Test func eachFileHasItsResultInOrderAndAFailureNamesItsFile() async throws {
    let folder = TemporaryFolder()
    let files = try LightDetector.files(classes: ["dark", "light"], rising: 1, falling: 0)
    let classifier = try Classifier(
      configuration: files.configuration, weights: files.weights, threadCount: 3)
    var paths = (0..<11).map { folder.write(Self.file(red: UInt8($0 * 20)), to: "\($0).ppm") }
    let damaged = folder.write(Array("P6 32 33 255\nx".utf8), to: "damaged.ppm")
    paths.insert(damaged, at: 4)
    paths.append(folder.path + "/missing.ppm")
    var results: [Result<Classification, DermaFusionError>] = []
    for await result in classifier.results(ofFiles: paths) { results.append(result) }
    try #require(results.count == paths.count)
    for (path, result) in zip(paths, results) {
      switch result {
      case .success(let classification):
        let alone = try classifier.classify(
          encodedImage: #require(folder.contents(of: String(path.split(separator: "/").last!))))
        #expect(classification == alone, "\(path)")
      case .failure(let error):
        #expect([damaged, paths.last].contains(path), "\(error)")
        #expect(error.code == .invalidImage && error.message.hasPrefix("\(path): "), "\(error)")
      }
    }
  }

  @Test func metadataBelongToTheFile() async throws {
    let folder = TemporaryFolder()
    let files = try LightDetector.files(classes: ["dark", "light"], rising: 1, falling: 0)
    let classifier = try Classifier(
      configuration: files.configuration, weights: files.weights, threadCount: 2)
    let paths = [3, 1, 2].map { folder.write(Self.file(red: 200), to: "\($0).ppm") }
    let ages = [3.0, 1, 2]
    let metadata = try Dictionary(
      uniqueKeysWithValues: zip(paths, ages.map { try PatientMetadata(ageInYears: $0) }))
    var found: [Double?] = []
    for await result in classifier.results(ofFiles: paths, metadata: { metadata[$0]! }) {
      found.append(try result.get().metadata.ageInYears)
    }
    #expect(found == ages)
  }

  /// Every call of the library that decodes a file obeys the limits that its caller gives.
  @Test func aCallersLimitsHold() async throws {
    let folder = TemporaryFolder()
    let files = try LightDetector.files(classes: ["dark", "light"], rising: 1, falling: 0)
    let classifier = try Classifier(
      configuration: files.configuration, weights: files.weights, threadCount: 2)
    let bytes = Self.file(red: 90)
    let path = folder.write(bytes, to: "photograph.ppm")
    let (enough, tooFew) = (DecodingLimits(pixels: 32 * 33), DecodingLimits(pixels: 32 * 33 - 1))
    let free = try classifier.classify(encodedImage: bytes)
    #expect(try classifier.classify(encodedImage: bytes, limits: enough) == free)
    func expectRefusal(_ name: String, _ call: () throws -> Void) {
      do {
        try call()
        Issue.record("\(name) takes more pixels than its limit")
      } catch let error as DermaFusionError {
        #expect(
          error.code == .invalidImage && error.message.contains("more than 1055 pixels"), "\(name): \(error)")
      } catch {
        Issue.record("\(name): \(error)")
      }
    }
    expectRefusal("classify") { _ = try classifier.classify(encodedImage: bytes, limits: tooFew) }
    expectRefusal("explain") { _ = try classifier.explain(encodedImage: bytes, limits: tooFew) }
    expectRefusal("PixelImage") { _ = try PixelImage(decoding: bytes, limits: tooFew) }
    for await result in classifier.results(ofFiles: [path], limits: tooFew) {
      expectRefusal("results") { _ = try result.get() }
    }
  }
}
