import DermaFusion
import ImagePipeline
import NetworkModule
import TensorModule

extension ParityFixtures {
  /// Feature maps, logits, probabilities and activation maps. With another model than the fixtures' nothing can agree, so
  /// that is a departure of its own and the network is not run.
  ///
  /// - Parameters:
  ///   - step: 1 compares all of the activations, predictions and maps, 10 every tenth.
  func compareNetwork(
    _ classifier: Classifier, stride step: Int = 1, in report: inout ParityReport,
    onFixture: () -> Void = {}
  ) throws {
    if let expected = manifest.model {
      report.compare(
        "model", fixture: expected.name, place: "SHA-256", expected: expected.sha256,
        found: classifier.model.sha256)
      if expected.sha256 != classifier.model.sha256 { return }
    }
    try manifest.activations.each(stride: step, onFixture) { try compare($0, classifier, in: &report) }
    var images: [String: PreprocessedImage] = [:]
    try manifest.predictions.each(stride: step, onFixture) { prediction in
      // One image at a time is kept: its predictions follow each other.
      let image = try images[prediction.file] ?? preprocessed(prediction.file, classifier.preprocessor)
      images = [prediction.file: image]
      try compare(prediction, image, classifier, in: &report)
    }
    try manifest.maps.each(stride: step, onFixture) { try compare($0, classifier, in: &report) }
  }

  private func compare(
    _ prediction: ParityManifest.Prediction, _ image: PreprocessedImage, _ classifier: Classifier,
    in report: inout ParityReport
  ) throws {
    let metadata = PatientMetadata(prediction.patient)
    let vector = metadata?.encoded()
    let values = vector?.values ?? []
    let count = prediction.views
    guard let views = ImageViews.allCases.first(where: { $0.count == count }) else {
      throw DermaFusionError.unreadableFixture(
        Self.manifestName, reason: "a prediction of \(count) views, and this program makes 1 or 8")
    }
    let fixture = "\(prediction.file) with \(values)" + (count == 1 ? "" : " in \(count) views")
    report.compare(
      "metadata", fixture: fixture, place: "the vector", expected: prediction.vector.map(Float.init),
      found: values)
    guard let metadata, let vector else { return }
    let output = try classifier.output(of: image, metadata: vector, views: views)
    let logits = output.logits
    report.compare(
      "logits", fixture: fixture, tolerance: Self.logitTolerance, expected: prediction.logits, found: logits)
    guard let probabilities = try? classifier.temperature.probabilities(logits) else { return }
    report.compare(
      "probabilities", fixture: fixture, tolerance: Self.probabilityTolerance,
      expected: prediction.probabilities, found: probabilities.values)
    if let expected = prediction.abstention {
      let result = try classifier.classification(output, of: image, metadata: metadata, imageSHA256: nil)
      let model = try classifier.singleModel()
      compare(
        expected, result.abstention, distance: model.featureDistance(of: output),
        dermoscopy: model.dermoscopyScore(of: output), fixture: fixture, in: &report)
    }
  }

  private func compare(
    _ expected: ParityManifest.Abstention, _ found: Abstention, distance: Double?, dermoscopy: Double?,
    fixture: String, in report: inout ParityReport
  ) {
    report.compare(
      "distance", fixture: fixture, tolerance: Self.distanceTolerance, scale: expected.distance,
      expected: [expected.distance], found: [Float(distance ?? .nan)])
    if let score = expected.dermoscopy {
      report.compare(
        "dermoscopy", fixture: fixture, tolerance: Self.dermoscopyTolerance, expected: [score],
        found: [Float(dermoscopy ?? .nan)])
    }
    report.compare(
      "abstention", fixture: fixture, place: "the reasons", expected: expected.reasons,
      found: found.reasons.map(\.rawValue))
    report.compare(
      "abstention", fixture: fixture, place: "the conformal set", expected: expected.conformalSet,
      found: found.conformalSet?.classes.map(\.id) ?? [])
  }

