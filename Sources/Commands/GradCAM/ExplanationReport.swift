import DermaFusion
import Figures
import Files
import SystemModule

/// The statistics of an explanation, for programs and for people.
struct ExplanationReport: Report, Sendable {
  let explanation: Explanation
  /// One for each map, or none.
  let trusts: [MapTrust]
  let imageName: String
  let picturePath: String
  let rawPath: String?
  let includesSignedMap: Bool
  var language = Language.english

  var classification: Classification { explanation.classification }
  private var result: Classification { classification }

  /// Remarks of a table's row besides the result.
  fileprivate var remarks: [String] {
    let checks =
      trusts.isEmpty
      ? [] : [language[trusts.allSatisfy(\.passes) ? "table.passed" : "table.failed"]]
    return checks + [language["table.picture", values: ["path": picturePath]].printable]
  }

  var json: JSONValue {
    let (first, told) = (
      explanation.maps[0], ReportedResult(result, imageName: imageName, language: language)
    )
    var members: [(key: String, value: JSONValue)] = []
    for field in ResultField.all {
      switch field.name {
      case "prediction":
        members += [
          ("method", .string(first.method.rawValue)), ("layer", .string(first.layer)),
          ("mapShape", first.shapeJSON),
          (
            "maps",
            explanation.mapsJSON(
              trusts: trusts, includesSignedMap: includesSignedMap, language: language)
          ),
          (field.name, result.prediction.map { .string($0.id) } ?? .null),
        ]
      case "summary":
        members += [
          ("output", .string(picturePath)), ("raw", rawPath.map(JSONValue.string) ?? .null),
        ]
      default: break
      }
      if field.isOfMaps, let value = field.value(told) { members.append((field.name, value)) }
    }
    return .object(members)
  }

  func lines(width: Int?) -> [String] {
    let first = explanation.maps[0]
    var lines = [
      imageName.printable, "", result.summary(in: language).wrapped(width: width, indent: 0), "",
    ]
    for (index, map) in explanation.maps.enumerated() {
      let label = explanation.label(of: map)
      let percent = Wording.percentage(result.probabilities[label], in: language)
      let probability = language[
        "text.probability", values: ["label": language.description(label), "percent": percent]]
      lines.append("  \(probability)".printable)
      lines.append(detail(map).wrapped(width: width, indent: 4))
      if trusts.indices.contains(index) {
        lines += trusts[index].sentences(in: language).map { $0.wrapped(width: width, indent: 4) }
      }
    }
    var rows: [(label: String, text: String)] = [
      (
        word("method"),
        language[
          "text.methodAt",
          values: [
            "method": first.method.displayName, "layer": first.layer, "height": "\(first.height)",
            "width": "\(first.width)",
          ]]
      ),
      (word("metadata"), result.metadata.description(in: language)),
    ]
    rows += result.warningSentences(in: language).map { (word("warning"), $0) }
    rows += [(word("model"), result.model.words), (word("picture"), picturePath.printable)]
    if let rawPath { rows.append((word("array"), rawPath.printable)) }
    return lines + [""]
      + TextTable.labelled(rows, indent: 2, column: 16, width: width)
  }

  private func word(_ name: String) -> String { language["text.\(name)"] }

  private func detail(_ map: ActivationMap) -> String {
    if let sentence = map.status.sentence(in: language) { return sentence }
    let centre = map.massCentre ?? (0, 0)
    let percent = { (fraction: Double) in language.number("\(Int((fraction * 100).rounded()))%") }
    return language[
      "text.range",
      values: [
        "subject": word(map.method.usesGradient ? "support" : "response"),
        "least": language.number(Double(map.minimum).threeDigits),
        "greatest": language.number(Double(map.maximum).threeDigits),
        "against": map.method.usesGradient && map.minimum < 0 ? word("against") : "",
        "x": percent(centre.x), "y": percent(centre.y),
      ]]
  }
}

extension ResultWriter where Result == ExplanationReport {
  /// - Parameter table: for the text of many images; nil: each has a text of its own.
  static func explanations(
    as format: OutputFormat, to output: any ByteOutput, width: Int?, table: BatchTable?
  ) -> ResultWriter {
    if format == .json { return ResultWriter(output: output, text: { $0.json.text + "\n" }) }
    guard let table else {
      return ResultWriter(output: output, separator: "\n", text: { $0.text(width: width) })
    }
    // JSON has all that is known of each map.
    return ResultWriter(
      output: output, header: table.header,
      text: { table.row($0.classification, imageName: $0.imageName, others: $0.remarks) },
      ending: table.footer)
  }
}

extension Double {
  /// To three significant digits; JSON has all of them.
  fileprivate var threeDigits: String {
    var digits = 2
    var magnitude = magnitude
    while magnitude < 1, magnitude > 0, digits < 9 {
      magnitude *= 10
      digits += 1
    }
    return fixed(digits: digits)
  }
}
