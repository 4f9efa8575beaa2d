import DermaFusion
import Files

/// The answers of two models of the same classes to the same images.
package struct ModelComparison: Sendable {
  /// One image with the answers of both.
  package struct Image: Sendable {
    package let name: String
    package let first: Answer
    package let second: Answer
    /// The label, where the image has one.
    package let truth: Truth?

    /// - Parameters:
    ///   - first, second: of the same classes, see ``ClassScores/ordered(as:)``.
    package init(name: String, first: Answer, second: Answer, truth: Truth?) {
      precondition(first.probabilities.labels == second.probabilities.labels, "models of different classes")
      self.name = name
      self.first = first
      self.second = second
      self.truth = truth
    }

    /// True if the likeliest class is the same, abstained from or not.
    package var agrees: Bool { first.probabilities.highest == second.probabilities.highest }
    /// True if both models answer.
    package var isAnswered: Bool { !first.abstains && !second.abstains }
  }

  /// One model's answer to an image.
  package struct Answer: Sendable {
    package let probabilities: ClassScores
    package let abstains: Bool

    package init(probabilities: ClassScores, abstains: Bool) {
      self.probabilities = probabilities
      self.abstains = abstains
    }
  }

  /// The class that an image shows.
  package struct Truth: Sendable {
    package let label: LesionLabel
    package let lesion: String
    /// Images of one unit are drawn together.
    package let unit: ChanceUnit
    package let weights: EvaluatedImage.Weights

    package init(
      label: LesionLabel, lesion: String, unit: ChanceUnit, weights: EvaluatedImage.Weights = .init()
    ) {
      self.weights = weights
      self.label = label
      self.lesion = lesion
      self.unit = unit
    }
  }

  /// The greatest change of a class's probability, up or down.
  package struct Change: Sendable {
    package let label: LesionLabel
    /// The first image where it is so great.
    package let image: String
    package let first: Float
    package let second: Float

    /// Without its sign.
    package var size: Double { abs(Double(second) - Double(first)) }
  }

  /// The metrics of both models on the images with labels.
  package struct Measurement: Sendable {
    package let imageCount: Int
    package let lesionCount: Int
    /// The unit of each image.
    package let units: [ChanceUnit]
    /// Classes without an image; means over classes leave them out.
    package let absentClasses: [LesionLabel]
    package let first: [Metric: Double]
    package let second: [Metric: Double]
    /// 95 % intervals by unit of chance of the differences, both models measured on the same resamples.
    package let intervals: [Metric: ClosedRange<Double>]

    /// The second model's value minus the first's; `nil` where one of the two is undefined.
    package func difference(_ metric: Metric) -> Double? { Metric.difference(first[metric], second[metric]) }
  }

  /// At least one.
  package let images: [Image]
  /// The changes of each class, in their order.
  package let changes: [Change]
  /// `nil` without an image that has a label.
  package let measurement: Measurement?
  /// Without the lesions that a model has seen; nil if it has seen none or all.
  package let unseen: Measurement?

  /// - Parameters:
  ///   - images: at least one, all of the same classes.
  ///   - isSeen: true for a lesion that one of the models was trained on.
  package init(_ images: [Image], isSeen: (_ lesion: String) -> Bool = { _ in false }) {
    precondition(!images.isEmpty, "a comparison of no images")
    self.images = images
    changes = images[0].first.probabilities.labels.map { label in
      var greatest: Change?
      for image in images {
        let change = Change(
          label: label, image: image.name, first: image.first.probabilities.values[label.index],
          second: image.second.probabilities.values[label.index])
        if greatest.map({ change.size > $0.size }) ?? true { greatest = change }
      }
      return greatest!
    }
    measurement = Measurement(images)
    let labelled = images.filter { $0.truth != nil }
    let others = labelled.filter { $0.truth.map { !isSeen($0.lesion) } ?? false }
    unseen = others.count == labelled.count ? nil : Measurement(others)
  }

  package var labels: Labels { images[0].first.probabilities.labels }
  package var agreeingCount: Int { images.count { $0.agrees } }
  /// Images that both models answer.
  package var answeredCount: Int { images.count { $0.isAnswered } }
  package var answeredAgreeingCount: Int { images.count { $0.isAnswered && $0.agrees } }
}

