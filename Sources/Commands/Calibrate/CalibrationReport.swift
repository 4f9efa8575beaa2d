import DermaFusion
import Evaluation
import Files

/// The images of a fit, its outcome, and the metrics before and after.
struct CalibrationReport {
  /// The model that was fitted.
  let origin: ModelIdentity
  let labels: Labels
  /// Images of the table, of which some may have failed.
  let listedCount: Int
  /// Images of each class.
  let imageCounts: [Int]
  let lesionCount: Int
  /// Of the last layer's bias, `F16` for instance.
  let biasType: String
  let present: ModelCalibration
  let fitted: ModelCalibration
  let comparison: CalibrationComparison
  /// Lesions that the model was selected or calibrated on before.
  let calibratedBefore: Int

  var imageCount: Int { imageCounts.reduce(0, +) }

  /// Remarks that come before the metrics.
  var notes: [String] {
    var notes: [String] = []
    if biasType != "F32" {
      notes.append(
        "The bias is stored as \(biasType == "F16" ? "float16" : "bfloat16") and was rounded to it; the other values were fitted to the rounded bias."
      )
    }
    if present.limits == nil {
      notes.append("The model was not fitted to abstain: it has no sets and no limit of the distance to fit.")
    }
    if calibratedBefore > 0 {
      notes.append(
        "The model was selected or calibrated on \(calibratedBefore) of these lesions before: the figures before may be too good."
      )
    }
    let absent = zip(labels, imageCounts).filter { $1 == 0 }.map(\.0.id)
    if !absent.isEmpty {
      notes.append("No photograph shows \(absent.quotedList): its bias and threshold stay as they are.")
    }
    let few = zip(labels, imageCounts).filter { (1..<Self.setCount).contains($1) }.map { "\($0.id) (\($1))" }
    if present.limits != nil, !few.isEmpty {
      notes.append(
        "Fewer than \(Self.setCount) photographs cannot tell the threshold of a class, which stays as it is: \(few.joined(separator: ", "))."
      )
    }
    if fitted.fit.isAtLimit {
      notes.append("The temperature \(fitted.fit.temperature) is the last that the weighted fit tries.")
    }
    return notes
  }

  /// The fewest images of a class from which the threshold of its sets can be told.
  static let setCount = 9

  /// Whether the fit is better, in one sentence.
  var verdict: String {
    let (before, after, difference) = (
      comparison.logLoss.before, comparison.logLoss.after, comparison.logLoss.difference
    )
    let change = difference.interval.map { " (95 % interval of the change: \($0.words(digits: 3)))" } ?? ""
    let values = "\(before.value.words(digits: 3)) before, \(after.value.words(digits: 3)) after\(change)"
    return comparison.isBetter
      ? "Better than before: the cross-fitted negative log-likelihood fell, \(values)."
      : "No better than before: the cross-fitted negative log-likelihood is not lower beyond chance, \(values)."
  }

  /// As it stands in config.json.
  var record: JSONValue { .object(members) }

  /// The name of the new model in results.
  func identity(configuration: [UInt8], weights: [UInt8]) -> ModelIdentity {
    let suffix = CalibratedModel.versionSuffix
    return ModelIdentity(
      name: origin.name, version: origin.version.hasSuffix(suffix) ? origin.version : origin.version + suffix,
      sha256: CalibratedModel.identity(configuration: configuration, weights: weights))
  }

  fileprivate var members: [(key: String, value: JSONValue)] {
    func byClass(_ values: [JSONValue]) -> JSONValue {
      .object(zip(labels.ids, values).map { (key: $0, value: $1) })
    }
    let limits = fitted.limits
    return [
      ("calibratedFrom", origin.json), ("n", .integer(imageCount)), ("lesions", .integer(lesionCount)),
      ("counts", byClass(imageCounts.map { .integer($0) })),
      (
        "fitted",
        .object([
          "temperature": .number(fitted.fit.temperature),
          "bias": byClass(fitted.fit.bias.map { .number($0) }), "biasType": .string(biasType),
          "lastLayer": .bool(fitted.fit.change != nil),
          "thresholds": limits.map { byClass($0.thresholds.map { .number($0) }) } ?? .null,
          "distance": limits.map { .number($0.distance) } ?? .null,
        ])
      ),
      ("folds", .integer(CalibrationComparison.foldCount)),
      ("before", metrics(\.before)), ("afterCrossFitted", metrics(\.after)),
      ("difference", metrics(\.difference)), ("verdict", .string(verdict)),
    ]
  }

  private func metrics(_ column: (CalibrationComparison.Row) -> MeasuredValue) -> JSONValue {
    .object(comparison.rows.flatMap { column($0).members($0.metric.key) })
  }
}

