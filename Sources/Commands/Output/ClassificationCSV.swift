import DermaFusion

/// Results as a table, one row an image, for spreadsheets and data frames.
enum ClassificationCSV {
  /// The first line. Lists in a cell (`missing`, `warnings`) have blanks between their words.
  static func header(timing: Bool, views: ImageViews = .upright) -> String {
    let columns =
      ["image", "class", "name", "probability"] + LesionClass.allCases.map(\.rawValue)
      + ["risk", "confidence", "age", "sex", "site", "missing", "warnings"]
      + ["model", "modelVersion", "modelSHA256"] + (timing ? ["milliseconds"] : [])
      + (views == .upright ? [] : ["views"])
      + ["summary", "disclaimer", "abstain", "abstainReasons", "conformalSet"]
    return line(columns)
  }

  static func row(_ result: Classification, imageName: String, timing: ClassificationTiming?) -> String {
    var fields = [imageName, result.prediction.rawValue, result.prediction.fullName]
    fields.append(result.probabilities[result.prediction].description)
    fields += result.probabilities.values.map(\.description)
    fields += [result.risk.rawValue, result.confidence.rawValue]
    fields.append(result.metadata.ageInYears.map(OrderedJSON.decimal) ?? "")
    fields += [result.metadata.sex.rawValue, result.metadata.site.rawValue]
    fields.append(result.metadata.missing.joined(separator: " "))
    fields.append(result.warnings.map(\.rawValue).joined(separator: " "))
    fields += [result.model.name, result.model.version, result.model.sha256]
    if let timing { fields.append(timing.totalMilliseconds.fixed(digits: 2)) }
    if result.views != .upright { fields.append(String(result.views.count)) }
    fields += [result.summary, result.disclaimer, result.abstains ? "true" : "false"]
    fields.append(result.abstention.reasons.map(\.rawValue).joined(separator: " "))
    fields.append(
      (result.abstention.conformalSet?.classes ?? []).map(\.rawValue).joined(separator: " "))
    return line(fields)
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
