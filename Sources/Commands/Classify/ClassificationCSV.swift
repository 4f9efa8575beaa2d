import DermaFusion
import Files

/// Results as a table, one row an image, for spreadsheets and data frames. `image_id` is the file's name without its ending,
/// by which tables know the image. Where the model abstains the cells of the class and the risk are empty. Lists in a cell have blanks between their words.
enum ClassificationCSV {
  /// The line of names. The column of a class that is called like another column is `probability_` and its name.
  static func header(labels: Labels, showsTiming: Bool, views: ImageViews) -> String {
    let before = ["image_id", "image", "class", "name", "probability"]
    let after =
      [
        "risk", "concern", "urgent", "confidence", "age", "sex", "site", "missing", "warnings", "model",
        "modelVersion", "modelSHA256",
      ] + (showsTiming ? ["milliseconds"] : []) + (views == .upright ? [] : ["views"]) + [
        "summary", "disclaimer", "abstain", "abstainReasons", "conformalSet",
      ]
    return line(before + columns(of: labels, beside: before + after) + after)
  }

  /// The names of the columns with the probabilities of the classes, none of which is the name of another column.
  static func columns(of labels: Labels, beside others: [String]) -> [String] {
    var taken = Set(others + labels.ids)
    return labels.ids.map { id in
      guard others.contains(id) else { return id }
      var name = id
      while taken.contains(name) { name = "probability_" + name }
      taken.insert(name)
      return name
    }
  }

  /// The line of one image.
  static func row(
    _ result: Classification, imageName: String, timing: ClassificationTiming?, isForTerminal: Bool = false
  ) -> String {
    var cells =
      names(imageName) + [
        result.answer?.prediction.id ?? "", result.answer?.prediction.name ?? "",
        result.answer?.probability.description ?? "",
      ]
    cells += result.probabilities.values.map(\.description)
    cells += [
      result.risk?.rawValue ?? "", result.answer?.concern?.id ?? "", result.isUrgent ? "true" : "false",
      result.confidence.rawValue,
      result.metadata.ageInYears.map(JSONValue.decimal) ?? "", result.metadata.sex.rawValue,
      result.metadata.site.rawValue, result.metadata.missing.joined(separator: " "),
      result.warnings.map(\.rawValue).joined(separator: " "),
      result.model.name, result.model.version, result.model.sha256,
    ]
    if let timing { cells.append(timing.totalMilliseconds.fixed(digits: 2)) }
    if result.views != .upright { cells.append(String(result.views.count)) }
    cells += [
      result.summary, result.disclaimer, result.abstains ? "true" : "false",
      result.abstention.reasons.map(\.rawValue).joined(separator: " "),
      (result.answer?.conformalSet?.classes ?? []).map(\.id).joined(separator: " "),
    ]
    return line(cells, isForTerminal: isForTerminal)
  }

  /// How the row of an image begins: the cells before its result.
  static func start(imageName: String) -> String { line(names(imageName)).dropLast() + "," }

  /// The image's name as tables know it, and as it was given.
  static func names(_ imageName: String) -> [String] {
    [identifier(imageName), imageName]
  }

  /// The image's name as tables know it.
  static func identifier(_ imageName: String) -> String {
    ImageSource(argument: imageName).identifier ?? imageName
  }

  /// A row of a table.
  ///
  /// - Parameter isForTerminal: see ``CSVCell/text(_:isForTerminal:)``.
  static func line(_ fields: [String], isForTerminal: Bool = false) -> String {
    fields.map { CSVCell.text($0, isForTerminal: isForTerminal) }.joined(separator: ",") + "\n"
  }
}
