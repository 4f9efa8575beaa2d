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
  ///   - paths: of PNG, JPEG or PNM files of at most 512 MB.
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
      do throws(DermaFusionError) {
        return try classifier.classify(encodedImage: bytes, metadata: metadata(path), views: views)
      } catch {
        throw DermaFusionError(error.code, message: "\(path): \(error.message)", remedy: error.remedy)
      }
    }
  }

  private static let fileByteLimit = 512 << 20

  private static func bytes(ofFile path: String) throws(DermaFusionError) -> [UInt8] {
    do throws(FileCopyError) {
      return try FileCopy(path: path, limit: fileByteLimit).withBytes { [UInt8]($0) }
    } catch {
      throw DermaFusionError(
        .invalidImage, message: "\(path): \(error.rule)",
        remedy: "Name a PNG, JPEG or PNM file that can be read.")
    }
  }
}

extension FileCopyError {
  /// The rule that a file of an image breaks.
  fileprivate var rule: String {
    switch self {
    case .refused(let reason): "cannot be read: \(reason)"
    case .isAFolder: "is a folder, not a file"
    case .notARegularFile: "is neither a file nor a folder"
    case .empty: "the file is empty"
    case .tooLarge: "the file is larger than the limit of 512 MB"
    case .outOfMemory(let byteCount): "there is no memory for its \(byteCount) bytes"
    case .changed: "the file changed while it was read"
    }
  }
}
