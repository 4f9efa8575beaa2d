import DermaFusion

/// How many of several images got which result.
struct BatchSummary {
  /// Images with a result.
  private(set) var count = 0
  private(set) var failedCount = 0
  private(set) var abstainedCount = 0
  /// By place among ``labels``.
  private var classCounts: [Int] = []
  private var labels: [LesionLabel] = []
  private var riskCounts: [RiskLevel: Int] = [:]

  private static let noRisk =
    "Risk is not judged, since the model does not say which of its classes are malignant."

  mutating func add(_ result: Classification) {
    count += 1
    if labels.isEmpty {
      labels = Array(result.probabilities.labels)
      classCounts = [Int](repeating: 0, count: labels.count)
    }
    guard let answer = result.answer else {
      abstainedCount += 1
      return
    }
    classCounts[answer.prediction.index] += 1
    if let risk = answer.risk { riskCounts[risk, default: 0] += 1 }
  }

  mutating func addFailure() { failedCount += 1 }

  /// `12 images: 7 nv, 3 mel, 1 bkl.` and `Risk: 3 high, 1 moderate, 7 low. The model abstains from 1. 2 failed.`
  var sentences: [String] {
    let classes = labels.filter { classCounts[$0.index] > 0 }
      .sorted { (classCounts[$0.index], $1.index) > (classCounts[$1.index], $0.index) }
      .map { "\(classCounts[$0.index]) \($0.id)" }
    var sentences = [
      "\(count) \(count == 1 ? "image" : "images")\(classes.isEmpty ? "" : ": " + classes.joined(separator: ", "))."
    ]
    if !riskCounts.isEmpty {
      let risks = [RiskLevel.high, .moderate, .low].map { "\(riskCounts[$0, default: 0]) \($0.rawValue)" }
      sentences.append("Risk: \(risks.joined(separator: ", ")).")
    } else if count > abstainedCount {
      sentences.append(Self.noRisk)
    }
    if abstainedCount > 0 { sentences.append("The model abstains from \(abstainedCount).") }
    if failedCount > 0 { sentences.append("\(failedCount) failed.") }
    return sentences
  }
}
