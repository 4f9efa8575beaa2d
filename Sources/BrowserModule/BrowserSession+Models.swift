import DermaFusion
import ExplanationModule
import JSONModule
import ModelFiles

extension BrowserSession {
  func load(configuration: [UInt8], weights: [UInt8]) throws(Failure) -> (JSONValue, Int32) {
    let folder: ModelFolder
    do throws(ModelFileError) {
      folder = try ModelFolder(configuration: configuration, weights: weights)
    } catch {
      throw Failure(DermaFusionError(error))
    }
    do throws(DermaFusionError) {
      let classifier = Classifier(try Model(folder, threadCount: 1))
      models.append(LoadedModel(classifier: classifier, digest: folder.digest))
    } catch {
      throw Failure(error)
    }
    return (.object(["model": .integer(models.count)]), Int32(models.count))
  }

  /// Takes the SHA-256 of a model's files from the page.
  func identify(_ handle: Int32, _ sha256: UnsafeRawBufferPointer) throws(Failure) -> (JSONValue, Int32) {
    let model = try model(handle)
    let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    let letters = UInt8(ascii: "a")...UInt8(ascii: "f")
    guard sha256.count == 64, sha256.allSatisfy({ digits.contains($0) || letters.contains($0) }) else {
      throw Failure(
        request: "a model's SHA-256 has \(sha256.count) characters or others than 0-9 and a-f",
        remedy: "Send 64 characters.")
    }
    model.digest.settle(String(decoding: sha256, as: UTF8.self))
    return (.object(["sha256": .string(model.digest.sha256)]), 1)
  }

  func unload(_ handle: Int32) {
    if models.indices.contains(Int(handle) - 1) { models[Int(handle) - 1] = nil }
  }

  func classifier(_ handle: Int32) throws(Failure) -> Classifier { try model(handle).classifier }

  private func model(_ handle: Int32) throws(Failure) -> LoadedModel {
    guard models.indices.contains(Int(handle) - 1), let model = models[Int(handle) - 1] else {
      throw Failure(request: "there is no model \(handle)", remedy: "Load the model first.")
    }
    return model
  }

  /// What a page can know of a model before it classifies.
  func describe(_ handle: Int32) throws(Failure) -> (JSONValue, Int32) {
    let classifier = try classifier(handle)
    let configuration = classifier.configuration
    return (
      .object([
        "version": .string(DermaFusionVersion.current), "model": classifier.model.orderedJSON,
        "architecture": .string(configuration.architecture),
        "temperature": .number(configuration.temperature),
        "inputSize": .integer(configuration.preprocessing.size),
        "classes": .array(classifier.labels.map { $0.orderedJSON }),
        "metadataUsed": .bool(configuration.fusion != nil),
        "sites": .strings(BodySite.pickerSites.map { $0.rawValue }),
        "methods": .strings(ActivationMapMethod.allCases.map { $0.rawValue }),
        "layers": .strings(classifier.layers), "instructionSet": .string(classifier.instructionSet),
        "disclaimer": .string(Wording.disclaimer),
      ]), 1
    )
  }
}
