import CDermaFusion
import DermaFusion
import ExplanationModule
import ImageFiles
import ImagePipeline

/// One image on its way through a classifier.
struct ImageCall {
  private let classifier: Classifier
  private let request: Request

  init(
    _ classifier: dermafusion_classifier, _ request: UnsafePointer<dermafusion_request>?
  ) throws(Failure) {
    self.classifier = try Handles.classifier(classifier).classifier
    self.request = try Request(request)
  }

  func classify(file: [UInt8]) throws(Failure) -> StoredResult {
    stored(
      try compute { () throws(DermaFusionError) in
        try classifier.classify(encodedImage: file, metadata: request.metadata, views: request.views)
      })
  }

  func classify(_ image: PixelImage) throws(Failure) -> StoredResult {
    stored(
      try compute { () throws(DermaFusionError) in
        try classifier.classify(image, metadata: request.metadata, views: request.views)
      })
  }

  func explain(file: [UInt8]) throws(Failure) -> StoredResult {
    let select = try selection()
    return stored(
      try compute { () throws(DermaFusionError) in
        try classifier.explain(
          encodedImage: file, metadata: request.metadata, method: request.method, layer: request.layer,
          selecting: select
        ).0
      })
  }

  func explain(_ image: PixelImage) throws(Failure) -> StoredResult {
    let select = try selection()
    return stored(
      try compute { () throws(DermaFusionError) in
        try classifier.explain(
          classifier.preprocessed(image), metadata: request.metadata, method: request.method,
          layer: request.layer,
          imageSHA256: nil, selecting: select)
      })
  }

  private func compute<Value>(_ work: () throws(DermaFusionError) -> Value) throws(Failure) -> Value {
    try converting { () throws(DermaFusionError) in
      request.usesCallingThreadOnly ? try classifier.withoutSharing(work) : try work()
    }
  }

  private func stored(_ classification: Classification) -> StoredResult {
    StoredResult(classification, json: classification.json(imageName: request.name))
  }

  private func stored(_ explanation: Explanation) -> StoredResult {
    StoredResult(
      explanation.classification, json: explanation.classification.json(imageName: request.name),
      maps: explanation.maps)
  }

  /// Which classes are explained.
  private func selection() throws(Failure) -> (ClassScores) -> [LesionLabel] {
    guard request.views == .upright else {
      throw .argument("maps of several views are not made", remedy: "Set the request's symmetries to 0.")
    }
    var chosen: [LesionLabel] = []
    if request.mapClass == "all" {
      chosen = Array(classifier.labels)
    } else if let name = request.mapClass {
      guard let label = classifier.labels[name] else {
        throw Failure(
          DERMAFUSION_UNKNOWN_CLASS, message: "the model has no class '\(name)'",
          remedy: "Take one of \(classifier.labels).")
      }
      chosen = [label]
    }
    return try converting { () throws(DermaFusionError) in try classifier.selection(chosen) }
  }
}
