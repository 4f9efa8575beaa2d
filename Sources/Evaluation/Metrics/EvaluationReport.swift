import DermaFusion
import Files

/// Everything that is said of a model on a set of images.
package struct EvaluationReport: Sendable {
  /// Metrics and their intervals over some images.
  package struct Measurement: Sendable {
    package let labels: Labels
    package let imageCount: Int
    package let lesionCount: Int
    /// Images with each label, in the order of ``labels``.
    package let labelCounts: [Int]
    package let values: [Metric: Double]
    package let intervals: [Metric: ClosedRange<Double>]

    init(_ set: EvaluationSet, _ metrics: [Metric]) {
      labels = set.labels
      imageCount = set.images.count
      lesionCount = NameGroups(set.images.map(\.lesion)).count
      var counts = [Int](repeating: 0, count: set.labels.count)
      for image in set.images { counts[image.label.index] += 1 }
      labelCounts = counts
      values = set.values(of: metrics)
      intervals = set.intervals(of: metrics).filter { [values] in values[$0.key] != nil }
    }

    /// Classes that occur, over which means over classes are taken.
    package var classCount: Int { labelCounts.count { $0 > 0 } }

    package subscript(metric: Metric) -> MeasuredValue {
      MeasuredValue(value: values[metric], interval: intervals[metric])
    }
  }

  /// Images that have something in common.
  package struct Subgroup: Sendable {
    /// As people read it: `50 to 69`, `female`, `back`, a folder.
    package let name: String
    package let imageCount: Int
    /// `nil` when ``imageCount`` is under ``EvaluationReport/sufficientCount``.
    package let measurement: Measurement?
  }

  /// The property that images are grouped by.
  package enum Grouping: Sendable, Equatable {
    case age, sex, site, source
    /// The cells of the list's column of this name.
    case column(String)

    /// The way the label was confirmed, by histology for instance. Where moles are mostly followed up rather than cut out, those
    /// that look harmless are among the ones without histology.
    package static let confirmation = column("confirmation")

    /// Those that no column needs to be named for.
    package static let always: [Grouping] = [.age, .sex, .site, .source, confirmation]

    /// As results call it.
    package var name: String {
      switch self {
      case .age: "age"
      case .sex: "sex"
      case .site: "site"
      case .source: "source"
      case .column(let name): name
      }
    }
  }

  /// Subgroups of fewer images get no metrics: they would say more about chance than about the model.
  package static let sufficientCount = 20

  package let set: EvaluationSet
  package let overall: Measurement
  /// The figures of the images that ``EvaluatedImage/Weights/validation`` counts, by these weights; nil where the list has none.
  package let validation: Measurement?
  /// Without the images that the model has seen; nil if it has seen none or all.
  package let unseen: Measurement?
  /// Images of weight 0, which count in no other figure.
  package let weightlessCount: Int
  /// The values of ``Metric/abstention``.
  package let abstention: [Metric: Double]
  /// Groups with images, in an order that does not depend on that of the images; every source, even without images.
  /// Confirmation only where the images tell it.
  package let subgroups: [(grouping: Grouping, groups: [Subgroup])]

  /// - Parameters:
  ///   - images: at least one of a weight above 0.
  ///   - sources: in the order in which to list them.
  ///   - columns: of the list, to group images by besides.
  ///   - isSeen: true for an image of a lesion that the model was trained on.
  package init(
    _ listed: [EvaluatedImage], sources: [String], columns: [String] = [],
    isSeen: (EvaluatedImage) -> Bool = { _ in false }
  ) {
    set = EvaluationSet(listed)
    let images = set.images
    overall = Measurement(set, Metric.all(set.labels))
    weightlessCount = listed.count - images.count
    validation =
      listed.contains { ($0.weights.validation ?? 0) > 0 }
      ? Measurement(EvaluationSet(listed) { $0.weights.validation ?? 0 }, Metric.overall) : nil
    let others = images.filter { !isSeen($0) }
    unseen =
      others.isEmpty || others.count == images.count
      ? nil : Measurement(EvaluationSet(others), Metric.overall)
    abstention = set.values(of: Metric.abstention)
    let groupings =
      Grouping.always.filter { grouping in
        grouping != .confirmation || images.contains { grouping.group(of: $0) != Grouping.missing }
      } + columns.map { .column($0) }
    subgroups = groupings.map { grouping in
      let members = Dictionary(grouping: images, by: grouping.group)
      let names =
        switch grouping {
        case .source: sources
        case .column: members.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        case .age, .sex, .site: grouping.groups.filter { members[$0] != nil }
        }
      return (grouping, names.map { Subgroup(name: $0, images: members[$0] ?? []) })
    }
  }

  /// True if an image has another weight than 1.
  package var isWeighted: Bool { weightlessCount > 0 || hasUnequalWeights }

  /// True if an image of the ``set`` has another weight than 1.
  package var hasUnequalWeights: Bool { self.set.images.contains { $0.weights.score != 1 } }

  /// The classes of the model that was measured.
  package var labels: Labels { self.set.labels }

  /// Classes without an image; figures over all classes are over the others.
  package var absentClasses: [LesionLabel] {
    labels.filter { imageCount($0) == 0 }
  }

  package func imageCount(_ label: LesionLabel) -> Int { overall.labelCounts[label.index] }
}

