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

  var classification: Classification { explanation.classification }
  private var result: Classification { classification }

  /// Remarks of a table's row besides the result.
  fileprivate var remarks: [String] {
    let checks =
      trusts.isEmpty
      ? [] : [trusts.allSatisfy(\.passes) ? "passed the checks" : "failed a check: do not rely on the map"]
    return checks + ["picture \(picturePath)".printable]
  }

  var json: JSONValue {
    let (first, told) = (explanation.maps[0], ReportedResult(result, imageName: imageName))
    var members: [(key: String, value: JSONValue)] = []
    for field in ResultField.all {
      switch field.name {
      case "prediction":
        members += [
          ("method", .string(first.method.rawValue)), ("layer", .string(first.layer)),
          ("mapShape", first.shapeJSON),
          ("maps", explanation.mapsJSON(trusts: trusts, includesSignedMap: includesSignedMap)),
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
    var lines = [imageName.printable, "", result.summary.wrapped(width: width, indent: 0), ""]
    for (index, map) in explanation.maps.enumerated() {
      let label = explanation.label(of: map)
      lines.append(
        "  \(label), probability \(Wording.percentage(result.probabilities[label]))".printable)
      lines.append(detail(map).wrapped(width: width, indent: 4))
      if trusts.indices.contains(index) {
        lines += trusts[index].sentences.map { $0.wrapped(width: width, indent: 4) }
      }
    }
    var rows: [(label: String, text: String)] = [
      ("Method", "\(first.method.displayName) at \(first.layer), \(first.height)x\(first.width)"),
      ("Metadata", result.metadata.description),
    ]
    rows += result.warningSentences.map { ("Warning", $0) }
    rows += [("Model", result.model.words), ("Picture", picturePath.printable)]
    if let rawPath { rows.append(("Array", rawPath.printable)) }
    return lines + [""]
      + TextTable.labelled(rows, indent: 2, column: 16, width: width)
  }

  private func detail(_ map: ActivationMap) -> String {
    if let sentence = map.status.sentence { return sentence }
    let centre = map.massCentre ?? (0, 0)
    let percent = { (fraction: Double) in "\(Int((fraction * 100).rounded()))%" }
    let subject =
      map.method.usesGradient
      ? "Support for the class" : "The response of the features, which is the same for every class,"
    let sign =
      map.method.usesGradient && map.minimum < 0 ? "; negative values count against the class" : ""
    return """
      \(subject) ranges from \(Double(map.minimum).threeDigits) to \(Double(map.maximum).threeDigits)\(sign). \
      The centre of the shown map lies \(percent(centre.x)) from the left and \(percent(centre.y)) from the top.
      """
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
