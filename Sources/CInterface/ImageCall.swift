import CDermaFusion
import DermaFusion
import ImageFiles
import ImagePipeline

/// One image on its way through a classifier.
struct ImageCall {
  private let classifier: Classifier
  private let request: ImageRequest
  private let usesCallingThreadOnly: Bool

  /// - Parameter request: nil: nothing known, nothing special.
  init(
    _ classifier: dermafusion_classifier, _ request: UnsafePointer<dermafusion_request>?
  ) throws(DermaFusionError) {
    self.classifier = try Handles.classifier(classifier).classifier
    if let request {
      try requireSize(request.pointee.size, atLeast: MemoryLayout<dermafusion_request>.size, "request")
      self.request = try ImageRequest(request.pointee)
      usesCallingThreadOnly = request.pointee.calling_thread_only == 1
    } else {
      self.request = ImageRequest()
      usesCallingThreadOnly = false
    }
  }

  func classify(file: [UInt8]) throws(DermaFusionError) -> StoredResult {
    try compute { () throws(DermaFusionError) in
      try stored(classifier.classify(encodedImage: file, metadata: request.metadata, views: request.views))
    }
  }

  func classify(_ image: PixelImage) throws(DermaFusionError) -> StoredResult {
    try compute { () throws(DermaFusionError) in
      try stored(classifier.classify(image, metadata: request.metadata, views: request.views))
    }
  }

  func explain(file: [UInt8]) throws(DermaFusionError) -> StoredResult {
    try compute { () throws(DermaFusionError) in
      try stored(
        classifier.explain(
          encodedImage: file, metadata: request.metadata, method: request.method, layer: request.layer,
          selecting: classifier.selection(request.labels(of: classifier))
        ).0)
    }
  }

  func explain(_ image: PixelImage) throws(DermaFusionError) -> StoredResult {
    try compute { () throws(DermaFusionError) in
      try stored(
        classifier.explain(
          classifier.preprocessed(image), metadata: request.metadata, method: request.method,
          layer: request.layer,
          imageSHA256: nil, selecting: classifier.selection(request.labels(of: classifier))))
    }
  }

  private func compute(_ work: () throws(DermaFusionError) -> StoredResult) throws(DermaFusionError)
    -> StoredResult
  {
    usesCallingThreadOnly ? try classifier.withoutSharing(work) : try work()
  }

  private func stored(_ classification: Classification) -> StoredResult {
    StoredResult(classification, json: classification.json(imageName: request.imageName))
  }

  private func stored(_ explanation: Explanation) -> StoredResult {
    StoredResult(
      explanation.classification, json: explanation.classification.json(imageName: request.imageName),
      explanation: explanation, imageName: request.imageName)
  }
}
