import DermaFusion
import SystemModule

extension Classifier {
  /// Classifies image files side by side and gives their results in the order of the paths, each as soon as it and those
  /// before it are done. A file that fails does not end the sequence.
  ///
  /// ```swift
  /// for await result in classifier.results(ofFiles: paths) {
  ///   switch result {
  ///   case .success(let classification): print(classification.summary)
  ///   case .failure(let error): print(error.message)
  ///   }
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - paths: of image files of at most 512 MB; see ``classify(encodedImage:metadata:views:)``.
  ///   - metadata: what is known of the patient on a file's image; called on several threads at once.
  ///   - views: how the network looks at an image; ``ImageViews/symmetries`` takes eight runs.
  /// - Returns: a sequence with an element for each path. Its errors name the file; their codes are
  ///   ``DermaFusionError/Code/invalidImage``, for a file that cannot be read too, and
  ///   ``DermaFusionError/Code/nonFiniteOutput``.
  public func results(
    ofFiles paths: some Sequence<String>,
    metadata: @escaping @Sendable (_ path: String) -> PatientMetadata = { _ in .unknown },
    views: ImageViews = .upright
  ) -> ClassificationResults<DermaFusionError> {
    results(of: Array(paths)) { (classifier, path) throws(DermaFusionError) in
      let bytes = try Self.bytes(ofFile: path)
      return try DermaFusionError.naming(path) { () throws(DermaFusionError) in
        try classifier.classify(encodedImage: bytes, metadata: metadata(path), views: views)
      }
    }
  }

  private static func bytes(ofFile path: String) throws(DermaFusionError) -> [UInt8] {
    do throws(DermaFusionError) {
      return try FileBytes.read(
        path: path, limit: ImageDecoder.fileByteLimit, refusal: ImageDecoder.refusal(ofStart:))
    } catch {
      throw error.withCode(.invalidImage, remedy: "Name an image file that can be read.")
    }
  }
}
