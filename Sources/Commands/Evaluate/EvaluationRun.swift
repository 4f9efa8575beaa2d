import SystemModule
import Assessment
import CommandLineSupport
import DermaFusion
import ImageFiles

/// The images of a test list, several at once; a failure is reported and the others follow.
struct EvaluationRun {
  let classifier: Classifier
  let index: ImageIndex
  let views: ImageViews
  let terminal: Terminal
  let isQuiet: Bool
  /// In the order of the list, whatever the number of threads.
  private(set) var images: [EvaluatedImage] = []
  /// The names of ``images`` in the list.
  private(set) var names: [String] = []
  /// How many images had each warning.
  private(set) var warnings: [ClassificationWarning: Int] = [:]
  private(set) var hasFailed = false

  init(classifier: Classifier, index: ImageIndex, views: ImageViews, terminal: Terminal, isQuiet: Bool) {
    self.classifier = classifier
    self.index = index
    self.views = views
    self.terminal = terminal
    self.isQuiet = isQuiet
  }

  mutating func evaluate(_ list: TestList) {
    for failure in index.failures { report("\(failure)") }
    var found: [(entry: TestList.Entry, location: ImageIndex.Location)] = []
    var missing: [TestList.Entry] = []
    for entry in list.entries {
      if let location = index[entry.image] {
        found.append((entry, location))
        if let other = location.passedOver {
          terminal.note("Note: \(location.source.name) is taken for '\(entry.image)', not \(other.name).")
        }
      } else {
        missing.append(entry)
      }
    }
    reportMissing(missing, list)
    noteLeftOut(list)

    var progress = Progress(terminal: terminal, total: found.count, isQuiet: isQuiet)
    var outcomes: [Outcome] = []
    classifier.forEach(
      found,
      { [classifier, views, terminal] in
        Self.outcome($0.entry, $0.location, classifier, views, terminal)
      }
    ) { outcome in
      outcomes.append(outcome)
      if case .failed = outcome { progress.advance(failed: true) } else { progress.advance() }
    }
    progress.clear()
    for outcome in outcomes {
      switch outcome {
      case .failed(let message): report(message)
      case .classified(let image, let name, let imageWarnings):
        images.append(image)
        names.append(name)
        for warning in imageWarnings { warnings[warning, default: 0] += 1 }
      }
    }
  }

  private func noteLeftOut(_ list: TestList) {
    let count = list.rowCount - list.entries.count
    guard count > 0 else { return }
    let shown = list.leftOut.prefix(Self.namedCount).map { "'\($0.diagnosis)' (\($0.rowCount))" }
    terminal.note(
      """
      Note: \(list.path): \(count) of its \(list.rowCount) rows show none of the model's classes and are left out: \
      \(shown.joined(separator: ", "))\(list.leftOut.count > shown.count ? ", ..." : "").
      """)
  }

  /// Thousands of names tell no more than the first of them.
  private static let namedCount = 5

  private mutating func reportMissing(_ entries: [TestList.Entry], _ list: TestList) {
    guard let first = entries.first else { return }
    let isNamedWhole = ImageSource.file(first.image).identifier.flatMap { index[$0] } != nil
    let hint = isNamedWhole ? ImageFileName.endingHint : ""
    guard entries.count > 1 else {
      return report(
        "\(list.path): line \(first.line): no folder given has an image of the name '\(first.image)'\(hint)")
    }
    let names = entries.prefix(Self.namedCount).map { "'\($0.image)' (line \($0.line))" }
    report(
      """
      \(list.path): no folder given has the images of \(entries.count) of its \(list.entries.count) rows: \
      \(names.joined(separator: ", "))\(entries.count > names.count ? ", ..." : "")\(hint)
      """)
  }

  private enum Outcome: Sendable {
    case classified(EvaluatedImage, name: String, [ClassificationWarning])
    case failed(String)
  }

  private static func outcome(
    _ entry: TestList.Entry, _ location: ImageIndex.Location, _ classifier: Classifier,
    _ views: ImageViews, _ terminal: Terminal
  ) -> Outcome {
    do {
      let metadata = try PatientMetadata(
        ageInYears: entry.metadata.ageInYears, sex: entry.metadata.sex ?? .unknown,
        site: entry.metadata.site ?? .unknown)
      let result = try classifier.classify(
        encodedImage: location.source.read(terminal: terminal), metadata: metadata, views: views)
      let image = EvaluatedImage(
        lesion: entry.lesion, label: entry.label, probabilities: result.probabilities, metadata: metadata,
        source: location.folder, confirmation: entry.confirmation, abstention: result.abstention)
      return .classified(image, name: entry.image, result.warnings)
    } catch let error as FileError {
      return .failed("\(error)")
    } catch {
      return .failed("\(location.source.name): \(error)")
    }
  }

  private mutating func report(_ message: String) {
    terminal.report(message)
    hasFailed = true
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
