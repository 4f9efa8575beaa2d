import DermaFusion
import Evaluation
import Files
import ImageCodecs
import ImagePipeline
import SystemModule

/// The images of a test list, several at once; a failure is reported and the others follow.
struct EvaluationRun {
  let classifier: Classifier
  let index: ImageIndex
  let views: ImageViews
  let terminal: Terminal
  private var runner: BatchRunner
  /// In the order of the list, whatever the number of threads.
  private(set) var images: [EvaluatedImage] = []
  /// The data of a calibration, for each of ``images``.
  private(set) var outputs: [ModelCalibration.Image] = []
  /// True if ``outputs`` have the inputs of the last layer.
  var keepsFeatures = false
  /// The photographs that the model has seen; nil if it does not tell.
  var sight: ModelSight?
  /// The lesion of each photograph, and the finding on its pixels.
  private(set) var photographs: [(lesion: String, sighting: ModelSight.Sighting?)] = []
  /// The names of ``images`` in the list.
  private(set) var names: [String] = []
  /// Frames beside the first of the files that a row of the list names.
  private(set) var frameCount = 0
  /// The number of images with each warning.
  private(set) var warnings: [ClassificationWarning: Int] = [:]
  private var results: [Classification] = []

  init(_ arguments: ParsedArguments, classifier: Classifier, index: ImageIndex, terminal: Terminal) {
    self.classifier = classifier
    self.index = index
    self.terminal = terminal
    views = ImageViews(arguments)
    runner = BatchRunner(terminal: terminal)
  }

  var status: ExitStatus { runner.status }

  /// An image that was found.
  private struct Found: Sendable {
    let entry: TestList.Entry
    let location: ImageIndex.Location
  }

  mutating func evaluate(_ list: TestList) throws {
    for failure in index.failures { runner.fail("\(failure)") }
    reportFailures(list)
    index.leftOut.note(on: terminal)
    for note in list.notes + list.matches.notes(table: list.path) { terminal.remark("\(note)") }
    reportMissing(list)
    noteLeftOut(list)
    let locations = index.locations
    let found = list.entries.flatMap { entry in
      entry.places.map { Found(entry: entry, location: locations[$0]) }
    }
    frameCount = found.count - list.entries.count

    try runner.run(found, sideBySideOn: classifier, interruption: "Nothing was written.") {
      [classifier, views, terminal, keepsFeatures, sight] (found: Found) in
      let source = found.location.source
      return try source.naming {
        let image = try ImageDecoder.decode(
          source.read(terminal: terminal), frame: source.frame,
          part: sight == nil ? ImagePart(for: classifier.configuration.preprocessing) : .whole)
        let evaluated = try Self.evaluated(found, image, classifier, views, keepsFeatures: keepsFeatures)
        return (evaluated, sight?.look(at: image.pixels))
      }
    } consume: { (evaluated, sighting) in
      let (image, name, result, output) = evaluated
      images.append(image)
      photographs.append((image.lesion, sighting))
      names.append(name)
      outputs.append(output)
      results.append(result)
      for warning in result.warnings { warnings[warning, default: 0] += 1 }
      return result
    }
  }

  private mutating func reportFailures(_ list: TestList) {
    let shown = list.failedRows.prefix(TestList.namedCount)
    for row in shown { runner.fail("\(row.error)") }
    let rest = list.failureCount - shown.count
    if rest > 0 { runner.fail("\(list.path): \(rest) more rows cannot be used") }
  }

  private func noteLeftOut(_ list: TestList) {
    let count = list.leftOut.reduce(0) { $0 + $1.rowCount }
    guard count > 0 else { return }
    let shown = list.leftOut.prefix(TestList.namedCount).map { "'\($0.diagnosis)' (\($0.rowCount))" }
    terminal.remark(
      """
      \(list.path): \(count) of its \(list.rowCount) rows show none of the model's classes and are left out: \
      \(shown.joined(separator: ", "))\(list.leftOut.count > shown.count ? ", ..." : "").
      """)
  }

