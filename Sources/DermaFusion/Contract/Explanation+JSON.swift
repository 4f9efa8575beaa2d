import Files

extension Explanation {
  /// An object for each map.
  ///
  /// - Parameters:
  ///   - trusts: what the checks found, one for each map; or none.
  ///   - includesSignedMap: whether the maps' values before cut and scaling are told.
  package func mapsJSON(trusts: [MapTrust], includesSignedMap: Bool) -> JSONValue {
    .array(
      maps.indices.map { index in
        json(
          maps[index], trust: trusts.isEmpty ? nil : trusts[index], includesSignedMap: includesSignedMap)
      })
  }

  private func json(_ map: ActivationMap, trust: MapTrust?, includesSignedMap: Bool) -> JSONValue {
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
    if let trust { members.append(("trust", trust.orderedJSON)) }
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
  /// The feature map's rows and columns.
  package var shapeJSON: JSONValue { .array([.integer(height), .integer(width)]) }
}

extension MapTrust {
  fileprivate var orderedJSON: JSONValue {
    .object([
      "deletionAUC": .number(deletionAUC), "randomDeletionAUC": .number(randomDeletionAUC),
      "insertionAUC": .number(insertionAUC), "randomInsertionAUC": .number(randomInsertionAUC),
      "shuffledHeadCorrelation": shuffledHeadCorrelation.map { .number($0) } ?? .null,
      "passes": .bool(passes), "words": .strings(sentences),
    ])
  }
}