extension MeasuredValue {
  /// `0.793 (0.740 to 0.852)`
  fileprivate var words: String {
    value.words(digits: 3) + (interval.map { " (\($0.words(digits: 3)))" } ?? "")
  }
}

extension CalibrationReport {
  /// The README.md of the new model.
  ///
  /// - Parameter folder: of the model that was fitted.
  func card(of model: ModelIdentity, from folder: String) -> String {
    let counts = zip(labels.ids, imageCounts).map { "\($0) \($1)" }.joined(separator: ", ")
    let bias = zip(labels.ids, fitted.fit.bias)
      .map { "\($0) \($1.fixed(digits: 4))" }.joined(separator: ", ")
    var lines = [
      "# \(model.name) \(model.version)", "",
      """
      \(origin.name) \(origin.version) (SHA-256 `\(origin.sha256)`), fitted to \(imageCount) photographs of \
      \(lesionCount) lesions by `dermafusion calibrate`. The weights are those of that model but for the \
      \(fitted.fit.change == nil ? "bias" : "bias and the weights") of the last layer. What that model is for, its data, its limits and its licence hold here too: see the card (README.md) and the \
      licence in its folder, `\(folder)` when this was written.
      """, "", "> \(Wording.disclaimer)", "", "## What was fitted", "",
      "- Photographs of each class: \(counts).",
      "- Temperature: \(fitted.fit.temperature), before \(present.fit.temperature).",
      "- Bias added to each class's logit: \(bias).",
    ]
    if let limits = fitted.limits, let before = present.limits {
      let thresholds = zip(labels.ids, limits.thresholds).map { "\($0) \($1)" }
      lines += [
        "- Probabilities from which a class is in the \((limits.coverage * 100).fixed(digits: 0)) % set: \(thresholds.joined(separator: ", ")).",
        "- Distance of the features beyond which the model abstains: \(limits.distance), before \(before.distance). Nine in ten of these photographs keep to \(limits.outerTenth ?? limits.distance).",
      ]
    }
    lines += notes.map { "- \($0)" }
    lines += [
      "", "## Before and after", "", verdict, "",
      """
      On these photographs, with 95 % intervals by lesion. The figures after are cross-fitted: each lesion is judged by a \
      fit to the other folds of \(CalibrationComparison.foldCount). They say nothing about photographs of other cameras, clinics \
      or patients.
      """, "", "| | before | after | difference |", "|---|---|---|---|",
    ]
    lines += comparison.rows.map {
      "| \($0.metric.title) | \($0.before.words) | \($0.after.words) | \($0.difference.words) |"
    }
    return lines.joined(separator: "\n") + "\n"
  }
}

/// The command's last sentences.
struct CalibrationOutput: PlainReport {
  let report: CalibrationReport
  /// The new model and where it lies; `nil` where none was written.
  let written: (model: ModelIdentity, folder: String)?

  var members: [(key: String, value: JSONValue)] {
    [
      ("model", written?.model.json ?? .null), ("folder", written.map { .string($0.folder) } ?? .null),
      ("listed", .integer(report.listedCount)),
    ] + report.members + [("notes", .strings(report.notes))]
  }

  func lines(width: Int?) -> [String] {
    let head =
      [
        ("Model", report.origin.words),
        (
          "Written",
          written.map { "\($0.model.words), in \($0.folder.printable)" } ?? "nothing; the old model was kept"
        ),
        ("Images", "\(report.imageCount) of \(report.listedCount), of \(report.lesionCount) lesions"),
        ("Temperature", "\(report.fitted.fit.temperature) instead of \(report.present.fit.temperature)"),
        (
          "Bias",
          zip(report.labels.ids, report.fitted.fit.bias)
            .map { "\($0.printable) \($1 < 0 ? "" : "+")\($1.fixed(digits: 3))" }.joined(separator: ", ")
        ),
      ] + report.notes.map { ("Note", $0) } + [("Verdict", report.verdict)]
    var lines = head.map { $0.1.labelled($0.0, column: 13, width: width) }
    lines += [""] + table.lines(width: width)
    lines += [
      "",
      "The figures after are cross-fitted; in brackets 95 % intervals by lesion. A model that is written is fitted to all images."
        .wrapped(width: width, indent: 0),
    ]
    return lines
  }

  private var table: TextTable {
    let rows = report.comparison.rows
    return TextTable(
      names: .left(least: 28, rows.map(\.metric.title)),
      columns: [
        .left("before", least: 28, rows.map(\.before.words)),
        .left("after", least: 28, rows.map(\.after.words)),
        .left("difference", least: 28, rows.map(\.difference.words)),
      ])
  }
}
