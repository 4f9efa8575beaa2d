import Files
import SystemModule

extension Classification {
  /// The version of the layout of everything that is printed as JSON.
  public static let schemaVersion = 2

  /// The result as one line of JSON, its keys always in the same order and its numbers the shortest that
  /// read back as the same Float32: the same result is the same bytes.
  ///
  /// - Parameter imageName: what the reader knows the image by, a path for instance.
  public func json(imageName: String) -> String {
    orderedJSON(imageName: imageName).text
  }

  /// ``json(imageName:)`` before it is text.
  ///
  /// - Parameters:
  ///   - shares: of the same image and metadata; nil: not told.
  ///   - timing: nil: not told.
  package func orderedJSON(
    imageName: String, shares: MetadataShares? = nil, timing: ClassificationTiming? = nil
  ) -> JSONValue {
    var members: [(key: String, value: JSONValue)] = [
      ("schemaVersion", .integer(Self.schemaVersion)),
      ("image", .string(imageName)),
      ("imageSHA256", imageSHA256.map(JSONValue.string) ?? .null),
      ("model", model.orderedJSON),
      ("prediction", answer.map { $0.orderedJSON } ?? .null),
      ("probabilities", probabilities.orderedJSON),
      ("logits", logits.orderedJSON),
    ]
    members += dangerMembers
    members += [
      ("confidence", .string(confidence.rawValue)), ("metadata", metadata.orderedJSON),
      ("warnings", .strings(warnings.map { $0.rawValue })),
    ]
    if views != .upright { members.append(("views", .integer(views.count))) }
    members += abstention.jsonMembers
    if let shares { members.append(("metadataShares", shares.orderedJSON)) }
    if let timing { members.append(("timing", timing.orderedJSON)) }
    members.append(("summary", .string(summary)))
    members.append(("disclaimer", .string(disclaimer)))
    return .object(members)
  }
}

extension Classification {
  /// How dangerous the lesion may be, as every result in JSON tells it.
  package var dangerMembers: [(key: String, value: JSONValue)] {
    [
      ("risk", risk.map { .string($0.rawValue) } ?? .null),
      ("concern", answer?.concern.map { .string($0.id) } ?? .null), ("urgent", .bool(isUrgent)),
    ]
  }
}

extension Classification.Answer {
  var orderedJSON: JSONValue {
    .object([
      "class": .string(prediction.id), "name": .string(prediction.name), "probability": .float(probability),
    ])
  }
}

extension Abstention {
  /// As every result in JSON has them.
  package var jsonMembers: [(key: String, value: JSONValue)] {
    // A set of classes would suggest one where none is suggested.
    let set = reasons.isEmpty ? conformalSet : nil
    return [
      ("abstain", .bool(!reasons.isEmpty)),
      ("abstainReasons", .strings(reasons.map { $0.rawValue })),
      ("conformalSet", set.map { .strings($0.classes.map { $0.id }) } ?? .null),
      ("conformalCoverage", set.map { .number($0.coverage) } ?? .null),
    ]
  }
}

extension ModelIdentity {
  package var orderedJSON: JSONValue {
    .object(["name": .string(name), "version": .string(version), "sha256": .string(sha256)])
  }
}

extension LesionLabel {
  package var orderedJSON: JSONValue {
    .object([
      "class": .string(id), "name": .string(name),
      "malignancy": malignancy.map { .string($0.rawValue) } ?? .null,
    ])
  }
}

extension ClassScores {
  package var orderedJSON: JSONValue {
    .object(labels.map { (key: $0.id, value: .float(self[$0])) })
  }
}

extension ClassificationTiming {
  fileprivate var orderedJSON: JSONValue {
    .object([
      "decodeMs": .number(decodeMilliseconds), "preprocessMs": .number(preprocessMilliseconds),
      "networkMs": .number(networkMilliseconds),
    ])
  }
}

extension DermaFusionError {
  /// Why there is no result, for programs that get all else as JSON.
  package var orderedJSON: JSONValue {
    .object([
      "error": .object([
        "code": .string(code.description), "message": .string(message), "remedy": .string(remedy),
      ])
    ])
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
