import DermaFusion
import ExplanationModule
import ImagePipeline
import JSONModule
import ModelFiles
import NetworkModule

/// A model as a page holds it.
struct LoadedModel {
  let classifier: Classifier
  /// What tells it from all others, which the page may compute faster.
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
  /// What the last call that hands out memory points into.
  private var memory: UnsafeMutableRawPointer?

  /// The last result or error in UTF-8.
  private(set) var text = UnsafeMutableBufferPointer<UInt8>(start: nil, count: 0)

  /// Does what was asked for, of which the text tells, and returns `failed` where it cannot be done.
  func answer<Result>(
    orElse failed: Result, _ body: () throws(Failure) -> (JSONValue, Result)
  ) -> Result {
    do throws(Failure) {
      let (json, result) = try body()
      tell(json.text)
      return result
    } catch {
      tell(error.json.text)
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
    _ handle: Int32, _ image: PixelImage, _ request: Request
  ) throws(Failure) -> (JSONValue, Int32) {
    let classifier = try classifier(handle)
    do throws(DermaFusionError) {
      let (result, output) = try classifier.classify(
        classifier.preprocessed(image), metadata: request.metadata, views: request.views,
        imageSHA256: request.imageSHA256)
      var extra: [(key: String, value: JSONValue)] = []
      if request.includesMetadataShares {
        let shares = try classifier.metadataShares(of: output, metadata: request.metadata)
        extra.append(("metadataShares", shares.orderedJSON))
      }
      return (result.orderedJSON(imageName: request.image, extra: extra), 1)
    } catch {
      throw Failure(error)
    }
  }

  func explain(
    _ handle: Int32, _ image: PixelImage, _ request: Request
  ) throws(Failure) -> (JSONValue, Int32) {
    let classifier = try classifier(handle)
    let chosen = try labels(request.classes, of: classifier)
    do throws(DermaFusionError) {
      let input = try classifier.preprocessed(image)
      let explanation = try classifier.explain(
        input, metadata: request.metadata, method: request.method, layer: request.layer,
        imageSHA256: request.imageSHA256, selecting: classifier.selection(chosen))
      var extra: [(key: String, value: JSONValue)] = []
      if request.includesMetadataShares {
        let shares = try classifier.metadataShares(of: input, metadata: request.metadata)
        extra.append(("metadataShares", shares.orderedJSON))
      }
      maps = explanation.maps
      let trusts =
        request.includesTrust
        ? try classifier.trust(in: maps, of: input, metadata: request.metadata).map { Optional($0) }
        : [MapTrust?](repeating: nil, count: maps.count)
      let json = JSONValue.object([
        "classification": explanation.classification.orderedJSON(imageName: request.image, extra: extra),
        "maps": .array(
          zip(maps, trusts).map { map, trust in
            self.json(map, of: explanation, withSignedMap: request.includesSignedMap, trust: trust)
          }),
      ])
      return (json, Int32(maps.count))
    } catch {
      throw Failure(error)
    }
  }

  private func labels(
    _ classes: Request.Classes, of classifier: Classifier
  ) throws(Failure) -> [LesionLabel] {
    switch classes {
    case .top: return []
    case .all: return Array(classifier.labels)
    case .named(let names):
      var labels: [LesionLabel] = []
      for name in names {
        guard let label = classifier.labels[name] else {
          throw Failure(
            request: "the model has no class \(quoted(name))",
            remedy: "Take one of \(classifier.labels.ids.joined(separator: ", ")).")
        }
        labels.append(label)
      }
      return labels
    }
  }

  private func json(
    _ map: ActivationMap, of explanation: Explanation, withSignedMap: Bool, trust: MapTrust?
  ) -> JSONValue {
    let label = explanation.label(of: map)
    let centre: JSONValue =
      if let centre = map.massCentre {
        .object(["x": .float(Float(centre.x)), "y": .float(Float(centre.y))])
      } else {
        .null
      }
    var members: [(key: String, value: JSONValue)] = [
      ("class", .string(label.id)), ("name", .string(label.name)),
      ("probability", .float(explanation.classification.probabilities[label])),
      ("logit", .float(explanation.classification.logits[label])),
      ("method", .string(map.method.rawValue)), ("layer", .string(map.layer)),
      ("status", .string(map.status.rawValue)),
      ("width", .integer(map.size)), ("height", .integer(map.size)),
      ("minimum", .float(map.minimum)), ("maximum", .float(map.maximum)), ("massCentre", centre),
    ]
    if withSignedMap {
      members.append(("mapShape", .array([.integer(map.height), .integer(map.width)])))
      members.append(("signedMap", .array(map.signedValues.map { .float($0) })))
    }
    if let trust {
      members.append(
        (
          "trust",
          .object([
            "passes": .bool(trust.passes),
            "deletionAUC": .number(trust.deletionAUC), "randomDeletionAUC": .number(trust.randomDeletionAUC),
            "insertionAUC": .number(trust.insertionAUC),
            "randomInsertionAUC": .number(trust.randomInsertionAUC),
            "shuffledHeadCorrelation": trust.shuffledHeadCorrelation.map { .number($0) } ?? .null,
          ])
        ))
    }
    return .object(members)
  }

  /// The values of one of the last explanation's maps, valid until the next call; nil when there is no such map.
  func mapValues(_ index: Int32) -> UnsafeMutableRawPointer? {
    guard maps.indices.contains(Int(index)) else { return nil }
    let map = maps[Int(index)]
    guard map.status == .ok else { return keep(map.values) }
    let support = map.placedSupport(side: map.size)
    let greatest = support.max() ?? 0
    return keep(greatest > 0 ? support.map { $0 / greatest } : support)
  }

  func preprocess(
    _ handle: Int32, _ image: PixelImage, _ request: Request
  ) throws(Failure) -> (JSONValue, UnsafeMutableRawPointer?) {
    guard let stage = request.stage else {
      throw Failure(request: "the request names no stage", remedy: "Send the key \"stage\".")
    }
    let model = try classifier(handle)
    let input: PreprocessedImage
    do throws(DermaFusionError) {
      input = try model.preprocessed(image)
    } catch {
      throw Failure(error)
    }
    switch stage {
    case .cropped: return stagePixels(stage, input.cropped)
    case .resized: return stagePixels(stage, input.resized)
    case .constancy: return stagePixels(stage, input.constancy)
    case .normalized:
      let (width, height) = (input.resized.width, input.resized.height)
      return (Self.json(stage, [3, height, width]), keep(input.normalizedCHW()))
    }
  }

  private func stagePixels(
    _ stage: Request.Stage, _ image: PixelImage
  ) -> (JSONValue, UnsafeMutableRawPointer?) {
    (Self.json(stage, [image.height, image.width, 3]), keep(image.pixels))
  }

  private static func json(_ stage: Request.Stage, _ shape: [Int]) -> JSONValue {
    .object(["stage": .string(stage.rawValue), "shape": .array(shape.map { .integer($0) })])
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
