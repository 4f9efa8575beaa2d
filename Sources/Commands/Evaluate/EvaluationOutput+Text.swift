import DermaFusion
import Evaluation

/// The report as a person reads it.
extension EvaluationOutput {
  private static let labelColumn = 42
  private static let valueColumn = 8
  private static let intervalColumn = 18

  func lines(width: Int?) -> [String] {
    let overall = report.overall
    let head = [
      ("Model", model.words),
      ("Images", "\(overall.imageCount) of \(listedCount) evaluated, of \(overall.lesionCount) lesions"),
    ]
    var lines = (head + notes).map { note in note.text.labelled(note.label, column: 17, width: width) }
    lines += ["", Self.row("", value: "value", interval: "95 % interval", width: width)]
    lines += EvaluationFigure.overall(report.labels).map { figure in
      Self.row(
        figure.title(report.labels), value: overall.value(figure), interval: overall.interval(figure),
        width: width)
    }
    lines += [""] + abstentionLines(width) + [""] + classTable.lines(width: width) + leftOutClasses(width)
    if report.labels.tellMalignancy { lines += [""] + riskTable.lines(width: width) + leftOutClasses(width) }
    lines += [""] + confusionLines(width)
    return lines + [""] + subgroupLines(width)
  }

  private func abstentionLines(_ width: Int?) -> [String] {
    let figures = report.abstention
    func row(_ title: String, _ value: Double?) -> String {
      Self.row(
        title, value: value.map { $0.fixed(digits: 4) } ?? "undefined", interval: "",
        width: width)
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
  private var shownClasses: [LesionLabel] { largestClasses(Self.shownClassCount) }

  /// The classes with the most images, in the order of the classes.
  func largestClasses(_ count: Int) -> [LesionLabel] {
    report.labels.sorted { (report.imageCount($0), -$0.index) > (report.imageCount($1), -$1.index) }
      .prefix(count).sorted { $0.index < $1.index }
  }

  private func leftOutClasses(_ width: Int?) -> [String] {
    let count = report.labels.count - shownClasses.count
    return count > 0
      ? [
        "\(count) classes with fewer images are left out; --format json has them."
          .wrapped(width: width, indent: 0)
      ] : []
  }

  private func idWidth(_ least: Int, _ labels: [LesionLabel]) -> Int {
    max(least, (labels.map(\.id.printable.count).max() ?? 0) + 1)
  }

  /// A figure with its interval, as columns that stand together.
  private static func columns(
    _ title: String, widths: (value: Int, interval: Int), _ cells: [(value: String, interval: String)]
  ) -> TextTable.Column {
    let cell = { (value: String, interval: String) in
      value.leftPadding(to: widths.value) + interval.leftPadding(to: widths.interval)
    }
    return TextTable.Column(heading: cell(title, "95 % interval"), cells: cells.map(cell))
  }

  private var classTable: TextTable {
    let labels = shownClasses
    let width = idWidth(8, labels)
    let figures: [(String, (LesionLabel) -> EvaluationFigure)] = [
      ("recall", { .recall($0.index) }), ("precision", { .precision($0.index) }),
      ("AUROC", { .auroc($0.index) }),
    ]
    return TextTable(
      names: TextTable.Column(
        heading: "class".padding(to: width), cells: labels.map { $0.id.printable.padding(to: width) }),
      columns: [
        TextTable.Column(
          heading: "n".leftPadding(to: 6) + "expected".leftPadding(to: 10),
          cells: labels.map {
            String(report.imageCount($0)).leftPadding(to: 6) + expectedCount($0).leftPadding(to: 10)
          })
      ]
        + figures.map { title, figure in
          Self.columns(
            title, widths: (11, 17),
            labels.map { (report.overall.value(figure($0)), report.overall.interval(figure($0))) })
        })
  }

  /// The sum of the class's probabilities: as many images as it would have if they were right.
  private func expectedCount(_ label: LesionLabel) -> String {
    let share = report.overall.figures[.meanProbability(label.index)] ?? 0
    return (share * Double(report.overall.imageCount)).fixed(digits: 1)
  }

  private var riskTable: TextTable {
    let groups: [(name: String, group: EvaluationFigure.RiskGroup)] =
      [(Self.malignantNames(report.labels), .malignant), ("the others", .benign)]
      + shownClasses.map { ($0.id.printable, .label($0.index)) }
    let width = max(17, (groups.map(\.name.count).max() ?? 0) + 1)
    return TextTable(
      names: TextTable.Column(
        heading: "share at risk".padding(to: width), cells: groups.map { $0.name.padding(to: width) }),
      columns: zip(["moderate or high", "high"], EvaluationFigure.riskLevels).map { title, level in
        Self.columns(
          title, widths: (18, 17),
          groups.map { _, group in
            let figure = EvaluationFigure.risk(level, of: group)
            return (report.overall.value(figure), report.overall.interval(figure))
          })
      })
  }

  /// `akiec, bcc, mel`, or in words where they are many.
  fileprivate static func malignantNames(_ labels: Labels) -> String {
    let malignant = labels.filter { $0.malignancy.map { $0 != .benign } ?? false }
    return malignant.count <= 6
      ? malignant.map(\.id.printable).joined(separator: ", ") : "the malignant classes"
  }

  private func confusionLines(_ width: Int?) -> [String] {
    let labels = report.labels
    let title = "Confusion matrix: labels down, predictions across"
    guard labels.count <= Self.matrixClassCount else {
      return "\(title); of \(labels.count) classes only --format json has it".wrapped(width: width, indent: 0)
        .split(separator: "\n").map(String.init)
    }
    let names = labels.ids.map(\.printable)
    let nameWidth = idWidth(8, Array(labels))
    let cell = { (text: String) in text.leftPadding(to: max(7, nameWidth)) }
    let matrix = report.set.confusionMatrix()
    let table = TextTable(
      names: TextTable.Column(
        heading: String(repeating: " ", count: nameWidth), cells: names.map { $0.padding(to: nameWidth) }),
      columns: names.indices.map { column in
        TextTable.Column(heading: cell(names[column]), cells: matrix.map { cell(String($0[column])) })
      })
    return [title] + table.lines(width: width)
  }

  private func subgroupLines(_ width: Int?) -> [String] {
    let groups = report.subgroups.flatMap { grouping, groups in
      groups.map { (grouping: grouping.name.printable, group: $0) }
    }
    let groupingWidth = 2 + (groups.map(\.grouping.count).max() ?? 0)
    // A source is a folder: the end of its path tells more than its beginning. Sites end alike, and have up to 15 letters.
    let room = width.map { max(16, $0 - groupingWidth - Self.subgroupCellWidth - 17) } ?? .max
    let names = groups.map { $0.group.name.printable }.map { name in
      name.count <= room ? name : "\u{2026}" + name.suffix(room - 1)
    }
    let nameWidth = 2 + (names.map(\.count).max() ?? 0)
    var figures: [(title: String, figure: EvaluationFigure)] = [
      ("balanced accuracy", .balancedAccuracy), ("macro AUROC", .macroAUROC),
    ]
    if report.labels.melanoma != nil {
      figures.append(("melanoma sensitivity", .melanomaSensitivityAt90Specificity))
    }
    let counts = TextTable.Column(
      heading: "n".leftPadding(to: 6) + "classes".leftPadding(to: 9),
      cells: groups.map { _, group in
        String(group.imageCount).leftPadding(to: 6)
          + (group.measurement.map { String($0.classCount).leftPadding(to: 9) } ?? "  insufficient")
      })
    let table = TextTable(
      names: TextTable.Column(
        heading: "".padding(to: groupingWidth + nameWidth),
        cells: zip(groups, names).map { $0.grouping.padding(to: groupingWidth) + $1.padding(to: nameWidth) }),
      columns: [counts]
        + figures.map { title, figure in
          TextTable.Column(
            heading: "  " + title.padding(to: Self.subgroupCellWidth),
            cells: groups.map { _, group in
              group.measurement.map {
                "  " + "\($0.value(figure))  \($0.interval(figure))".padding(to: Self.subgroupCellWidth)
              } ?? ""
            })
        })
    let title = "Subgroups (fewer than \(EvaluationReport.sufficientCount) images: insufficient)"
    return [title.wrapped(width: width, indent: 0)] + table.lines(width: width)
  }

  private static let subgroupCellWidth = 26

  private static func row(_ title: String, value: String, interval: String, width: Int?) -> String {
    // A title that the line has no room for goes on below its beginning.
    let room = width.map { min(labelColumn, max($0 - valueColumn - intervalColumn, 18)) } ?? labelColumn
    let titles = title.wrapped(width: room - 2, indent: 0).split(
      separator: "\n", omittingEmptySubsequences: false)
    let start = value.leftPadding(to: valueColumn)
    let cells = start + interval.leftPadding(to: valueColumn + intervalColumn - start.count)
    return ([String(titles[0]).padding(to: room) + cells] + titles.dropFirst().map { "  " + $0 })
      .joined(separator: "\n")
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
