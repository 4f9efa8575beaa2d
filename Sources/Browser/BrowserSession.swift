import DermaFusion
import Files
import ImagePipeline

/// A model as a page holds it.
struct LoadedModel {
  let classifier: Classifier
  /// Its identity, which the page may compute faster.
  let digest: ModelDigest
}

/// The models that a page has loaded and what it was told last.
final class BrowserSession {
  /// WebAssembly calls from one thread only.
  nonisolated(unsafe) static let only = BrowserSession()

  /// By handle less 1; nil where one was unloaded.
  var models: [LoadedModel?] = []
  /// The maps of the last explanation.
  private var maps: [ActivationMap] = []
  /// The side of what the network saw of the last image, as a share of the centre square's.
  private var cropShare: Float = 1
  /// The memory that the last call that hands out any points into.
  private var memory: UnsafeMutableRawPointer?

  /// The last result or error in UTF-8.
  private(set) var text = UnsafeMutableBufferPointer<UInt8>(start: nil, count: 0)

  /// Does what was asked for, of which the text tells, and returns `failed` where it cannot be done.
  func answer<Result>(
    orElse failed: Result, _ body: () throws(DermaFusionError) -> (JSONValue, Result)
  ) -> Result {
    do throws(DermaFusionError) {
      let (json, result) = try body()
      tell(json.text)
      return result
    } catch {
      tell(error.json(in: Language.allCases).text)
      return failed
    }
  }

  func tell(_ words: String) {
    text.deallocate()
    let bytes = Array(words.utf8)
    text = .allocate(capacity: bytes.count)
    _ = text.initialize(from: bytes)
  }

  func classify(
    _ handle: Int32, _ image: PixelImage, _ request: ImageRequest
  ) throws(DermaFusionError) -> (JSONValue, Int32) {
    (try classifier(handle).run(request, on: image).json, 1)
  }

  func explain(
    _ handle: Int32, _ image: PixelImage, _ request: ImageRequest
  ) throws(DermaFusionError) -> (JSONValue, Int32) {
    var request = request
    request.explains = true
    let answer = try classifier(handle).run(request, on: image)
    maps = answer.maps
    if case .timm(.center, let share) = try classifier(handle).configuration.preprocessing.framing {
      cropShare = Float(share)
    } else {
      cropShare = 1
    }
    return (answer.json, Int32(maps.count))
  }

  /// Judges a camera's frame.
  func judge(
    _ handle: Int32, _ frame: PixelImage, wasUnfamiliar: Bool?
  ) throws(DermaFusionError) -> (JSONValue, Int32) {
    (try classifier(handle).judge(frame: frame, wasUnfamiliar: wasUnfamiliar).json, 1)
  }

  /// The values of one of the last explanation's maps, valid until the next call; nil when there is no such map.
  func mapValues(_ index: Int32, isStretched: Bool) -> UnsafeMutableRawPointer? {
    guard maps.indices.contains(Int(index)) else { return nil }
    let map = maps[Int(index)]
    return keep(isStretched ? map.values : inSquare(map.placedValues, size: map.size))
  }

  /// A map of what the network saw, over the whole centre square: 0 where the network saw nothing.
  private func inSquare(_ values: [Float], size: Int) -> [Float] {
    if cropShare == 1 { return values }
    // For each line the one of the map that lies there; nil outside.
    let lines = (0..<size).map { line -> Int? in
      let place = ((Float(line) + 0.5) / Float(size) - 0.5) / cropShare + 0.5
      return place >= 0 && place < 1 ? Int(place * Float(size)) : nil
    }
    return lines.flatMap { row in
      lines.map { column in row.flatMap { row in column.map { values[row * size + $0] } } ?? 0 }
    }
  }

  func preprocess(
    _ handle: Int32, _ image: PixelImage, _ request: ImageRequest
  ) throws(DermaFusionError) -> (JSONValue, UnsafeMutableRawPointer?) {
    guard let stage = request.stage else {
      throw DermaFusionError(
        .invalidRequest, message: "the request names no stage", remedy: "Send the key \"stage\".")
    }
    let (shape, values): ([Int], UnsafeMutableRawPointer)
    let preprocessed = try classifier(handle).preprocessor(DecodedImage(image))
    if stage == .cropped { try preprocessed.requireCroppedSize(limit: PixelLimit.count) }
    switch StageValues(preprocessed, stage: stage) {
    case .bytes(let bytes, shape: let dimensions): (shape, values) = (dimensions, keep(bytes))
    case .floats(let floats, shape: let dimensions): (shape, values) = (dimensions, keep(floats))
    }
    let json = JSONValue.object([
      "stage": .string(stage.rawValue), "shape": .array(shape.map { .integer($0) }),
    ])
    return (json, values)
  }

  /// Checks a result of a history's file, and tells the members that follow from the others.
  func checkResult(_ handle: Int32, _ text: [UInt8]) throws(DermaFusionError) -> (JSONValue, Int32) {
    let own = try model(handle)
    return (
      try ImportedResult(json: text) { $0 == own.digest.sha256 ? own.classifier.labels : nil }.json, 1
    )
  }

  /// Copies values to memory that stays until something else is kept.
  private func keep<Value: BitwiseCopyable>(_ values: [Value]) -> UnsafeMutableRawPointer {
    memory?.deallocate()
    let byteCount = max(values.count * MemoryLayout<Value>.stride, 1)
    let copy = UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: 16)
    values.withUnsafeBytes {
      if let start = $0.baseAddress { copy.copyMemory(from: start, byteCount: $0.count) }
    }
    memory = copy
    return copy
  }
}

extension BrowserSession {
  func load(configuration: [UInt8], weights: [UInt8]) throws(DermaFusionError) -> (JSONValue, Int32) {
    let folder = try Model.folder(configuration: configuration, weights: weights)
    let classifier = Classifier(try Model(folder, threadCount: 1))
    models.append(LoadedModel(classifier: classifier, digest: folder.digest))
    return (.object(["model": .integer(models.count)]), Int32(models.count))
  }

  /// Takes the SHA-256 of a model's files from the page.
  func identify(_ handle: Int32, _ sha256: UnsafeRawBufferPointer) throws(DermaFusionError) -> (
    JSONValue, Int32
  ) {
    let model = try model(handle)
    guard SHA256.isHexDigest(sha256) else {
      throw DermaFusionError(
        .invalidRequest,
        message: "a model's SHA-256 has \(sha256.count) characters or others than 0-9 and a-f",
        remedy: "Send 64 characters.")
    }
    model.digest.settle(String(decoding: sha256, as: UTF8.self))
    return (.object(["sha256": .string(model.digest.sha256)]), 1)
  }

  // A handle is any number: less 1, the least one would be beyond the least Int of WebAssembly.
  func unload(_ handle: Int32) {
    if models.indices.contains(Int(handle) &- 1) { models[Int(handle) &- 1] = nil }
  }

  func classifier(_ handle: Int32) throws(DermaFusionError) -> Classifier { try model(handle).classifier }

  private func model(_ handle: Int32) throws(DermaFusionError) -> LoadedModel {
    guard models.indices.contains(Int(handle) &- 1), let model = models[Int(handle) &- 1] else {
      throw DermaFusionError(
        .invalidRequest, message: "there is no model \(handle)", remedy: "Load the model first.")
    }
    return model
  }

  /// The facts on a model that a page can have before it classifies.
  func describe(_ handle: Int32) throws(DermaFusionError) -> (JSONValue, Int32) {
    (try classifier(handle).description(for: .program), 1)
  }
}
