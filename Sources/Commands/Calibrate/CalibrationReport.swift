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
  /// Those of the fit.
  let images: [ModelCalibration.Image]
  /// The type of the last layer's bias, `F16` for instance.
  let biasType: String
  let present: ModelCalibration
  /// With ``CalibrationComparison/fittedParts``.
  let fitted: ModelCalibration
  let comparison: CalibrationComparison
  /// Lesions that the model was selected or calibrated on before.
  let calibratedBefore: Int
  /// The other images that the model has seen.
  var byPixels = PixelOverlap()

  /// Images of each class.
  var imageCounts: [Int] { labels.map { label in images.count { $0.label.index == label.index } } }
  var lesionCount: Int { NameGroups(images.map(\.lesion)).count }
  var units: [ChanceUnit] { images.map(\.unit) }
  var unitCount: Int { NameGroups(units).count }
  /// As in "by lesion".
  var drawn: String { ChanceUnit.drawn(units).singular }
  /// ``drawn``, or all kinds of units if they are of several.
  var judgedUnits: String {
    let words = ChanceUnit.words(units)
    return words == ChanceUnit.drawn(units).rawValue ? drawn : words
  }

  /// Remarks that come before the metrics.
  var notes: [String] {
    var notes: [String] = []
    if biasType != "F32" {
      notes.append(
        "The bias is stored as \(biasType == "F16" ? "float16" : "bfloat16") and was rounded to it; the other values were fitted to the rounded bias."
      )
    }
    if !units.contains(where: { $0.kind == .patients }) {
      notes.append(
        "The table names no patients (column patient_id), so folds and intervals are by \(drawn). If patients have several lesions, the intervals are too narrow."
      )
    }
    if present.limits == nil {
      notes.append("The model was not fitted to abstain: it has no sets and no limit of the distance to fit.")
    }
    if let leftOut = byPixels.leftOut { notes.append(leftOut) }
    if calibratedBefore > 0 {
      notes.append(
        "The model was selected or calibrated on \(calibratedBefore) of these lesions before: the figures before may be too good."
      )
    }
    if let selected = byPixels.selected {
      notes.append("\(selected): the figures before may be too good.")
    }
    notes += classNotes
    if fitted.fit.isAtLimit {
      notes.append("The temperature \(fitted.fit.temperature) is the last that the weighted fit tries.")
    }
    return notes
  }

  /// On classes that the images tell too little of.
  private var classNotes: [String] {
    let absent = zip(labels, imageCounts).filter { $1 == 0 }.map(\.0.id)
    let few = zip(labels, ClassUnits(images).counts)
      .filter { (1..<ClassUnits.leastCount).contains($1) }.map { "\($0.id) (\($1))" }
    var notes: [String] = []
    if !absent.isEmpty {
      notes.append("No photograph shows \(absent.quotedList): its bias and threshold stay as they are.")
    }
    if present.limits != nil, !few.isEmpty {
      notes.append(
        "Fewer than \(ClassUnits.leastCount) \(ChanceUnit.drawn(units).rawValue) cannot tell the threshold of a class, which stays as it is: \(few.joined(separator: ", "))."
      )
    }
    if let limits = fitted.limits, limits.coverageByClass.contains(nil) {
      let names = zip(labels, limits.coverageByClass).filter { $1 == nil }.map(\.0.id)
      notes.append(
        "The share of sets that hold the right class is not known for \(names.quotedList), so results have no conformalCoverage."
      )
    }
    return notes
  }

  /// True if a part of the fit is better, and the parts that are, in one sentence.
  var verdict: String {
    let better = comparison.verdicts.filter(\.isBetter).map(\.part.words)
    let others = comparison.verdicts.filter { !$0.isBetter }.map(\.part.words)
    if better.isEmpty {
      return
        "No better than before: \(others.joined(separator: ", ")) fitted to these images are no better beyond chance."
    }
    let rest = others.isEmpty ? "" : "; no better beyond chance: \(others.joined(separator: ", "))"
    return "Better than before: \(better.joined(separator: ", "))\(rest)."
  }

  /// As it stands in config.json.
  var record: JSONValue { .object(members + [("notes", .strings(notes))]) }

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
    return JSONValue.members([
      "calibratedFrom": origin.json, "n": .integer(images.count), "lesions": .integer(lesionCount),
      "counts": byClass(imageCounts.map { .integer($0) }),
      "fitted": .object([
        "temperature": .number(fitted.fit.temperature),
        "bias": byClass(fitted.fit.bias.map { .number($0) }), "biasType": .string(biasType),
        "lastLayer": .bool(fitted.fit.change != nil),
        "thresholds": limits.map { byClass($0.thresholds.map { .number($0) }) } ?? .null,
        "distance": limits.map { .number($0.distance) } ?? .null,
      ]),
      ModelConfiguration.Abstention.Conformal.coverageByClassKey: limits?.coverageByClass(labels.ids)
        ?? .null,
      "folds": .integer(CalibrationComparison.foldCount), "bootstrap": Bootstrap.json(units),
      "before": metrics(\.before), "afterCrossFitted": metrics(\.after), "difference": metrics(\.difference),
      "kept": .strings(keptParts.map(\.rawValue)), "parts": .array(comparison.verdicts.map(\.json)),
      "verdict": .string(verdict),
    ])
  }

  /// In the order in which they were judged.
  var keptParts: [CalibrationPart] { comparison.verdicts.map(\.part).filter(comparison.kept.contains) }

  private func metrics(_ column: (CalibrationComparison.Row) -> MeasuredValue) -> JSONValue {
    .object(comparison.rows.flatMap { column($0).members($0.metric.key) })
  }
}