extension ModelComparison.Measurement {
  fileprivate init?(_ images: [ModelComparison.Image]) {
    let known = images.compactMap { image in image.truth.map { (image: image, truth: $0) } }
      .filter { $0.truth.weights.score > 0 }
    guard !known.isEmpty else { return nil }
    func set(_ answer: (ModelComparison.Image) -> ModelComparison.Answer) -> EvaluationSet {
      EvaluationSet(
        known.map { image, truth in
          EvaluatedImage(
            lesion: truth.lesion, label: truth.label, probabilities: answer(image).probabilities,
            unit: truth.unit, weights: truth.weights)
        })
    }
    let (firstSet, secondSet) = (set(\.first), set(\.second))
    imageCount = known.count
    lesionCount = NameGroups(known.map(\.truth.lesion)).count
    units = firstSet.units
    absentClasses = firstSet.labels.filter { label in !known.contains { $0.truth.label == label } }
    (first, second) = (firstSet.values(of: Metric.overall), secondSet.values(of: Metric.overall))
    let ranges = Bootstrap.intervals(units: units, count: Metric.overall.count, ofDifferences: true) {
      zip(firstSet.list(of: Metric.overall, weights: $0), secondSet.list(of: Metric.overall, weights: $0))
        .map(Metric.difference)
    }
    // Without a value there is nothing that an interval could be around.
    intervals = Dictionary(
      uniqueKeysWithValues: zip(Metric.overall, ranges).compactMap { [first, second] metric, range in
        first[metric] != nil && second[metric] != nil ? range.map { (metric, $0) } : nil
      })
  }
}

extension ClassScores {
  /// The values of the same classes in the order of `labels`, which may also call them otherwise; `nil` for other classes.
  package func ordered(as labels: Labels) -> ClassScores? {
    guard labels.count == self.labels.count else { return nil }
    let values = labels.compactMap { self[$0.id] }
    return values.count == labels.count ? ClassScores(values, labels: labels) : nil
  }
}

// MARK: - JSON

extension ModelComparison {
  /// The comparison's members in the order in which they are promised; what is undefined is null.
  package var members: [(key: String, value: JSONValue)] {
    JSONValue.members([
      "n": .integer(images.count),
      "agreement": .object([
        "n": .integer(agreeingCount), "share": Self.share(agreeingCount, of: images.count),
        "answered": .integer(answeredCount), "answeredAgreeing": .integer(answeredAgreeingCount),
        "answeredShare": Self.share(answeredAgreeingCount, of: answeredCount),
      ]),
      "abstained": .object([
        "model": .integer(images.count { $0.first.abstains }),
        "against": .integer(images.count { $0.second.abstains }),
        "both": .integer(images.count { $0.first.abstains && $0.second.abstains }),
      ]),
      "greatestChanges": .object(changes.map { ($0.label.id, $0.json) }),
      "labelled": measurement?.json ?? .null,
    ])
  }

  private static func share(_ count: Int, of all: Int) -> JSONValue {
    all > 0 ? .number(Double(count) / Double(all)) : .null
  }
}

extension ModelComparison.Change {
  fileprivate var json: JSONValue {
    .object([
      "change": .number(size), "image": .string(image), "model": .float(first), "against": .float(second),
    ])
  }
}

extension ModelComparison.Measurement {
  package var json: JSONValue {
    .object(
      [
        ("n", .integer(imageCount)), ("lesions", .integer(lesionCount)),
        ("absentClasses", .strings(absentClasses.map(\.id))),
      ] + Metric.overall.map { ($0.key, json(of: $0)) } + [("bootstrap", Bootstrap.json(units))])
  }

  private func json(of metric: Metric) -> JSONValue {
    .object([
      "model": first[metric].map(JSONValue.number) ?? .null,
      "against": second[metric].map(JSONValue.number) ?? .null,
      "difference": difference(metric).map(JSONValue.number) ?? .null,
      "differenceCI": MeasuredValue.json(intervals[metric]),
    ])
  }
}
