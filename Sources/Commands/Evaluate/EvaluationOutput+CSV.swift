import DermaFusion
import Evaluation

/// The figures as a table in long form: a line for each figure of all images, of each class and of each subgroup.
extension EvaluationOutput {
  func csv(isForTerminal: Bool) -> (header: String, rows: String) {
    let line = { ClassificationCSV.line($0, isForTerminal: isForTerminal) }
    let header = line(["grouping", "group", "class", "figure", "value", "ci_low", "ci_high", "n"])
    var rows = figures(of: report.overall, count: report.overall.imageCount, grouping: "all", group: "all")
    for label in report.labels {
      let named: [(String, EvaluationFigure)] = [
        ("recall", .recall(label.index)), ("precision", .precision(label.index)),
        ("auroc", .auroc(label.index)), ("meanProbability", .meanProbability(label.index)),
      ]
      rows += named.map { name, figure in
        ["all", "all", label.id, name] + cells(figure, of: report.overall) + ["\(report.imageCount(label))"]
      }
    }
    for (grouping, groups) in report.subgroups {
      for group in groups {
        rows += figures(
          of: group.measurement, count: group.imageCount, grouping: grouping.name, group: group.name)
      }
    }
    return (header, rows.map(line).joined())
  }

  /// - Parameter measurement: `nil` for a group of too few images, whose values are empty.
  private func figures(
    of measurement: EvaluationReport.Measurement?, count: Int, grouping: String, group: String
  ) -> [[String]] {
    EvaluationFigure.overallNames.map { name, figure in
      [grouping, group, "", name] + cells(figure, of: measurement) + ["\(count)"]
    }
  }

  /// The value and the ends of its interval; what is undefined is empty.
  private func cells(_ figure: EvaluationFigure, of measurement: EvaluationReport.Measurement?) -> [String] {
    let interval = measurement?.intervals[figure]
    return [measurement?.figures[figure], interval?.lowerBound, interval?.upperBound]
      .map { $0?.description ?? "" }
  }
}
