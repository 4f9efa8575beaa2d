import Assessment
import CommandLineSupport
import DermaFusion

/// The report as a person reads it.
extension EvaluationOutput {
  private static let labelColumn = 42
  private static let valueColumn = 8
  private static let intervalColumn = 18

  package func text(width: Int?) -> String {
    let overall = report.overall
    var lines = [
      "Model            \(model.words)",
      "Images           \(overall.imageCount) of \(listedCount) evaluated, of \(overall.lesionCount) lesions",
    ]
    lines += notes.map { note in note.text.labelled(note.label, column: 17, width: width) }
    lines += ["", Self.row("", value: "value", interval: "95 % interval")]
    lines += EvaluationFigure.overall(report.labels).map { figure in
      Self.row(figure.title(report.labels), value: overall.value(figure), interval: overall.interval(figure))
    }
    lines += [""] + abstentionLines + [""] + classLines
    if report.labels.tellMalignancy { lines += [""] + riskLines }
    lines += [""] + confusionLines
    lines += [""] + subgroupLines
    lines += ["", Wording.disclaimer.wrapped(width: width, indent: 0)]
    return lines.joined(separator: "\n") + "\n"
  }

  private var abstentionLines: [String] {
    let figures = report.abstention
    func row(_ title: String, _ value: Double?) -> String {
      Self.row(
        title, value: value.map { $0.fixed(digits: 4) } ?? "undefined", interval: "")
    }
    var lines = [
      row("Share of images abstained from", figures.abstainedShare),
      row("Balanced accuracy on the others", figures.answeredBalancedAccuracy),
    ]
    if let sets = figures.sets {
      let percent = Int((sets.statedCoverage * 100).rounded())
      lines.append(row("Coverage of the \(percent) % sets", sets.coverage))
      lines.append(row("Classes a set", sets.meanSize))
    }
    return lines
  }

  /// A table in text has so many classes at most; JSON has all.
  private static let shownClassCount = 30
  /// A confusion matrix of more classes does not fit on a page.
  private static let matrixClassCount = 20

  /// The classes that tables have rows for: all, or those with the most images.
  private var shownClasses: [LesionLabel] {
    let labels = report.labels
    if labels.count <= Self.shownClassCount { return Array(labels) }
    return labels.sorted { (report.imageCount($0), -$0.index) > (report.imageCount($1), -$1.index) }
      .prefix(Self.shownClassCount).sorted { $0.index < $1.index }
  }

  private var leftOut: [String] {
    let count = report.labels.count - shownClasses.count
    return count > 0 ? ["\(count) classes with fewer images are left out; --format json has them."] : []
  }

  private func idWidth(_ least: Int, _ labels: [LesionLabel]) -> Int {
    max(least, (labels.map(\.id.printable.count).max() ?? 0) + 1)
  }

  private var classLines: [String] {
    let labels = shownClasses
    let width = idWidth(8, labels)
    let heading =
      "class".padding(to: width) + "n".leftPadding(to: 6) + "expected".leftPadding(to: 10)
      + ["recall", "precision", "AUROC"].map { $0.leftPadding(to: 11) + "95 % interval".leftPadding(to: 17) }
      .joined()
    return [heading]
      + labels.map { label in
        let figures: [EvaluationFigure] = [
          .recall(label.index), .precision(label.index), .auroc(label.index),
        ]
        return label.id.printable.padding(to: width)
          + String(report.imageCount(label)).leftPadding(to: 6)
          + expectedCount(label).leftPadding(to: 10)
          + figures.map {
            report.overall.value($0).leftPadding(to: 11) + report.overall.interval($0).leftPadding(to: 17)
          }.joined()
      } + leftOut
  }

  /// The sum of the class's probabilities: as many images as it would have if they were right.
  private func expectedCount(_ label: LesionLabel) -> String {
    let share = report.overall.figures[.meanProbability(label.index)] ?? 0
    return (share * Double(report.overall.imageCount)).fixed(digits: 1)
  }

  private var riskLines: [String] {
    let labels = shownClasses
    let groups: [(name: String, group: EvaluationFigure.RiskGroup)] =
      [(Self.malignantNames(report.labels), .malignant), ("the others", .benign)]
      + labels.map { ($0.id.printable, .label($0.index)) }
    let width = max(17, (groups.map(\.name.count).max() ?? 0) + 1)
    let heading =
      "share at risk".padding(to: width)
      + ["moderate or high", "high"].map { $0.leftPadding(to: 18) + "95 % interval".leftPadding(to: 17) }
      .joined()
    return [heading]
      + groups.map { name, group in
        name.padding(to: width)
          + EvaluationFigure.riskLevels.map { level in
            let figure = EvaluationFigure.risk(level, of: group)
            return report.overall.value(figure).leftPadding(to: 18)
              + report.overall.interval(figure).leftPadding(to: 17)
          }.joined()
      } + leftOut
  }