extension EvaluationReport.Subgroup {
  init(name: String, images: [EvaluatedImage]) {
    self.name = name
    imageCount = images.count
    measurement =
      images.count < EvaluationReport.sufficientCount
      ? nil : EvaluationReport.Measurement(EvaluationSet(images), Metric.overall)
  }
}

extension EvaluationReport.Grouping {
  private static let ageBands: [(name: String, upperBound: Double)] = [
    ("under 30", 30), ("30 to 49", 50), ("50 to 69", 70), ("70 and over", .infinity),
  ]
  fileprivate static let missing = "missing"

  /// All groups but those that only the images know.
  fileprivate var groups: [String] {
    switch self {
    case .age: Self.ageBands.map(\.name) + [Self.missing]
    case .sex: Sex.allCases.map(\.rawValue)
    case .site: BodySite.allCases.map(\.rawValue)
    case .source, .column: []
    }
  }

  fileprivate func group(of image: EvaluatedImage) -> String {
    switch self {
    case .age:
      image.metadata.ageInYears.flatMap { age in Self.ageBands.first { age < $0.upperBound }?.name }
        ?? Self.missing
    case .sex: image.metadata.sex.rawValue
    case .site: image.metadata.site.rawValue
    case .source: image.source
    case .column(let name): image.cells[name] ?? Self.missing
    }
  }
}

// MARK: - JSON

extension EvaluationReport {
  /// The report's members in the order in which they are promised; what is undefined is null.
  package var members: [(key: String, value: JSONValue)] {
    let weights = JSONValue.object([
      "zero": .integer(weightlessCount), "sum": .number(set.images.reduce(0) { $0 + $1.weights.score }),
    ])
    let risk = labels.tellMalignancy ? Metric.riskLevels.map { ($0.rawValue, riskJSON($0)) } : nil
    return overall.allMembers
      + JSONValue.members([
        "weights": isWeighted ? weights : .null, "validation": validation?.json ?? .null,
        "abstention": .object(
          Metric.abstention.map { ($0.key, abstention[$0].map(JSONValue.number) ?? .null) }),
        "risk": risk.map { .object($0) } ?? .null,
        "perClass": .object(labels.map { ($0.id, classJSON($0)) }),
        "absentClasses": .strings(absentClasses.map { $0.id }),
        "confusionMatrix": .object([
          "classes": .strings(labels.ids),
          "rowsAreLabels": .array(set.confusionMatrix().map { .array($0.map(JSONValue.integer)) }),
        ]),
        "bootstrap": Bootstrap.json(self.set.units, hasExactShares: true),
        "subgroups": .object(subgroups.map { ($0.grouping.name, .array($0.groups.map(\.json))) }),
      ])
  }

  /// The shares of images that reach the level, for malignant classes, other classes, and each class. A class whose id is the
  /// name of a group is left out, because a name occurs once.
  private func riskJSON(_ level: RiskLevel) -> JSONValue {
    let groups = ["malignant", "benign"]
    let members = zip(groups + labels.ids, Metric.riskGroups(labels)).enumerated()
      .filter { $0 < groups.count || !groups.contains($1.0) }
    return .object(members.flatMap { overall[.risk(level, of: $1.1)].members($1.0) })
  }

  private func classJSON(_ label: LesionLabel) -> JSONValue {
    .object(
      [("n", .integer(imageCount(label)))]
        + ([Metric.meanProbability] + Metric.perClass).flatMap { metric in
          overall[metric(label.index)].members(metric(label.index).key)
        })
  }
}

extension Bootstrap {
  /// The way the intervals were drawn.
  package static func json(_ units: [ChanceUnit], hasExactShares: Bool = false) -> JSONValue {
    .object(
      [
        ("level", .number(level)), ("resamples", .integer(resampleCount)),
        ("drawn", .string(ChanceUnit.drawn(units).rawValue)), ("units", .integer(NameGroups(units).count)),
        ("seed", .integer(Int(seed))),
      ] + (hasExactShares ? [("sharesWithoutSpread", .string(ExactInterval.method))] : []))
  }
}

extension EvaluationReport.Measurement {
  fileprivate var members: [(key: String, value: JSONValue)] {
    Metric.overall.flatMap { self[$0].members($0.key) }
  }

  fileprivate var allMembers: [(key: String, value: JSONValue)] {
    [("n", .integer(imageCount)), ("lesions", .integer(lesionCount))] + members
  }

  package var json: JSONValue { .object(allMembers) }
}

extension EvaluationReport.Subgroup {
  fileprivate var json: JSONValue {
    let counts = measurement.map { measurement in
      measurement.labels.map { ($0.id, JSONValue.integer(measurement.labelCounts[$0.index])) }
    }
    return .object(
      JSONValue.members([
        "name": .string(name), "n": .integer(imageCount),
        "lesions": measurement.map { .integer($0.lesionCount) }, "labels": counts.map { .object($0) },
        "status": .string(measurement == nil ? "insufficient" : "sufficient"),
      ]) + (measurement?.members ?? []))
  }
}
