import DermaFusion
import JSONModule

/// Results as a table, one row an image, for spreadsheets and data frames.
enum ClassificationCSV {
  /// A row and, for the first one, the line of names that goes before it. Lists in a cell have blanks between their words.
  static func lines(
    _ result: Classification, imageName: String, timing: ClassificationTiming?, isFirst: Bool
  ) -> String {
    let cells = cells(result, imageName: imageName, timing: timing)
    return (isFirst ? line(cells.map(\.column)) : "") + line(cells.map(\.value))
  }

  private static func cells(
    _ result: Classification, imageName: String, timing: ClassificationTiming?
  ) -> [(column: String, value: String)] {
    var cells = [
      ("image", imageName), ("class", result.prediction.rawValue), ("name", result.prediction.fullName),
      ("probability", result.probabilities[result.prediction].description),
    ]
    cells += LesionClass.allCases.map { ($0.rawValue, result.probabilities[$0].description) }
    cells += [
      ("risk", result.risk.rawValue), ("confidence", result.confidence.rawValue),
      ("age", result.metadata.ageInYears.map(JSONValue.decimal) ?? ""),
      ("sex", result.metadata.sex.rawValue), ("site", result.metadata.site.rawValue),
      ("missing", result.metadata.missing.joined(separator: " ")),
      ("warnings", result.warnings.map(\.rawValue).joined(separator: " ")),
      ("model", result.model.name), ("modelVersion", result.model.version),
      ("modelSHA256", result.model.sha256),
    ]
    if let timing { cells.append(("milliseconds", timing.totalMilliseconds.fixed(digits: 2))) }
    if result.views != .upright { cells.append(("views", String(result.views.count))) }
    let set = result.abstention.conformalSet?.classes ?? []
    cells += [
      ("summary", result.summary), ("disclaimer", result.disclaimer),
      ("abstain", result.abstains ? "true" : "false"),
      ("abstainReasons", result.abstention.reasons.map(\.rawValue).joined(separator: " ")),
      ("conformalSet", set.map(\.rawValue).joined(separator: " ")),
    ]
    return cells
  }

  private static func line(_ fields: [String]) -> String {
    fields.map(quoted).joined(separator: ",") + "\n"
  }

  /// RFC 4180: quoted where the text holds a comma, a quote or a line break.
  static func quoted(_ field: String) -> String {
    guard field.unicodeScalars.contains(where: { [",", "\"", "\n", "\r"].contains($0) }) else { return field }
    // By scalars: a quote that an accent follows is another character.
    var quoted = String.UnicodeScalarView()
    for scalar in field.unicodeScalars { quoted += scalar == "\"" ? ["\"", "\""] : [scalar] }
    return "\"\(String(quoted))\""
  }
}
