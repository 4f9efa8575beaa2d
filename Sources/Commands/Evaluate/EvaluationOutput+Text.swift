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
    lines += [""] + metricLines("", overall, width)
    if let validation = report.validation {
      lines += [""] + metricLines("By \(TestList.validationColumn)", validation, width)
    }
    if let unseen = report.unseen {
      lines += [""] + metricLines("\(unseen.imageCount) images of lesions not trained on", unseen, width)
    }
    lines += [""] + abstentionLines(width) + [""] + classTable.lines(width: width) + leftOutClasses(width)
    if report.labels.tellMalignancy { lines += [""] + riskTable.lines(width: width) + leftOutClasses(width) }
    lines += [""] + confusionLines(width)
    return lines + [""] + subgroupLines(width)
  }

  private func metricLines(
    _ heading: String, _ measurement: EvaluationReport.Measurement, _ width: Int?
  ) -> [String] {
    [Self.row(heading, value: "value", interval: "95 % interval", width: width)]
      + Metric.overall.filter { $0.applies(to: report.labels) }.map { metric in
        let measured = measurement[metric]
        return Self.row(
          metric.title(report.labels), value: measured.text, interval: measured.intervalText, width: width)
      }
  }

  /// The share of abstentions and, for a model that makes sets, the sizes of these.
  private func abstentionLines(_ width: Int?) -> [String] {
    let values = report.abstention
    let stated = values[.statedCoverage].map { "\(Int(($0 * 100).rounded())) % " }
    return Metric.abstention.compactMap { metric in
      if metric == .statedCoverage || (values[metric] == nil && [.coverage, .meanSetSize].contains(metric)) {
        return nil
      }
      let title = metric == .coverage ? "Coverage of the \(stated ?? "")sets" : metric.title
      return Self.row(title, value: values[metric].words(digits: 4), interval: "", width: width)
    }
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

  /// A metric of several rows with its intervals, never parted.
  private static func columns(
    _ title: String, widths: (value: Int, interval: Int), _ cells: [MeasuredValue]
  ) -> TextTable.Column {
    .right(title, widths.value, cells.map(\.text))
      + .right("95 % interval", widths.interval, cells.map(\.intervalText))
  }

  private var classTable: TextTable {
    let labels = shownClasses
    let counts: TextTable.Column =
      .right("n", 6, labels.map { "\(report.imageCount($0))" })
      + .right("expected", 10, labels.map(expectedCount))
    return TextTable(
      names: .left("class", least: 8, labels.map(\.id.printable)),
      columns: [counts]
        + Metric.perClass.map { metric in
          Self.columns(
            metric(0).title, widths: (max(11, metric(0).title.count + 2), 17),
            labels.map { report.overall[metric($0.index)] })
        })
  }

  /// The sum of the class's probabilities: as many images as it would have if they were right.
  private func expectedCount(_ label: LesionLabel) -> String {
    let share = report.overall.values[.meanProbability(label.index)] ?? 0
    return (share * Double(report.overall.imageCount)).fixed(digits: 1)
  }

  private var riskTable: TextTable {
    let groups: [(name: String, group: Metric.RiskGroup)] =
      [(report.labels.malignantNames, .malignant), ("the others", .benign)]
      + shownClasses.map { ($0.id.printable, .label($0.index)) }
    return TextTable(
      names: .left("share at risk", least: 17, groups.map(\.name)),
      columns: zip(["moderate or high", "high"], Metric.riskLevels).map { title, level in
        Self.columns(title, widths: (18, 17), groups.map { report.overall[.risk(level, of: $0.group)] })
      })
  }

  private func confusionLines(_ width: Int?) -> [String] {
    let labels = report.labels
    let title = "Confusion matrix: labels down, predictions across"
    guard labels.count <= Self.matrixClassCount else {
      return "\(title); of \(labels.count) classes only --format json has it".wrapped(width: width, indent: 0)
        .split(separator: "\n").map(String.init)
    }
    let names = labels.ids.map(\.printable)
    let cellWidth = max(8, (names.map(\.count).max() ?? 0) + 1)
    let matrix = report.set.confusionMatrix()
    let table = TextTable(
      names: .left(least: cellWidth, names),
      columns: names.indices.map { column in
        .right(names[column], cellWidth, matrix.map { "\($0[column])" })
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
    let metrics = Metric.overall.filter { $0.subgroupTitle != nil && $0.applies(to: report.labels) }
    let counts: TextTable.Column =
      .right("n", 6, groups.map { "\($0.group.imageCount)" })
      + .right(
        "classes", 9,
        groups.map { $0.group.measurement.map { "\($0.classCount)" } ?? "  insufficient" })
    let table = TextTable(
      names: .left(gap: 2, groups.map(\.grouping)) + .left(gap: 2, names),
      columns: [counts]
        + metrics.map { metric in
          let cells = groups.map { _, group in
            group.measurement.map { "  \($0[metric].text)  \($0[metric].intervalText)" } ?? ""
          }
          return .left("  \(metric.subgroupTitle ?? "")", least: Self.subgroupCellWidth + 2, cells)
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

extension MeasuredValue {
  /// Four digits, or `undefined`.
  var text: String { value.words(digits: 4) }

  /// `0.710 to 0.830`, or `-` where there is none.
  var intervalText: String { interval?.words(digits: 3) ?? "-" }
}

extension Double? {
  /// So many digits after the point, or `undefined`.
  func words(digits: Int) -> String { map { $0.fixed(digits: digits) } ?? "undefined" }
}

extension ClosedRange<Double> {
  /// `0.710 to 0.830`
  func words(digits: Int) -> String {
    "\(lowerBound.fixed(digits: digits)) to \(upperBound.fixed(digits: digits))"
  }
}

extension Metric {
  /// With the classes that count as malignant where it is about those.
  func title(_ labels: Labels) -> String {
    need == .malignancy ? "\(title) (\(labels.malignantNames))" : title
  }
}

extension Labels {
  /// `akiec, bcc, mel`, or in words where they are many.
  fileprivate var malignantNames: String {
    let malignant = filter { $0.malignancy.map { $0 != .benign } ?? false }
    return malignant.count <= 6
      ? malignant.map(\.id.printable).joined(separator: ", ") : "the malignant classes"
  }
}