extension CalibrationPart {
  /// In a sentence.
  fileprivate var words: String { names.inSentence }
  fileprivate var title: String { names.ofRow }

  private var names: (inSentence: String, ofRow: String) {
    switch self {
    case .probabilities: ("bias and temperature", "Bias, temp.")
    case .lastLayer: ("the last layer", "Last layer")
    case .sets: ("the sets", "Sets")
    case .distance: ("the limit of the distance", "Distance")
    }
  }
}

extension CalibrationVerdict {
  fileprivate var json: JSONValue {
    .object(
      [("part", .string(part.rawValue)), ("figure", .string(figure.key))]
        + before.members("before") + after.members("after") + difference.members("difference") + [
          ("differenceUpperBound", upperBound.map { .number($0) } ?? .null),
          ("worse", .strings(worse.map(\.key))), ("setGrowth", growth.map { .number($0) } ?? .null),
          ("better", .bool(isBetter)),
          ("unitsToDecide", decidingUnitCount.map { .integer($0) } ?? .null),
        ])
  }

  /// The figures and what follows from them.
  ///
  /// - Parameter units: what was drawn, `lesions` for instance.
  fileprivate func sentence(units: String) -> String {
    let figures =
      "\(figure.title.prefix(1).lowercased())\(figure.title.dropFirst()) \(before.value.words(digits: 3)) before, \(after.value.words(digits: 3)) after"
    let bound = upperBound.map { "; the change is at most \($0.fixed(digits: 3)) with 95 % confidence" } ?? ""
    var faults: [String] = []
    if !isLower { faults.append("not lower beyond chance") }
    if !worse.isEmpty {
      faults.append("worse: \(worse.map { $0.title.lowercased() }.joined(separator: ", "))")
    }
    if let growth, growth > Self.mostGrowth {
      faults.append("the sets are larger by \(growth.fixed(digits: 2)) classes, more than \(Self.mostGrowth)")
    }
    let deciding = decidingUnitCount.map { "; about \($0) \(units) would decide" } ?? ""
    return (faults.isEmpty ? "better" : "no better") + ": " + figures + bound
      + (faults.isEmpty ? "" : "; " + faults.joined(separator: "; ")) + deciding + "."
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
      \(origin.name) \(origin.version) (SHA-256 `\(origin.sha256)`), fitted to \(images.count) photographs of \
      \(lesionCount) lesions by `dermafusion calibrate`. The weights are those of that model but for the \
      \(fitted.fit.change == nil ? "bias" : "bias and the weights") of the last layer. What that model is for, its data, its limits and its licence hold here too: see the card (README.md) and the \
      licence in its folder, `\(folder)` when this was written.
      """, "", "> \(Wording.disclaimer)", "", "## What was fitted", "",
      "- Parts that were kept: \(keptParts.map(\.words).joined(separator: ", ")). All else is that model's.",
      "- Photographs of each class: \(counts).",
      "- Temperature: \(fitted.fit.temperature), before \(present.fit.temperature).",
      "- Bias added to each class's logit: \(bias).",
    ]
    if let limits = fitted.limits, let before = present.limits {
      let thresholds = zip(labels.ids, limits.thresholds).map { "\($0) \($1)" }
      let shares = zip(labels.ids, limits.coverageByClass).map {
        "\($0) \($1.map { "\($0)" } ?? "not known")"
      }
      let outer = limits.outerTenth.map { " Nine in ten photographs keep to \($0)." } ?? ""
      lines += [
        "- Probabilities from which a class is in the \((limits.coverage * 100).fixed(digits: 0)) % set: \(thresholds.joined(separator: ", ")).",
        "- Share of each class's photographs whose set holds it (`conformalCoverageByClass`): \(shares.joined(separator: ", ")).",
        "- Distance of the features beyond which the model abstains: \(limits.distance), before \(before.distance).\(outer)",
      ]
    }
    lines += notes.map { "- \($0)" }
    lines += ["", "## Before and after", "", verdict, ""]
    lines += comparison.verdicts.map {
      "- \($0.part.title): \($0.sentence(units: ChanceUnit.drawn(units).rawValue))"
    }
    lines += [
      "",
      """
      On these photographs, with 95 % intervals by \(drawn). The figures after are cross-fitted: each \(drawn) is judged by a \
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
    let kept = report.keptParts.map(\.words).joined(separator: ", ")
    let head =
      [
        ("Model", report.origin.words),
        (
          "Written",
          written.map { "\($0.model.words), in \($0.folder.printable)" } ?? "nothing; the old model was kept"
        ),
        (
          "Images",
          "\(report.images.count) of \(report.listedCount), of \(report.lesionCount) lesions; judged by \(report.judgedUnits) (\(report.unitCount))"
        ),
        ("Temperature", "\(report.fitted.fit.temperature) instead of \(report.present.fit.temperature)"),
        (
          "Bias",
          zip(report.labels.ids, report.fitted.fit.bias)
            .map { "\($0.printable) \($1 < 0 ? "" : "+")\($1.fixed(digits: 3))" }.joined(separator: ", ")
        ),
      ] + report.notes.map { ("Note", $0) }
      + report.comparison.verdicts.map {
        ($0.part.title, $0.sentence(units: ChanceUnit.drawn(report.units).rawValue))
      } + [("Kept", kept.isEmpty ? "nothing" : kept), ("Verdict", report.verdict)]
    var lines = head.map { $0.1.labelled($0.0, column: 13, width: width) }
    lines += [""] + table.lines(width: width)
    let after = report.comparison.kept.isEmpty ? "all parts" : "the parts that were kept"
    lines += [
      "",
      "The figures after are those of \(after), cross-fitted; in brackets 95 % intervals by \(report.drawn). A model that is written is fitted to all images."
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
