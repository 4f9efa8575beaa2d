import DermaFusion
import Files

extension ModelComparison {
  /// The comparison's members in the order in which they are promised; what is undefined is null.
  package var members: [(key: String, value: JSONValue)] {
    [
      ("n", .integer(images.count)),
      (
        "agreement",
        .object([
          "n": .integer(agreeingCount), "share": Self.share(agreeingCount, of: images.count),
          "answered": .integer(answeredCount), "answeredAgreeing": .integer(answeredAgreeingCount),
          "answeredShare": Self.share(answeredAgreeingCount, of: answeredCount),
        ])
      ),
      (
        "abstained",
        .object([
          "model": .integer(images.count { $0.first.abstains }),
          "against": .integer(images.count { $0.second.abstains }),
          "both": .integer(images.count { $0.first.abstains && $0.second.abstains }),
        ])
      ),
      ("greatestChanges", .object(changes.map { ($0.label.id, $0.json) })),
      ("labelled", measurement?.json ?? .null),
    ]
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
  fileprivate var json: JSONValue {
    .object(
      [
        ("n", .integer(imageCount)), ("lesions", .integer(lesionCount)),
        ("absentClasses", .strings(absentClasses.map(\.id))),
      ] + EvaluationFigure.overallNames.map { ($0, json(of: $1)) } + [("bootstrap", LesionBootstrap.json())])
  }

  private func json(of figure: EvaluationFigure) -> JSONValue {
    .object([
      "model": first[figure].map(JSONValue.number) ?? .null,
      "against": second[figure].map(JSONValue.number) ?? .null,
      "difference": difference(figure).map(JSONValue.number) ?? .null,
      "differenceCI": intervals[figure].map { .array([.number($0.lowerBound), .number($0.upperBound)]) }
        ?? .null,
    ])
  }
}
