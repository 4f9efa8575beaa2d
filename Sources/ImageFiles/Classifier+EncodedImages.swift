import DermaFusion
import ExplanationModule
import HashModule
import ImagePipeline
import NetworkModule

extension Classifier {
  /// Classifies an image from a file's bytes: PNG, JPEG (EXIF orientation applied) or PNM.
  ///
  /// - Parameters:
  ///   - bytes: the whole file; its SHA-256 goes into the result.
  ///   - metadata: ``PatientMetadata/unknown`` where nothing is known.
  ///   - views: how the network looks at the image; ``ImageViews/symmetries`` takes eight runs.
  /// - Throws: ``ImageError``, or ``ClassifierError/nonFiniteLogits(_:)``.
  public func classify(
    encodedImage bytes: [UInt8], metadata: PatientMetadata = .unknown, views: ImageViews = .upright
  ) throws -> Classification {
    try observedClassify(encodedImage: bytes, metadata: metadata, views: views).0
  }

  /// ``classify(encodedImage:metadata:views:)`` with what the network gave and the time that each step took.
  package func observedClassify(
    encodedImage bytes: [UInt8], metadata: PatientMetadata, views: ImageViews = .upright
  ) throws -> (Classification, NetworkOutput, ClassificationTiming) {
    var timing = ClassificationTiming()
    let image = try timing.measure(\.decodeMilliseconds) { try ImageDecoder.decode(bytes) }
    let (result, output) = try classify(
      image, metadata: metadata, views: views, imageSHA256: SHA256.hexDigest(bytes), timing: &timing)
    return (result, output, timing)
  }

  /// Classifies an image from a file's bytes and explains one or more of its logits; see
  /// ``explain(_:metadata:classes:method:layer:)``.
  public func explain(
    encodedImage bytes: [UInt8], metadata: PatientMetadata = .unknown, classes: [LesionClass] = [],
    method: ActivationMapMethod = .gradcam, layer: String? = nil
  ) throws -> Explanation {
    try explain(
      ImageDecoder.decode(bytes), metadata: metadata, classes: classes, method: method, layer: layer,
      imageSHA256: SHA256.hexDigest(bytes))
  }
}
