import JSONModule

extension Classification {
  /// The result as one line of JSON, its keys always in the same order and its numbers the shortest that
  /// read back as the same Float32: the same result is the same bytes.
  ///
  /// - Parameter imageName: what the reader knows the image by, a path for instance.
  public func json(imageName: String) -> String {
    orderedJSON(imageName: imageName).text
  }

  /// ``json(imageName:)`` before it is text, with `extra` members between the warnings and the summary.
  package func orderedJSON(
    imageName: String, extra: [(key: String, value: JSONValue)] = []
  ) -> JSONValue {
    var members: [(key: String, value: JSONValue)] = [
      ("schemaVersion", .integer(1)),
      ("image", .string(imageName)),
      ("imageSHA256", imageSHA256.map(JSONValue.string) ?? .null),
      ("model", model.orderedJSON),
      (
        "prediction",
        .object([
          "class": .string(prediction.rawValue),
          "name": .string(prediction.fullName),
          "probability": .float(probabilities[prediction]),
        ])
      ),
      ("probabilities", probabilities.orderedJSON),
      ("logits", logits.orderedJSON),
      ("risk", .string(risk.rawValue)),
      ("confidence", .string(confidence.rawValue)),
      ("metadata", metadata.orderedJSON),
      ("warnings", .strings(warnings.map(\.rawValue))),
    ]
    if views != .upright { members.append(("views", .integer(views.count))) }
    members += abstention.jsonMembers
    members += extra
    members.append(("summary", .string(summary)))
    members.append(("disclaimer", .string(disclaimer)))
    return .object(members)
  }
}

extension Abstention {
  /// As every result in JSON has them.
  package var jsonMembers: [(key: String, value: JSONValue)] {
    [
      ("abstain", .bool(!reasons.isEmpty)),
      ("abstainReasons", .strings(reasons.map(\.rawValue))),
      ("conformalSet", conformalSet.map { .strings($0.classes.map(\.rawValue)) } ?? .null),
      ("conformalCoverage", conformalSet.map { .number($0.coverage) } ?? .null),
    ]
  }
}

extension ModelIdentity {
  package var orderedJSON: JSONValue {
    .object(["name": .string(name), "version": .string(version), "sha256": .string(sha256)])
  }
}

extension ClassScores {
  package var orderedJSON: JSONValue {
    .object(LesionClass.allCases.map { (key: $0.rawValue, value: .float(self[$0])) })
  }
}

extension PatientMetadata {
  package var orderedJSON: JSONValue {
    .object([
      "age": ageInYears.map(JSONValue.number) ?? .null,
      "sex": .string(sex.rawValue),
      "site": .string(site.rawValue),
      "missing": .strings(missing),
    ])
  }
}
