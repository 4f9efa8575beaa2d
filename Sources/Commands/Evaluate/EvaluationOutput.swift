import DermaFusion
import Evaluation
import Files

/// A report with what it is about, for a program and for a person.
struct EvaluationOutput: PlainReport {
  let report: EvaluationReport
  let model: ModelIdentity
  /// Images of the test list, evaluated or not.
  let listedCount: Int
  let views: ImageViews
  /// The unit that the figures count.
  let unit: AnswerUnit
  let warnings: [ClassificationWarning: Int]
  let overlap: TrainingOverlap

  var members: [(key: String, value: JSONValue)] {
    JSONValue.members([
      "model": model.json, "listed": .integer(listedCount),
      "views": views == .upright ? nil : .integer(views.count),
      "by": unit == .lesion ? .string(unit.rawValue) : nil,
    ]) + report.members
      + JSONValue.members([
        "warnings": .object(sortedWarnings.map { ($0.warning.rawValue, .integer($0.count)) }),
        "trainingList": overlap.json,
        "unseen": overlap.byPixels.trained == nil ? nil : report.unseen?.json ?? .null,
      ])
  }

  var sortedWarnings: [(warning: ClassificationWarning, count: Int)] {
    warnings.map { (warning: $0.key, count: $0.value) }.sorted { $0.warning.rawValue < $1.warning.rawValue }
  }

  /// Remarks that come before the metrics.
  var notes: [(label: String, text: String)] {
    var notes: [(String, String)] = []
    if views != .upright { notes.append(("Views", views.sentence())) }
    if unit == .lesion {
      notes.append(
        ("Answers", "one for each lesion, by the mean of its images' logits; all counts are of answers"))
    }
    if !overlap.isKnown {
      let unlisted = overlap.membersWithoutList
      let holder =
        unlisted.isEmpty
        ? "the model" : "the member\(unlisted.count == 1 ? "" : "s") \(unlisted.joined(separator: ", "))"
      let verb = unlisted.count > 1 ? "they were" : "it was"
      notes.append(
        ("Training list", "none with \(holder): whether \(verb) trained on these lesions is not known"))
    } else if overlap.trainingLesions.isEmpty {
      notes.append(("Training list", "no lesion and no image of these names was trained on"))
    }
    if let trained {
      notes.append(("WARNING", "the model was \(trained): the figures say nothing about other lesions"))
    }
    if let trained = overlap.byPixels.trained {
      let rest = report.unseen == nil ? "no other lesion is left" : "figures without their lesions follow"
      notes.append(("WARNING", "\(trained); \(rest)"))
    }
    if let selected { notes.append(("Note", "the model was \(selected): the figures may be too good")) }
    if let selected = overlap.byPixels.selected {
      notes.append(("Note", "\(selected): the figures may be too good"))
    }
    if let uncompared = overlap.byPixels.uncompared { notes.append(("Note", uncompared)) }
    if report.isWeighted {
      let zero = report.weightlessCount
      let leftOut = zero > 0 ? ["\(zero) image\(zero == 1 ? "" : "s") of weight 0 left out"] : []
      let unequal =
        report.hasUnequalWeights
        ? ["figures weigh by \(TestList.weightColumn), counts and the confusion matrix do not"] : []
      notes.append(("Weights", (leftOut + unequal).joined(separator: "; ")))
    }
    if !report.absentClasses.isEmpty {
      let names = report.absentClasses.map(\.id).listed(atMost: 12)
      notes.append(("Note", "no image of \(names): means over classes leave them out"))
    }
    let units = ChanceUnit.words(report.set.units)
    notes.append(("Intervals", "by resampling \(units); Clopper-Pearson for shares without spread"))
    notes += sortedWarnings.map { ("Warning", "\($0.count) images: \($0.warning.sentence)") }
    return notes
  }

  private var trained: String? { Self.seen(overlap.trainingLesions, "trained") }
  private var selected: String? { Self.seen(overlap.validationLesions, "selected or calibrated") }

  private static func seen(_ lesions: [String], _ how: String) -> String? {
    lesions.isEmpty ? nil : "\(how) on \(lesions.count) of these lesions"
  }

  /// A short remark that every plot carries.
  var reservations: [String] {
    var reservations = [trained, overlap.byPixels.trained, selected, overlap.byPixels.selected].compactMap {
      $0
    }
    if !overlap.isKnown { reservations.append("whether trained on these lesions is not known") }
    if views != .upright { reservations.append("mean of \(views.count) views") }
    return reservations
  }
}

/// The metrics as a table in long form: a line for each metric of all images, of each class and of each subgroup.
extension EvaluationOutput {
  func csv(isForTerminal: Bool) -> (header: String, rows: String) {
    let line = { ClassificationCSV.line($0, isForTerminal: isForTerminal) }
    let header = line(["grouping", "group", "class", "figure", "value", "ci_low", "ci_high", "n", "drawn"])
    var rows = lines(of: report.overall, count: report.overall.imageCount, grouping: "all", group: "all")
    for label in report.labels {
      rows += (Metric.perClass + [Metric.meanProbability]).map { metric in
        let metric = metric(label.index)
        return ["all", "all", label.id, metric.key] + cells(metric, of: report.overall)
          + ["\(report.imageCount(label))", drawn]
      }
    }
    if let validation = report.validation {
      rows += lines(of: validation, count: validation.imageCount, grouping: "validation", group: "all")
    }
    if let unseen = report.unseen {
      rows += lines(of: unseen, count: unseen.imageCount, grouping: "unseen", group: "all")
    }
    for (grouping, groups) in report.subgroups {
      for group in groups {
        rows += lines(
          of: group.measurement, count: group.imageCount, grouping: grouping.name, group: group.name)
      }
    }
    return (header, rows.map(line).joined())
  }

  /// - Parameter measurement: `nil` for a group of too few images, whose values are empty.
  private func lines(
    of measurement: EvaluationReport.Measurement?, count: Int, grouping: String, group: String
  ) -> [[String]] {
    Metric.overall.map { [grouping, group, "", $0.key] + cells($0, of: measurement) + ["\(count)", drawn] }
  }

  private var drawn: String { ChanceUnit.drawn(report.set.units).rawValue }

  /// The value and the ends of its interval; what is undefined is empty.
  private func cells(_ metric: Metric, of measurement: EvaluationReport.Measurement?) -> [String] {
    let measured = measurement?[metric]
    return [measured?.value, measured?.interval?.lowerBound, measured?.interval?.upperBound]
      .map { $0?.description ?? "" }
  }
}
