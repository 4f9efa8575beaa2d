import DermaFusion
import Files

extension BrowserSession {
  func load(configuration: [UInt8], weights: [UInt8]) throws(DermaFusionError) -> (JSONValue, Int32) {
    let folder = try ModelFolder(configuration: configuration, weights: weights)
    let classifier = Classifier(try Model(folder, threadCount: 1))
    models.append(LoadedModel(classifier: classifier, digest: folder.digest))
    return (.object(["model": .integer(models.count)]), Int32(models.count))
  }

  /// Takes the SHA-256 of a model's files from the page.
  func identify(_ handle: Int32, _ sha256: UnsafeRawBufferPointer) throws(DermaFusionError) -> (
    JSONValue, Int32
  ) {
    let model = try model(handle)
    let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    let letters = UInt8(ascii: "a")...UInt8(ascii: "f")
    guard sha256.count == 64, sha256.allSatisfy({ digits.contains($0) || letters.contains($0) }) else {
      throw DermaFusionError(
        .invalidRequest,
        message: "a model's SHA-256 has \(sha256.count) characters or others than 0-9 and a-f",
        remedy: "Send 64 characters.")
    }
    model.digest.settle(String(decoding: sha256, as: UTF8.self))
    return (.object(["sha256": .string(model.digest.sha256)]), 1)
  }

  func unload(_ handle: Int32) {
    if models.indices.contains(Int(handle) - 1) { models[Int(handle) - 1] = nil }
  }

  func classifier(_ handle: Int32) throws(DermaFusionError) -> Classifier { try model(handle).classifier }

  private func model(_ handle: Int32) throws(DermaFusionError) -> LoadedModel {
    guard models.indices.contains(Int(handle) - 1), let model = models[Int(handle) - 1] else {
      throw DermaFusionError(
        .invalidRequest, message: "there is no model \(handle)", remedy: "Load the model first.")
    }
    return model
  }

  /// What a page can know of a model before it classifies.
  func describe(_ handle: Int32) throws(DermaFusionError) -> (JSONValue, Int32) {
    (try classifier(handle).orderedJSON(), 1)
  }
}