  private mutating func reportMissing(_ list: TestList) {
    guard let first = list.missing.first.first else { return }
    guard list.missing.count > 1 else {
      return runner.fail(
        "\(list.path): line \(first.line): no folder given has an image of the name '\(first.image)'")
    }
    let names = list.missing.first.map { "'\($0.image)' (line \($0.line))" }
    runner.fail(
      """
      \(list.path): no folder given has the images of \(list.missing.count) of its \(list.entries.count + list.missing.count) \
      rows: \(names.joined(separator: ", "))\(list.missing.count > names.count ? ", ..." : "")
      """)
  }

  private static func evaluated(
    _ found: Found, _ image: DecodedImage, _ classifier: Classifier, _ views: ImageViews, keepsFeatures: Bool
  ) throws -> (EvaluatedImage, name: String, Classification, ModelCalibration.Image) {
    let (entry, source) = (found.entry, found.location.source)
    let row = try PatientMetadata.unknown.filled(fromRow: entry.metadata)
    let answer = try classifier.run(ImageRequest(metadata: row, views: views)) {
      () throws(DermaFusionError) in image
    }
    let result = answer.classification
    // Also what the image's own file says of the patient: the network was given it too.
    let metadata = result.metadata
    let evaluated = EvaluatedImage(
      lesion: entry.lesion, label: entry.label, probabilities: result.probabilities, metadata: metadata,
      source: found.location.folder, unit: entry.unit, weights: entry.weights, cells: entry.cells,
      abstention: result.abstention)
    let model = try? classifier.singleModel()
    let inputs =
      keepsFeatures ? model?.lastLayerInputs(of: answer.output, metadata: metadata).map { Double($0) } : nil
    let output = ModelCalibration.Image(
      lesion: entry.lesion, label: entry.label, logits: result.logits,
      distance: model?.featureDistance(of: answer.output), reasons: result.abstention.reasons,
      features: inputs, unit: entry.unit)
    let name = source.frame == nil ? entry.image : source.identifier ?? entry.image
    return (evaluated, name, result, output)
  }
}

extension EvaluationRun {
  /// A row an image: its name and label as the list has them, the probability of each class, and whether the model abstains.
  func predictions(labels: Labels) -> String {
    let rows = zip(names, images).map { name, image in
      ClassificationCSV.line(
        [name, image.label.id] + image.probabilities.values.map(\.description) + [
          image.abstention.reasons.isEmpty ? "false" : "true"
        ])
    }
    let (first, last) = (["image_id", "label"], ["abstain"])
    let classes = ClassificationCSV.columns(of: labels, beside: first + last)
    return ClassificationCSV.line(first + classes + last) + rows.joined()
  }
}

extension EvaluationRun {
  /// Drops the lesions of photographs that the model was trained on by their pixels.
  ///
  /// - Parameter overlap: is given what the pixels show.
  mutating func leaveOutTrained(_ overlap: inout TrainingOverlap, table: String) {
    overlap.add(photographs)
    guard let note = overlap.byPixels.leftOut else { return }
    terminal.remark("\(table): \(note)")
    let left = images.indices.filter { !overlap.isSeen(images[$0].lesion) }
    (names, outputs, results) = (left.map { names[$0] }, left.map { outputs[$0] }, left.map { results[$0] })
    (images, photographs) = (left.map { images[$0] }, left.map { photographs[$0] })
  }

  /// Puts one answer in the place of the images of a lesion that have the same label, where the first of them was.
  mutating func combineLesions() {
    var order: [[UInt8]] = []
    var members: [[UInt8]: [Int]] = [:]
    for (place, image) in images.enumerated() {
      let key = TestList.answerKey(image.lesion, image.label)
      if members[key] == nil { order.append(key) }
      members[key, default: []].append(place)
    }
    let groups = order.compactMap { members[$0] }
    names = groups.map { $0.count == 1 ? names[$0[0]] : images[$0[0]].lesion }
    images = groups.map { places in
      let (first, result) = (
        images[places[0]], Classification.combined(places.map { results[$0] }, classifier.temperature)
      )
      return EvaluatedImage(
        lesion: first.lesion, label: first.label, probabilities: result.probabilities,
        metadata: first.metadata, source: first.source, unit: first.unit, weights: first.weights,
        cells: first.cells, abstention: result.abstention)
    }
    (results, outputs) = ([], [])
  }
}
