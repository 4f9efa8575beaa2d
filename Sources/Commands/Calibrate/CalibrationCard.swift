import DermaFusion
import Evaluation
import Files

/// The README.md of a model that was fitted.
struct CalibrationCard {
  let report: CalibrationReport
  /// The new model.
  let model: ModelIdentity
  /// Of the model that was fitted.
  let folder: String

  var text: String {
    let origin = report.origin
    let counts = zip(report.labels.ids, report.imageCounts).map { "\($0) \($1)" }.joined(separator: ", ")
    let bias = zip(report.labels.ids, report.fitted.fit.bias)
      .map { "\($0) \($1.fixed(digits: 4))" }.joined(separator: ", ")
    var lines = [
      "# \(model.name) \(model.version)", "",
      """
      \(origin.name) \(origin.version) (SHA-256 `\(origin.sha256)`), fitted to \(report.imageCount) photographs of \
      \(report.lesionCount) lesions by `dermafusion calibrate`. The weights are those of that model but for the bias of the last \
      layer. What that model is for, its data, its limits and its licence hold here too: see the card (README.md) and the \
      licence in its folder, `\(folder)` when this was written.
      """, "", "> \(Wording.disclaimer)", "", "## What was fitted", "",
      "- Photographs of each class: \(counts).",
      "- Temperature: \(report.fitted.fit.temperature), before \(report.present.fit.temperature).",
      "- Bias added to each class's logit: \(bias).",
    ]
    if let limits = report.fitted.limits, let before = report.present.limits {
      let thresholds = zip(report.labels.ids, limits.thresholds).map { "\($0) \($1)" }
      lines += [
        "- Probabilities from which a class is in the \((limits.coverage * 100).fixed(digits: 0)) % set: \(thresholds.joined(separator: ", ")).",
        "- Distance of the features beyond which the model abstains: \(limits.distance), before \(before.distance).",
      ]
    }
    lines += report.notes.map { "- \($0)" }
    lines += [
      "", "## Before and after", "",
      """
      On these photographs, with 95 % intervals by lesion. The figures after are cross-fitted: each lesion is judged by a \
      fit to the other folds of \(CalibrationComparison.foldCount). They say nothing about photographs of other cameras, clinics \
      or patients.
      """, "", "| | before | after | difference |", "|---|---|---|---|",
    ]
    lines += report.comparison.rows.map {
      "| \($0.figure.title) | \($0.before.words) | \($0.after.words) | \($0.difference.words) |"
    }
    return lines.joined(separator: "\n") + "\n"
  }
}
