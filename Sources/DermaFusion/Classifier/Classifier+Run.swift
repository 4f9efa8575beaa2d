import Files
import ImagePipeline
import NetworkModule
import SystemModule
import TensorModule

package struct ImageAnswer: Sendable {
  package let request: ImageRequest
  package let classification: Classification
  /// One for each class that the request asks for; empty where it asks for none.
  package let maps: [ActivationMap]
  /// The trust of each map, where the request asks for checks; otherwise empty.
  package let trusts: [MapTrust]
  package let shares: MetadataShares?
  package let input: PreprocessedImage
  package let output: NetworkOutput
  package let timing: ClassificationTiming

  /// The square that the network saw, for a person to see.
  package var picture: PixelImage {
    request.pictureSide.map { input.picture(side: $0) } ?? input.boundedSquare
  }

  /// The classification with its maps, of a request that asks for maps.
  package var explanation: Explanation {
    Explanation(classification: classification, maps: maps, cropped: picture)
  }
}

package struct ClassificationTiming: Sendable, Equatable {
  /// From the file's bytes to pixels.
  package var decodeMilliseconds = 0.0
  /// From pixels to the resized image and its tables.
  package var preprocessMilliseconds = 0.0
  /// From there to the logits, the writing of the network's input included.
  package var networkMilliseconds = 0.0

  package var totalMilliseconds: Double { decodeMilliseconds + preprocessMilliseconds + networkMilliseconds }

  fileprivate static func measure<Value>(
    _ milliseconds: inout Double, _ work: () throws(DermaFusionError) -> Value
  ) throws(DermaFusionError) -> Value {
    let start = MonotonicClock.milliseconds
    let result = try work()
    milliseconds = MonotonicClock.milliseconds - start
    return result
  }
}

extension Classifier {
  /// Does what a request asks of an image. Every call that classifies or explains, of the library, the commands, C and the
  /// page, comes through here.
  package func run(
    _ request: ImageRequest, decode: () throws(DermaFusionError) -> DecodedImage
  ) throws(DermaFusionError) -> ImageAnswer {
    if !request.usesCallingThreadOnly { return try answer(request, decode) }
    return try pool.withoutSharing { () throws(DermaFusionError) in try answer(request, decode) }
  }

  package func run(_ request: ImageRequest, on image: PixelImage) throws(DermaFusionError) -> ImageAnswer {
    try run(request) { () throws(DermaFusionError) in DecodedImage(image) }
  }

  private func answer(
    _ request: ImageRequest, _ decode: () throws(DermaFusionError) -> DecodedImage
  ) throws(DermaFusionError) -> ImageAnswer {
    try requireClasses()
    let select = request.explains ? try request.selection(among: labels) : nil
    var timing = ClassificationTiming()
    let image = try ClassificationTiming.measure(&timing.decodeMilliseconds, decode)
    let input = try ClassificationTiming.measure(&timing.preprocessMilliseconds) {
      () throws(DermaFusionError) in try preprocessor(image)
    }
    let metadata = request.metadata.filled(from: input.patient)
    let (output, maps) = try ClassificationTiming.measure(&timing.networkMilliseconds) {
      () throws(DermaFusionError) -> (NetworkOutput, [ActivationMap]) in
      if let select { return try explain(input, metadata, request, selecting: select) }
      return (try self.output(of: input, metadata: metadata.encoded(), views: request.views), [])
    }
    let classification = try classification(
      output, of: input, metadata: metadata, isFromFile: metadata != request.metadata, views: request.views,
      imageSHA256: request.imageSHA256)
    return ImageAnswer(
      request: request, classification: classification, maps: maps,
      trusts: request.includesTrust ? try trust(in: maps, of: input, metadata: metadata) : [],
      shares: request.includesMetadataShares ? try metadataShares(of: output, metadata: metadata) : nil,
      input: input, output: output, timing: timing)
  }

  /// The features of an image: the input of the last layer, which the network need not have.
  package func features(
    of decode: () throws(DermaFusionError) -> DecodedImage
  ) throws(DermaFusionError) -> [Float] {
    let output = try singleModel().output(
      of: preprocessor(decode()), metadata: PatientMetadata.unknown.encoded())
    // As a whole, so that what is no result is no features either.
    _ = try temperature.scores(output.logits)
    guard output.pooled.allSatisfy({ $0.isFinite }) else { throw .nonFiniteLogits(output.pooled) }
    return output.pooled
  }

  /// True if the model that an answer is of, or any member of an ensemble, seldom met an image like its one.
  package func isUnfamiliar(_ answer: ImageAnswer) -> Bool {
    zip(models, ensemble == nil ? [answer.output] : answer.output.members).contains { $0.isUnfamiliar($1) }
  }

