import DermaFusion
import Files

extension EvaluationReport {
  /// The report's members in the order in which they are promised; what is undefined is null.
  package var members: [(key: String, value: JSONValue)] {
    var members: [(key: String, value: JSONValue)] = [
      ("n", .integer(overall.imageCount)), ("lesions", .integer(overall.lesionCount)),
    ]
    members += overall.members
    members.append(("abstention", abstention.json))
    members.append(
      (
        "risk",
        labels.tellMalignancy
          ? .object(EvaluationFigure.riskLevels.map { ($0.rawValue, riskJSON($0)) }) : .null
      ))
    members.append(("perClass", .object(labels.map { ($0.id, classJSON($0)) })))
    members.append(("absentClasses", .strings(absentClasses.map { $0.id })))
    members.append(
      (
        "confusionMatrix",
        .object([
          "classes": .strings(labels.ids),
          "rowsAreLabels": .array(
            set.confusionMatrix().map { .array($0.map(JSONValue.integer)) }),
        ])
      ))
    members.append(("bootstrap", LesionBootstrap.json(drawsPatients: drawsPatients)))
    members.append(
      ("subgroups", .object(subgroups.map { ($0.grouping.name, .array($0.groups.map(\.json))) })))
    return members
  }

  /// The share that reaches the level: of the malignant classes, of the others and of each class. A class with the id of one
  /// of the two groups would be a second member of that name and is left out.
  private func riskJSON(_ level: RiskLevel) -> JSONValue {
    let groups = ["malignant", "benign"]
    let members = zip(groups + labels.ids, EvaluationFigure.riskGroups(labels)).enumerated()
      .filter { $0 < groups.count || !groups.contains($1.0) }
    return .object(members.flatMap { overall.members($1.0, .risk(level, of: $1.1)) })
  }

  private func classJSON(_ label: LesionLabel) -> JSONValue {
    .object(
      [("n", .integer(imageCount(label)))]
        + overall.members("meanProbability", .meanProbability(label.index))
        + overall.members("recall", .recall(label.index))
        + overall.members("precision", .precision(label.index))
        + overall.members("auroc", .auroc(label.index)))
  }
}

extension LesionBootstrap {
  /// How the intervals were drawn.
  static func json(drawsPatients: Bool = false) -> JSONValue {
    .object([
      "level": .number(level), "resamples": .integer(resampleCount),
      "drawn": .string(drawsPatients ? "patients" : "lesions"),
      "seed": .integer(Int(seed)),
    ])
  }
}

extension EvaluationFigure {
  /// The figures over all classes as JSON names them, in the order in which they are promised.
  package static let overallNames: [(name: String, figure: EvaluationFigure)] = [
    ("accuracy", .accuracy), ("balancedAccuracy", .balancedAccuracy), ("macroAUROC", .macroAUROC),
    ("melanomaSensitivityAt90Specificity", .melanomaSensitivityAt90Specificity),
    ("malignantAUROC", .malignantAUROC), ("ece", .expectedCalibrationError),
    ("negativeLogLikelihood", .negativeLogLikelihood),
  ]
}

extension EvaluationReport.Measurement {
  fileprivate var members: [(key: String, value: JSONValue)] {
    EvaluationFigure.overallNames.flatMap { members($0, $1) }
  }

  /// A figure and, with `CI` after its name, its interval.
  fileprivate func members(
    _ name: String, _ figure: EvaluationFigure
  ) -> [(key: String, value: JSONValue)] {
    let interval = intervals[figure].map {
      JSONValue.array([.number($0.lowerBound), .number($0.upperBound)])
    }
    return [(name, figures[figure].map(JSONValue.number) ?? .null), ("\(name)CI", interval ?? .null)]
  }
}

extension EvaluationReport.Subgroup {
  fileprivate var json: JSONValue {
    let names: [(key: String, value: JSONValue)] = [
      ("name", .string(name)), ("n", .integer(imageCount)),
    ]
    guard let measurement else { return .object(names + [("status", .string("insufficient"))]) }
    return .object(
      names + [
        ("lesions", .integer(measurement.lesionCount)),
        (
          "labels",
          .object(measurement.labels.map { ($0.id, .integer(measurement.labelCounts[$0.index])) })
        ),
        ("status", .string("sufficient")),
      ] + measurement.members)
  }
}
