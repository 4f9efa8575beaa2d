import DermaFusion
import Evaluation
import Files

/// What a model was fitted to, what came of it, and how it does before and after.
struct CalibrationReport {
  /// The model that was fitted.
  let origin: ModelIdentity
  let labels: Labels
  /// Images of the table, of which some may have failed.
  let listedCount: Int
  /// Images of each class.
  let imageCounts: [Int]
  let lesionCount: Int
  /// Of the last layer's bias, `F16` for instance.
  let biasType: String
  let present: ModelCalibration
  let fitted: ModelCalibration
  let comparison: CalibrationComparison
  /// Lesions that the model was selected or calibrated on before.
  let calibratedBefore: Int

  var imageCount: Int { imageCounts.reduce(0, +) }

  /// What the reader must know before the figures.
  var notes: [String] {
    var notes: [String] = []
    if biasType != "F32" {
      notes.append(
        "The bias is stored as \(biasType == "F16" ? "float16" : "bfloat16") and was rounded to it; the other values were fitted to the rounded bias."
      )
    }
    if present.limits == nil {
      notes.append("The model was not fitted to abstain: it has no sets and no limit of the distance to fit.")
    }
    if calibratedBefore > 0 {
      notes.append(
        "The model was selected or calibrated on \(calibratedBefore) of these lesions before: the figures before may be too good."
      )
    }
    let few = zip(labels, imageCounts).filter { $1 < Self.setCount }.map { "\($0.id) (\($1))" }
    if present.limits != nil, !few.isEmpty {
      notes.append(
        "Fewer than \(Self.setCount) photographs cannot tell the threshold of a class, which is then in every set: \(few.joined(separator: ", "))."
      )
    }
    return notes
  }

  /// The fewest images of a class from which the threshold of its sets can be told.
  private static let setCount = 9

  /// As it stands in config.json and in the output.
  var json: JSONValue {
    .object(members)
  }

  var members: [(key: String, value: JSONValue)] {
    func byClass(_ values: [JSONValue]) -> JSONValue {
      .object(zip(labels.ids, values).map { (key: $0, value: $1) })
    }
    let limits = fitted.limits
    return [
      ("calibratedFrom", origin.json), ("n", .integer(imageCount)), ("lesions", .integer(lesionCount)),
      ("counts", byClass(imageCounts.map { .integer($0) })),
      (
        "fitted",
        .object([
          "temperature": .number(fitted.fit.temperature),
          "bias": byClass(fitted.fit.bias.map { .number($0) }), "biasType": .string(biasType),
          "thresholds": limits.map { byClass($0.thresholds.map { .number($0) }) } ?? .null,
          "distance": limits.map { .number($0.distance) } ?? .null,
        ])
      ),
      ("folds", .integer(CalibrationComparison.foldCount)),
      ("before", figures(\.before)), ("afterCrossFitted", figures(\.after)),
      ("difference", figures(\.difference)),
    ]
  }

  private func figures(
    _ column: (CalibrationComparison.Row) -> CalibrationComparison.Value
  ) -> JSONValue {
    .object(
      comparison.rows.flatMap { row -> [(key: String, value: JSONValue)] in
        let value = column(row)
        return [
          (row.figure.rawValue, value.value.map(JSONValue.number) ?? .null),
          (
            "\(row.figure.rawValue)CI",
            value.interval.map { .array([.number($0.lowerBound), .number($0.upperBound)]) } ?? .null
          ),
        ]
      })
  }
}

extension CalibrationComparison.Figure {
  var title: String {
    switch self {
    case .balancedAccuracy: "Balanced accuracy"
    case .ece: "Expected calibration error"
    case .negativeLogLikelihood: "Negative log-likelihood"
    case .coverage: "Coverage of the sets"
    case .meanSetSize: "Classes a set"
    case .abstained: "Share abstained from"
    }
  }
}

extension CalibrationComparison.Value {
  /// `0.7927 (0.7401 to 0.8523)`
  var words: String {
    guard let value else { return "undefined" }
    return value.fixed(digits: 3)
      + (interval.map { " (\($0.lowerBound.fixed(digits: 3)) to \($0.upperBound.fixed(digits: 3)))" } ?? "")
  }
}
