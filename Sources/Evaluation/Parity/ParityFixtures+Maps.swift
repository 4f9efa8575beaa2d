import DermaFusion
import ImagePipeline
import NetworkModule

extension ParityFixtures {
  /// Signed activation maps, each relative to its own largest magnitude: how large they are depends on class and method.
  ///
  /// - Parameters:
  ///   - step: 1 compares all, 10 every tenth.
  ///   - onFixture: called after each.
  func compareMaps(
    _ classifier: Classifier, stride step: Int, in report: inout ParityReport, onFixture: () -> Void
  ) throws {
    for index in stride(from: 0, to: manifest.maps.count, by: step) {
      try compare(manifest.maps[index], classifier, in: &report)
      onFixture()
    }
  }

  private func compare(
    _ maps: ParityManifest.Maps, _ classifier: Classifier, in report: inout ParityReport
  ) throws {
    guard let patient = PatientMetadata(maps.patient), let label = classifier.labels[maps.class]
    else {
      throw ParityError.unreadable(
        file: Self.manifestName,
        reason: "the maps of \(maps.file) are of a patient or a class that the model does not know")
    }
    let network = try classifier.singleModel().network
    guard let layer = try? network.layerName(maps.layer) else {
      return report.compare(
        ParityReport.mapStage, fixture: maps.file, place: "the network", expected: maps.layer,
        found: "no such layer")
    }
    let image = try preprocessed(maps.file, classifier)
    let run = network.runWithGradients(
      layer: layer, metadata: patient.encoded(), needsGradients: true,
      classes: [label.index], writeInput: { image.writeNormalizedNHWC(to: $0) })
    for expected in maps.methods {
      guard let method = ActivationMapMethod(rawValue: expected.method) else {
        throw ParityError.unreadable(
          file: Self.manifestName, reason: "'\(expected.method)' is not a method of activation maps")
      }
      let found = method.signedMap(
        activations: run.activations, gradient: method.usesGradient ? run.gradients[0] : nil)
      let fixture = "\(maps.file), \(maps.class) by \(expected.method) at \(maps.layer)"
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
