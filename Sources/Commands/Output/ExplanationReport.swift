import DermaFusion

/// The statistics of an explanation, for programs and for people.
struct ExplanationReport {
  let explanation: Explanation
  let imageName: String
  let picturePath: String
  let rawPath: String?
  let includesSignedMap: Bool

  private var result: Classification { explanation.classification }

  var json: OrderedJSON {
    let first = explanation.maps[0]
    return .object([
      "schemaVersion": .integer(1),
      "image": .string(imageName),
      "imageSHA256": result.imageSHA256.map(OrderedJSON.string) ?? .null,
      "model": result.model.orderedJSON,
      "method": .string(first.method.rawValue),
      "layer": .string(first.layer),
      "mapShape": .array([.integer(first.height), .integer(first.width)]),
      "maps": .array(explanation.maps.map(json)),
      "prediction": .string(result.prediction.rawValue),
      "metadata": result.metadata.orderedJSON,
      "warnings": .strings(result.warnings.map(\.rawValue)),
      "output": .string(picturePath),
      "raw": rawPath.map(OrderedJSON.string) ?? .null,
      "summary": .string(result.summary),
      "disclaimer": .string(result.disclaimer),
    ])
  }

  private func json(_ map: ActivationMap) -> OrderedJSON {
    var members: [(key: String, value: OrderedJSON)] = [
      ("class", .string(map.lesionClass.rawValue)),
      ("name", .string(map.lesionClass.fullName)),
      ("probability", .float(result.probabilities[map.lesionClass])),
      ("logit", .float(result.logits[map.lesionClass])),
      ("status", .string(map.status.rawValue)),
      ("minimum", .float(map.minimum)),
      ("maximum", .float(map.maximum)),
      (
        "massCentre",
        map.massCentre.map { .object(["x": .float(Float($0.x)), "y": .float(Float($0.y))]) } ?? .null
      ),
    ]
    if includesSignedMap {
      let rows = (0..<map.height).map { row in
        OrderedJSON.array(
          map.signedValues[row * map.width..<(row + 1) * map.width].map(OrderedJSON.float))
      }
      members.append(("signedMap", .array(rows)))
    }
    return .object(members)
  }

  func text(width: Int?) -> String {
    let first = explanation.maps[0]
    var lines = [imageName, "", result.summary.wrapped(width: width, indent: 0), ""]
    for map in explanation.maps {
      lines.append(
        "  \(map.lesionClass.fullName) (\(map.lesionClass.rawValue)), "
          + "probability \(ClassificationText.fixed(Double(result.probabilities[map.lesionClass]), digits: 3))"
      )
      lines.append(detail(map).wrapped(width: width, indent: 4))
    }
    lines += [
      "", "  Method        \(first.method.displayName) at \(first.layer), \(first.height)x\(first.width)",
    ]
    lines.append("  Metadata      \(ClassificationText.words(for: result.metadata))")
    lines += result.warnings.map { "  Warning       \($0.sentence)" }
    lines.append(
      "  Model         \(result.model.name) \(result.model.version), SHA-256 \(result.model.sha256.prefix(16))"
    )
    lines.append("  Picture       \(picturePath)")
    if let rawPath { lines.append("  Array         \(rawPath)") }
    lines += ["", result.disclaimer.wrapped(width: width, indent: 0)]
    return lines.joined(separator: "\n") + "\n"
  }

  private func detail(_ map: ActivationMap) -> String {
    if let sentence = map.status.sentence { return sentence }
    let centre = map.massCentre ?? (0, 0)
    let percent = { (fraction: Double) in "\(Int((fraction * 100).rounded()))%" }
    return """
      Support from \(map.minimum) to \(map.maximum); its centre lies \(percent(centre.x)) from the left and \
      \(percent(centre.y)) from the top.
      """
  }
}