  /// `akiec, bcc, mel`, or in words where they are many.
  fileprivate static func malignantNames(_ labels: Labels) -> String {
    let malignant = labels.filter { $0.malignancy.map { $0 != .benign } ?? false }
    return malignant.count <= 6
      ? malignant.map(\.id.printable).joined(separator: ", ") : "the malignant classes"
  }

  private var confusionLines: [String] {
    let labels = report.labels
    let title = "Confusion matrix: labels down, predictions across"
    guard labels.count <= Self.matrixClassCount else {
      return ["\(title); of \(labels.count) classes only --format json has it"]
    }
    let names = labels.ids.map(\.printable)
    let width = idWidth(8, Array(labels))
    let cell = { (text: String) in text.leftPadding(to: max(7, width)) }
    return [title, String(repeating: " ", count: width) + names.map(cell).joined()]
      + zip(names, report.set.confusionMatrix()).map { name, row in
        name.padding(to: width) + row.map { cell(String($0)) }.joined()
      }
  }

  private var subgroupLines: [String] {
    let groupingWidth = 2 + (report.subgroups.map(\.grouping.rawValue.count).max() ?? 0)
    let nameWidth = 2 + (report.subgroups.flatMap(\.groups).map(\.name.printable.count).max() ?? 0)
    var lines = [
      "Subgroups (fewer than \(EvaluationReport.sufficientCount) images: insufficient)",
      "".padding(to: groupingWidth + nameWidth) + "n".leftPadding(to: 6) + "classes".leftPadding(to: 9)
        + "  balanced accuracy".padding(to: 30)
        + (report.labels.melanoma == nil
          ? "macro AUROC" : "macro AUROC".padding(to: 28) + "melanoma sensitivity"),
    ]
    for (grouping, groups) in report.subgroups {
      for group in groups {
        let start =
          grouping.rawValue.padding(to: groupingWidth) + group.name.printable.padding(to: nameWidth)
          + String(group.imageCount).leftPadding(to: 6)
        guard let measurement = group.measurement else {
          lines.append(start + "  insufficient")
          continue
        }
        let cell = { (figure: EvaluationFigure) in
          "\(measurement.value(figure))  \(measurement.interval(figure))"
        }
        lines.append(
          start + String(measurement.classCount).leftPadding(to: 9) + "  "
            + cell(.balancedAccuracy).padding(to: 28)
            + (report.labels.melanoma == nil
              ? cell(.macroAUROC)
              : cell(.macroAUROC).padding(to: 28) + cell(.melanomaSensitivityAt90Specificity)))
      }
    }
    return lines
  }

  private static func row(_ title: String, value: String, interval: String) -> String {
    title.padding(to: labelColumn) + value.leftPadding(to: valueColumn)
      + interval.leftPadding(to: intervalColumn)
  }
}

extension EvaluationReport.Measurement {
  /// Four digits, or `undefined`.
  func value(_ figure: EvaluationFigure) -> String {
    figures[figure].map { $0.fixed(digits: 4) } ?? "undefined"
  }

  /// `0.71 to 0.83`, or `-` where there is none.
  func interval(_ figure: EvaluationFigure) -> String {
    intervals[figure].map { "\($0.lowerBound.fixed(digits: 3)) to \($0.upperBound.fixed(digits: 3))" } ?? "-"
  }
}

extension EvaluationFigure {
  /// For tables and plots.
  func title(_ labels: Labels) -> String {
    switch self {
    case .accuracy: "Accuracy"
    case .balancedAccuracy: "Balanced accuracy"
    case .macroAUROC: "Macro AUROC"
    case .melanomaSensitivityAt90Specificity: "Melanoma sensitivity at 90 % specificity"
    case .malignantAUROC: "Malignant AUROC (\(EvaluationOutput.malignantNames(labels)))"
    case .expectedCalibrationError: "Expected calibration error"
    case .negativeLogLikelihood: "Negative log-likelihood"
    case .meanProbability(let index): "Mean probability of \(labels[index].id)"
    case .recall(let index): "Recall of \(labels[index].id)"
    case .precision(let index): "Precision of \(labels[index].id)"
    case .auroc(let index): "AUROC of \(labels[index].id)"
    case .risk(let level, .malignant): "Risk \(level.rawValue) of \(EvaluationOutput.malignantNames(labels))"
    case .risk(let level, .benign): "Risk \(level.rawValue) of the others"
    case .risk(let level, .label(let index)): "Risk \(level.rawValue) of \(labels[index].id)"
    }
  }
}
