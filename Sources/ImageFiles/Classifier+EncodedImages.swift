import DermaFusion
import Files
import ImageCodecs
import ImagePipeline
import SystemModule

extension Classifier {
  /// Classifies an image from a file's bytes: PNG, JPEG, PNM, BMP, DICOM, and WebP, TIFF, HEIC and AVIF where the system has
  /// their libraries. An EXIF orientation is applied.
  ///
  /// The age, the sex and the site in a DICOM file are used where `metadata` has none; the result then
  /// has the warning ``ClassificationWarning/metadataFromFile``.
  ///
  /// - Parameters:
  ///   - bytes: the whole file; its SHA-256 goes into the result.
  ///   - metadata: ``PatientMetadata/unknown`` where nothing is known.
  ///   - views: how the network looks at the image; ``ImageViews/symmetries`` takes eight runs.
  ///   - frame: the frame to look at of a DICOM file of several, from 1. Without it such a file is an error.
  ///   - limits: what decoding may cost.
  /// - Throws: ``DermaFusionError/Code/invalidImage`` or ``DermaFusionError/Code/nonFiniteOutput``.
  public func classify(
    encodedImage bytes: [UInt8], metadata: PatientMetadata = .unknown, views: ImageViews = .upright,
    frame: Int? = nil, limits: DecodingLimits = .standard
  ) throws(DermaFusionError) -> Classification {
    try run(
      ImageRequest(metadata: metadata, views: views, frame: frame), onFile: bytes, limits: limits
    ).classification
  }

  /// Does what a request asks of an image file, whose SHA-256 goes into the result.
  ///
  /// - Throws: see ``run(_:decode:)``.
  package func run(
    _ request: ImageRequest, onFile bytes: [UInt8], limits: DecodingLimits = .standard
  ) throws(DermaFusionError) -> ImageAnswer {
    var request = request
    request.imageSHA256 = SHA256.hexDigest(bytes)
    // As far as the network and a picture need the pixels.
    if request.explains, request.pictureSide == nil { request.pictureSide = Explanation.pictureSide }
    let part = ImagePart(for: configuration.preprocessing, pictureSide: request.pictureSide)
    return try run(request) { () throws(DermaFusionError) in
      try ImageDecoder.decode(bytes, frame: request.frame, part: part, limits: limits)
    }
  }

  /// The features of an image file before the network's last layer.
  ///
  /// - Throws: see ``features(of:)``.
  package func features(
    ofFile bytes: [UInt8], frame: Int?, limits: DecodingLimits
  ) throws(DermaFusionError) -> [Float] {
    let part = ImagePart(for: configuration.preprocessing)
    return try features { () throws(DermaFusionError) in
      try ImageDecoder.decode(bytes, frame: frame, part: part, limits: limits)
    }
  }

  /// Classifies an image from a file's bytes and explains one or more of its logits; see
  /// ``explain(_:metadata:labels:method:layer:)``.
  public func explain(
    encodedImage bytes: [UInt8], metadata: PatientMetadata = .unknown, labels: [LesionLabel] = [],
    method: ActivationMapMethod = .gradcam, layer: String? = nil, frame: Int? = nil,
    limits: DecodingLimits = .standard
  ) throws(DermaFusionError) -> Explanation {
    var request = try explaining(labels, method: method, layer: layer, metadata: metadata)
    request.frame = frame
    return try run(request, onFile: bytes, limits: limits).explanation
  }

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
  ///   - paths: of image files of at most 512 MB; see ``classify(encodedImage:metadata:views:frame:limits:)``.
  ///   - metadata: what is known of the patient on a file's image; called on several threads at once.
  ///   - views: how the network looks at an image; ``ImageViews/symmetries`` takes eight runs.
  ///   - limits: what decoding may cost; the images share its memory.
  /// - Returns: a sequence with an element for each path. Its errors name the file; their codes are
  ///   ``DermaFusionError/Code/invalidImage``, for a file that cannot be read too, and
  ///   ``DermaFusionError/Code/nonFiniteOutput``.
  public func results(
    ofFiles paths: some Sequence<String>,
    metadata: @escaping @Sendable (_ path: String) -> PatientMetadata = { _ in .unknown },
    views: ImageViews = .upright, limits: DecodingLimits = .standard
  ) -> ClassificationResults<DermaFusionError> {
    results(of: Array(paths)) { (classifier, path) throws(DermaFusionError) in
      let bytes = try Self.bytes(ofFile: path)
      return try DermaFusionError.naming(path) { () throws(DermaFusionError) in
        try classifier.classify(encodedImage: bytes, metadata: metadata(path), views: views, limits: limits)
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

extension PixelImage {
  /// Decodes the bytes of an image file in any of the formats that ``Classifier/classify(encodedImage:metadata:views:frame:limits:)``
  /// takes.
  ///
  /// - Parameter frame: the frame of a DICOM file of several, from 1; without it such a file is an error.
  /// - Throws: ``DermaFusionError/Code/invalidImage``, naming the broken rule.
  public init(
    decoding bytes: [UInt8], frame: Int? = nil, limits: DecodingLimits = .standard
  ) throws(DermaFusionError) {
    self = try ImageDecoder.decode(bytes, frame: frame, part: .whole, limits: limits).pixels
  }
}
