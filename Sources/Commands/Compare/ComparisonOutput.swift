import DermaFusion
import Evaluation
import Files

/// A comparison with what it is about, for a program and for a person.
struct ComparisonOutput: PlainReport {
  let comparison: ModelComparison
  /// Images that were named, compared or not.
  let listedCount: Int
  let views: ImageViews
  /// A and B.
  let models: [(folder: String, identity: ModelIdentity)]
  /// The lesions that each model was trained on; `nil` without labels.
  let overlaps: [TrainingOverlap]?

  var members: [(key: String, value: JSONValue)] {
    JSONValue.members([
      "model": models[0].identity.json, "against": models[1].identity.json,
      "listed": .integer(listedCount), "views": views == .upright ? nil : .integer(views.count),
    ]) + comparison.members
      + JSONValue.members([
        "trainingLists": overlaps.map { .object(["model": $0[0].json, "against": $0[1].json]) } ?? .null,
        "unseen": hasSeenPhotographs ? comparison.unseen?.json ?? .null : nil,
      ])
  }

  /// True if the pixels tell photographs that one of the models was trained on.
  private var hasSeenPhotographs: Bool { overlaps?.contains { $0.byPixels.trained != nil } ?? false }

  private static let letters = ["A", "B"]
  private static let labelColumn = 42

  func lines(width: Int?) -> [String] {
    var lines = notes.map { $0.text.labelled($0.label, column: 17, width: width) }
    lines += [""] + changeTable.lines(width: width)
    let hiddenCount = comparison.changes.count - shownChanges.count
    if hiddenCount > 0 {
      lines.append(
        "\(hiddenCount) classes with smaller changes are left out; --format json has them.".wrapped(
          width: width, indent: 0))
    }
    if let measurement = comparison.measurement {
      lines += [""] + metricTable(measurement).lines(width: width)
    }
    if let unseen = comparison.unseen {
      lines += ["", "\(unseen.imageCount) images of lesions that neither was trained on"]
      lines += metricTable(unseen).lines(width: width)
    }
    return lines
  }

  private var notes: [(label: String, text: String)] {
    let images = comparison.images
    var notes = zip(Self.letters, models).map { letter, model in
      (label: letter, text: "\(model.identity.words), in \(model.folder.printable)")
    }
    notes += [
      ("Images", "\(images.count) of \(listedCount) compared"),
      (
        "Same class",
        """
        \(Self.share(comparison.agreeingCount, of: images.count)); of those that both answer \
        \(Self.share(comparison.answeredAgreeingCount, of: comparison.answeredCount))
        """
      ),
      (
        "Abstained from",
        """
        \(images.count { $0.first.abstains }) by A, \(images.count { $0.second.abstains }) by B, \
        \(images.count { $0.first.abstains && $0.second.abstains }) by both
        """
      ),
    ]
    if views != .upright { notes.append(("Views", views.sentence())) }
    if let measurement = comparison.measurement {
      notes.append(("Labels", "\(measurement.imageCount) images of \(measurement.lesionCount) lesions"))
      notes.append(("Intervals", "by resampling \(ChanceUnit.words(measurement.units))"))
      let absent = measurement.absentClasses
      if !absent.isEmpty {
        let names = absent.map(\.id.printable).listed(atMost: 12)
        notes.append(("Note", "no image of \(names): means over classes leave them out"))
      }
    }
    for (letter, overlap) in zip(Self.letters, overlaps ?? []) {
      if !overlap.isKnown {
        notes.append(
          ("Training list", "none with \(letter): whether it was trained on these lesions is not known"))
      }
      let (trained, selected) = (overlap.trainingLesions.count, overlap.validationLesions.count)
      if trained > 0 {
        notes.append(
          ("WARNING", "\(letter) was trained on \(trained) of these lesions: it seems better than it is"))
      }
      if selected > 0 {
        notes.append(
          (
            "Note",
            "\(letter) was selected or calibrated on \(selected) of these lesions: it may seem better than it is"
          ))
      }
      if let trained = overlap.byPixels.trained { notes.append(("WARNING", "\(letter): \(trained)")) }
      if let selected = overlap.byPixels.selected { notes.append(("Note", "\(letter): \(selected)")) }
      if let uncompared = overlap.byPixels.uncompared { notes.append(("Note", "\(letter): \(uncompared)")) }
    }
    return notes
  }

  private static func share(_ count: Int, of all: Int) -> String {
    "\(count) of \(all)"
      + (all > 0 ? " (\((Double(count) / Double(all) * 100).fixed(digits: 1)) %)" : "")
  }

  /// Text has so many classes at most; JSON has all.
  private static let shownClassCount = 30

  /// All, or the greatest, in the order of the classes.
  private var shownChanges: [ModelComparison.Change] {
    comparison.changes.sorted { ($0.size, -$0.label.index) > ($1.size, -$1.label.index) }
      .prefix(Self.shownClassCount).sorted { $0.label.index < $1.label.index }
  }

  private var changeTable: TextTable {
    let changes = shownChanges
    return TextTable(
      names: .left("class", least: 8, changes.map(\.label.id.printable)),
      columns: [
        .right("greatest change", 17, changes.map { $0.size.fixed(digits: 4) })
          + .right("A", 9, changes.map { Double($0.first).fixed(digits: 4) })
          + .right("B", 9, changes.map { Double($0.second).fixed(digits: 4) }),
        // No wider than its heading: a long name does not part it from its numbers.
        .right("  image", 0, changes.map { "  " + $0.image.printable }),
      ])
  }

  private func metricTable(_ measurement: ModelComparison.Measurement) -> TextTable {
    let metrics = Metric.overall.filter { $0.applies(to: comparison.labels) }
    return TextTable(
      names: .left(least: Self.labelColumn, metrics.map { $0.title(comparison.labels) }),
      columns: [
        .right("A", 10, metrics.map { measurement.first[$0].words(digits: 4) }),
        .right("B", 10, metrics.map { measurement.second[$0].words(digits: 4) }),
        // Together, so that a narrow terminal has the interval beside its difference.
        .right("B - A", 10, metrics.map { measurement.difference($0).words(digits: 4) })
          + .right("95 % interval", 20, metrics.map { measurement.intervals[$0]?.words(digits: 4) ?? "-" }),
      ])
  }
}