  /// The output of the model, or of the ensemble by its vote.
  package func output(
    of image: PreprocessedImage, metadata: MetadataVector, views: ImageViews
  ) throws(DermaFusionError) -> NetworkOutput {
    guard let ensemble else { return models[0].output(of: image, metadata: metadata, views: views) }
    return try ensemble.output(of: image, metadata: metadata, views: views)
  }

  /// Runs the network once for the output and for the maps of the classes that `select` chooses by their probabilities.
  private func explain(
    _ input: PreprocessedImage, _ metadata: PatientMetadata, _ request: ImageRequest,
    selecting select: (ClassScores) -> [LesionLabel]
  ) throws(DermaFusionError) -> (NetworkOutput, [ActivationMap]) {
    let network = try singleModel().network
    let layer = try network.layerName(request.layer)
    let usesGradient = request.method.usesGradient
    var explained: [LesionLabel] = []
    let run = try unsafe network.runWithGradients(
      layer: layer, metadata: metadata.encoded(), needsGradients: usesGradient,
      logits: { (output) throws(DermaFusionError) in
        explained = select(try temperature.probabilities(output.logits))
        return explained.map { (network.head, $0.index) }
      },
      writeInput: { (target) throws(DermaFusionError) in unsafe input.writeNormalizedNHWC(to: target) })
    var maps: [ActivationMap] = []
    for (index, label) in explained.enumerated() {
      maps.append(
        try ActivationMap(
          classIndex: label.index, method: request.method, layer: layer, activations: run.activations,
          gradient: usesGradient ? run.gradients[index] : nil, size: network.inputSize,
          geometry: network.geometry(ofFeatureMap: layer)))
    }
    return (run.output, maps)
  }

  /// - Parameter isFromFile: whether some of the metadata is the image file's own.
  package func classification(
    _ output: NetworkOutput, of input: PreprocessedImage, metadata: PatientMetadata, isFromFile: Bool = false,
    views: ImageViews = .upright, imageSHA256: String?
  ) throws(DermaFusionError) -> Classification {
    let logits = try temperature.scores(output.logits)
    let probabilities = temperature.probabilities(of: logits)
    var warnings = input.warnings
    if configuration.fusion == nil, !metadata.isEmpty { warnings.append(.metadataUnused) }
    if isFromFile { warnings.append(.metadataFromFile) }
    warnings += self.warnings
    let abstention = Abstention(
      of: input,
      judges: judges(of: output),
      // The thresholds of the sets were fitted on single views.
      conformal: views == .upright ? configuration.abstention?.conformal : nil,
      probabilities: probabilities)
    return Classification(
      logits: logits, probabilities: probabilities, isMultiLabel: isMultiLabel, metadata: metadata,
      warnings: warnings, warningDetails: input.warningDetails, imageSHA256: imageSHA256, model: model,
      computation: computation,
      views: views,
      abstention: abstention)
  }

  /// Warnings of every result, known before the first: the package was built without optimisation.
  public var warnings: [ClassificationWarning] { KernelChoice.isOptimized ? [] : [.unoptimizedBuild] }

  /// Classifies an image that is already in memory as pixels.
  ///
  /// - Parameters:
  ///   - image: at least 32x32; a photograph through a dermatoscope, the lesion in its centre.
  ///   - metadata: ``PatientMetadata/unknown`` where nothing is known.
  ///   - views: how the network looks at the image; ``ImageViews/symmetries`` takes eight runs.
  /// - Throws: ``DermaFusionError/Code/invalidImage`` or ``DermaFusionError/Code/nonFiniteOutput``.
  public func classify(
    _ image: PixelImage, metadata: PatientMetadata = .unknown, views: ImageViews = .upright
  ) throws(DermaFusionError) -> Classification {
    try run(ImageRequest(metadata: metadata, views: views), on: image).classification
  }

  /// Hands `transform` of each input to `consume`, on the calling thread and in the order of the inputs, each as soon
  /// as it and those before it are done; see ``ParallelMap/forEach(_:workerCount:_:consume:)``.
  ///
  /// Several images are computed whole, one on each of the classifier's threads. A single one, and a few that would
  /// leave most threads idle in the end, share theirs layer by layer. Results do not depend on it.
  package func forEach<Input: Sendable, Output: Sendable, Failure: Error>(
    _ inputs: [Input], _ transform: @escaping @Sendable (Input) -> Output,
    consume: (Output) throws(Failure) -> Void
  ) throws(Failure) {
    let rest = inputs.count % threadCount
    let wholeCount = 2 * rest <= threadCount ? inputs.count - rest : inputs.count
    let wholeImages = Array(inputs[..<wholeCount])
    try ParallelMap.forEach(
      wholeImages, workerCount: threadCount, { [pool] input in pool.withoutSharing { transform(input) } },
      consume: consume)
    for input in inputs[wholeCount...] { try consume(transform(input)) }
  }
}
