import DermaFusion
import Files
import ImagePipeline
import NetworkModule

extension Classifier {
  /// Classifies an image from a file's bytes: PNG, JPEG, PNM, BMP, DICOM, and WebP, TIFF, HEIC and AVIF where the system has
  /// their libraries. An EXIF orientation is applied.
  ///
  /// What a DICOM file says of the patient's age, sex and site is used where `metadata` does not say it; the result then
  /// has the warning ``ClassificationWarning/metadataFromFile``.
  ///
  /// - Parameters:
  ///   - bytes: the whole file; its SHA-256 goes into the result.
  ///   - metadata: ``PatientMetadata/unknown`` where nothing is known.
  ///   - views: how the network looks at the image; ``ImageViews/symmetries`` takes eight runs.
  /// - Throws: ``DermaFusionError/Code/invalidImage`` or ``DermaFusionError/Code/nonFiniteOutput``.
  public func classify(
    encodedImage bytes: [UInt8], metadata: PatientMetadata = .unknown, views: ImageViews = .upright
  ) throws(DermaFusionError) -> Classification {
    try observedClassify(encodedImage: bytes, metadata: metadata, views: views).0
  }

  /// ``classify(encodedImage:metadata:views:)`` with what the network gave and the time that each step took.
  package func observedClassify(
    encodedImage bytes: [UInt8], metadata: PatientMetadata, views: ImageViews = .upright,
    limits: DecodingLimits = .standard
  ) throws(DermaFusionError) -> (Classification, NetworkOutput, ClassificationTiming) {
    var timing = ClassificationTiming()
    let image = try ClassificationTiming.measure(&timing.decodeMilliseconds) { () throws(DermaFusionError) in
      try Self.decoded(bytes, part: .square(size: configuration.preprocessing.size), limits: limits)
    }
    let input = try ClassificationTiming.measure(&timing.preprocessMilliseconds) {
      () throws(DermaFusionError) in
      try preprocessed(image)
    }
    let known = metadata.filled(from: input.patient)
    let output = try ClassificationTiming.measure(&timing.networkMilliseconds) {
      () throws(DermaFusionError) in
      try self.output(of: input, metadata: known.encoded(), views: views)
    }
    let result = try classification(
      output, of: input, metadata: known, isFromFile: known != metadata, views: views,
      imageSHA256: SHA256.hexDigest(bytes))
    return (result, output, timing)
  }

  /// ``classify(encodedImage:metadata:views:)`` with what the network looked at, of which a picture can be shown.
  ///
  /// - Parameter pictureSide: the greatest width of the picture.
  package func classify(
    encodedImage bytes: [UInt8], metadata: PatientMetadata, pictureSide: Int, limits: DecodingLimits
  ) throws(DermaFusionError) -> (Classification, PreprocessedImage) {
    let input = try preprocessed(decodedPicture(bytes, side: pictureSide, limits: limits))
    return (try classify(input, metadata: metadata, imageSHA256: SHA256.hexDigest(bytes)).0, input)
  }

  /// Classifies an image from a file's bytes and explains one or more of its logits; see
  /// ``explain(_:metadata:labels:method:layer:)``.
  public func explain(
    encodedImage bytes: [UInt8], metadata: PatientMetadata = .unknown, labels: [LesionLabel] = [],
    method: ActivationMapMethod = .gradcam, layer: String? = nil
  ) throws(DermaFusionError) -> Explanation {
    try explain(
      encodedImage: bytes, metadata: metadata, method: method, layer: layer, selecting: selection(labels)
    ).0
  }

  /// The same with what the network looked at, for the map's checks.
  ///
  /// - Parameters:
  ///   - pictureSide: the greatest width of ``Explanation/cropped``.
  ///   - select: the classes to explain, by the image's probabilities; at least one.
  package func explain(
    encodedImage bytes: [UInt8], metadata: PatientMetadata, method: ActivationMapMethod, layer: String?,
    pictureSide: Int = Explanation.pictureSide, limits: DecodingLimits = .standard,
    selecting select: (ClassScores) -> [LesionLabel]
  ) throws(DermaFusionError) -> (Explanation, PreprocessedImage) {
    let input = try preprocessed(decodedPicture(bytes, side: pictureSide, limits: limits))
    let explanation = try explain(
      input, metadata: metadata, method: method, layer: layer, imageSHA256: SHA256.hexDigest(bytes),
      pictureSide: pictureSide, selecting: select)
    return (explanation, input)
  }

  /// A file's pixels as far as the network and a picture need them.
  private func decodedPicture(
    _ bytes: [UInt8], side: Int, limits: DecodingLimits
  ) throws(DermaFusionError) -> DecodedImage {
    try Self.decoded(
      bytes, part: .picture(size: configuration.preprocessing.size, side: side), limits: limits)
  }

  /// The pixels of a file.
  ///
  /// - Throws: ``DermaFusionError/Code/invalidImage``
  package static func decoded(
    _ bytes: [UInt8], part: ImagePart, limits: DecodingLimits = .standard
  ) throws(DermaFusionError) -> DecodedImage {
    try ImageDecoder.decode(bytes, part: part, limits: limits)
  }
}

extension PixelImage {
  /// Decodes the bytes of an image file in any of the formats that ``Classifier/classify(encodedImage:metadata:views:)``
  /// takes.
  ///
  /// - Throws: ``DermaFusionError/Code/invalidImage``, naming the broken rule.
  public init(decoding bytes: [UInt8]) throws(DermaFusionError) {
    self = try Classifier.decoded(bytes, part: .whole).pixels
  }
}
