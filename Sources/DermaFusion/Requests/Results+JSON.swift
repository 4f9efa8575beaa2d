import Files
import SystemModule

extension Classification {
  /// The version of the layout of everything that is printed as JSON.
  public static let schemaVersion = 2

  /// The result as one line of JSON, its keys always in the same order and its numbers the shortest that
  /// read back as the same Float32: the same result is the same bytes.
  ///
  /// - Parameters:
  ///   - imageName: what the reader knows the image by, a path for instance.
  ///   - language: of the sentences. The disclaimer stays English, and its translation stands beside it.
  public func json(imageName: String, language: Language = .english) -> String {
    JSONValue.object(members(imageName: imageName, language: language)).text
  }

  package func members(
    imageName: String, language: Language = .english
  ) -> [(key: String, value: JSONValue)] {
    ReportedResult(self, imageName: imageName, language: language).members
  }

  /// Details of the warnings that have some; nil without any.
  var warningDetailsJSON: JSONValue? {
    let details = warnings.compactMap { warning in
      warningDetails[warning].map { (key: warning.rawValue, value: JSONValue.string($0)) }
    }
    return details.isEmpty ? nil : .object(details)
  }
}

extension ImageAnswer {
  package var reported: ReportedResult {
    ReportedResult(
      classification, imageName: request.imageName, language: request.language, shares: shares,
      timing: request.includesTiming ? timing : nil, hasSummaries: request.includesSummaries)
  }

  /// The line of `classify --format json`, or with maps that line and an object for each map.
  package var json: JSONValue {
    let result = JSONValue.object(reported.members)
    if !request.explains { return result }
    return .object([
      "classification": result,
      "maps": explanation.mapsJSON(
        trusts: trusts, includesSignedMap: request.includesSignedMap, language: request.language),
    ])
  }
}

extension Classification.Answer {
  var json: JSONValue {
    .object([
      "class": .string(prediction.id), "name": .string(prediction.name), "probability": .float(probability),
    ])
  }
}

extension ModelIdentity {
  package var json: JSONValue {
    .object(["name": .string(name), "version": .string(version), "sha256": .string(sha256)])
  }
}

extension LesionLabel {
  package var json: JSONValue {
    .object([
      "class": .string(id), "name": .string(name),
      "malignancy": malignancy.map { .string($0.rawValue) } ?? .null,
    ])
  }
}

extension ClassScores {
  package var json: JSONValue {
    .object(labels.map { (key: $0.id, value: .float(self[$0])) })
  }
}

extension ClassificationTiming {
  var json: JSONValue {
    .object([
      "decodeMs": .number(decodeMilliseconds), "preprocessMs": .number(preprocessMilliseconds),
      "networkMs": .number(networkMilliseconds),
    ])
  }
}

extension PatientMetadata {
  package var json: JSONValue {
    .object([
      "age": ageInYears.map(JSONValue.number) ?? .null,
      "sex": .string(sex.rawValue),
      "site": .string(site.rawValue),
      "missing": .strings(missing),
    ])
  }
}

extension Explanation {
  package func mapsJSON(
    trusts: [MapTrust], includesSignedMap: Bool, language: Language = .english
  ) -> JSONValue {
    .array(
      maps.indices.map { index in
        member(
          maps[index], trust: trusts.isEmpty ? nil : trusts[index].json(in: language),
          includesSignedMap: includesSignedMap)
      })
  }

  private func member(_ map: ActivationMap, trust: JSONValue?, includesSignedMap: Bool) -> JSONValue {
    let label = label(of: map)
    let centre: JSONValue =
      if let centre = map.massCentre {
        .object(["x": .float(Float(centre.x)), "y": .float(Float(centre.y))])
      } else {
        .null
      }
    var members: [(key: String, value: JSONValue)] = [
      ("class", .string(label.id)), ("name", .string(label.name)),
      ("probability", .float(classification.probabilities[label])),
      ("logit", .float(classification.logits[label])), ("method", .string(map.method.rawValue)),
      ("layer", .string(map.layer)), ("status", .string(map.status.rawValue)),
      ("width", .integer(map.size)), ("height", .integer(map.size)),
      ("mapShape", map.shapeJSON), ("minimum", .float(map.minimum)), ("maximum", .float(map.maximum)),
      ("massCentre", centre),
    ]
    if let trust { members.append(("trust", trust)) }
    if includesSignedMap {
      let rows = (0..<map.height).map { row in
        JSONValue.array(
          map.signedValues[row * map.width..<(row + 1) * map.width].map { .float($0) })
      }
      members.append(("signedMap", .array(rows)))
    }
    return .object(members)
  }
}

extension ActivationMap {
  package var shapeJSON: JSONValue { .array([.integer(height), .integer(width)]) }
}

extension MapTrust {
  fileprivate func json(in language: Language) -> JSONValue {
    .object([
      "deletionAUC": .number(deletionAUC), "randomDeletionAUC": .number(randomDeletionAUC),
      "insertionAUC": .number(insertionAUC), "randomInsertionAUC": .number(randomInsertionAUC),
      "shuffledHeadCorrelation": shuffledHeadCorrelation.map { .number($0) } ?? .null,
      "passes": .bool(passes), "words": .strings(sentences(in: language)),
    ])
  }
}