  private func compare(
    _ activations: ParityManifest.Activations, _ classifier: Classifier, in report: inout ParityReport
  ) throws {
    let blocks = Dictionary(
      activations.blocks.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    var seen: Set<String> = []
    // The maps seen during the run are kept and compared after it, in the order of computation.
    var maps: [(name: String, shape: FeatureShape, values: [Float])] = []
    let image = try preprocessed(activations.file, classifier.preprocessor)
    let model = try classifier.singleModel()
    let output = model.output(of: image, metadata: PatientMetadata.unknown.encoded()) {
      name, map in
      maps.append((name, map.shape, map.dense()))
    }
    for map in maps {
      guard let block = blocks[map.name] else { continue }
      seen.insert(map.name)
      let (height, width, channels) = (map.shape.height, map.shape.width, map.shape.channels)
      compare(
        block, fixture: activations.file, shape: [1, channels, height, width], all: map.values, in: &report
      ) { index in
        let (channel, pixel) = index.quotientAndRemainder(dividingBy: height * width)
        return map.values[pixel * channels + channel]
      }
    }
    if let block = blocks["pooled"] {
      seen.insert("pooled")
      let pooled = model.network.head.features(pooled: output.pooled)
      compare(
        block, fixture: activations.file, shape: [1, pooled.count], all: pooled, in: &report
      ) { pooled[$0] }
    }
    for block in activations.blocks where !seen.contains(block.name) {
      report.compare(
        block.name, fixture: activations.file, place: "the network", expected: "a feature map", found: "none")
    }
  }

  /// Samples of one feature map, then its mean and greatest magnitude, which every element has a part in.
  private func compare(
    _ block: ParityManifest.Summary, fixture: String, shape: [Int], all values: [Float],
    in report: inout ParityReport, found: (Int) -> Float
  ) {
    let tolerance = Self.activationTolerance
    report.compare(
      block.name, fixture: fixture, tolerance: tolerance, samples: block.samples, foundShape: shape,
      found: found)
    let mean = values.reduce(0.0) { $0 + Double($1) } / Double(max(values.count, 1))
    let magnitude = values.reduce(Float(0)) { max($0, abs($1)) }
    report.compare(
      block.name, fixture: "\(fixture), mean and greatest magnitude", tolerance: tolerance,
      expected: [block.mean ?? .nan, block.maximumMagnitude], found: [Float(mean), magnitude])
  }
}

// MARK: - Activation maps

extension ParityFixtures {
  /// Signed activation maps, each relative to its own largest magnitude: how large they are depends on class and method.
  private func compare(
    _ maps: ParityManifest.Maps, _ classifier: Classifier, in report: inout ParityReport
  ) throws {
    guard let patient = PatientMetadata(maps.patient), let label = classifier.labels[maps.class]
    else {
      throw DermaFusionError.unreadableFixture(
        Self.manifestName,
        reason: "the maps of \(maps.file) are of a patient or a class that the model does not know")
    }
    let network = try classifier.singleModel().network
    guard let layer = try? network.layerName(maps.layer) else {
      return report.compare(
        ParityReport.mapStage, fixture: maps.file, place: "the network", expected: maps.layer,
        found: "no such layer")
    }
    let image = try preprocessed(maps.file, classifier.preprocessor)
    let run = network.runWithGradients(
      layer: layer, metadata: patient.encoded(), needsGradients: true,
      classes: [label.index], writeInput: { image.writeNormalizedNHWC(to: $0) })
    for expected in maps.methods {
      guard let method = ActivationMapMethod(rawValue: expected.name) else {
        throw DermaFusionError.unreadableFixture(
          Self.manifestName, reason: "'\(expected.name)' is not a method of activation maps")
      }
      let found = method.signedMap(
        activations: run.activations, gradient: method.usesGradient ? run.gradients[0] : nil)
      let fixture = "\(maps.file), \(maps.class) by \(expected.name) at \(maps.layer)"
      let scale = expected.maximumMagnitude > 0 ? expected.maximumMagnitude : 1
      report.compare(
        ParityReport.mapStage, fixture: fixture, tolerance: Self.mapTolerance, scale: scale,
        samples: expected.samples, foundShape: Array(run.activations.shape.prefix(2)), found: { found[$0] })
      report.compare(
        ParityReport.mapStage, fixture: "\(fixture), greatest magnitude", tolerance: Self.mapTolerance,
        scale: scale,
        expected: [expected.maximumMagnitude], found: [found.reduce(0) { max($0, abs($1)) }])
    }
  }
}
