/// How much the probabilities speak for a malignant or pre-malignant lesion.
public enum RiskLevel: String, Sendable, CaseIterable, Comparable {
  case low, moderate, high

  /// Melanoma or basal cell carcinoma at or above this probability is high risk.
  public static let highThreshold: Float = 0.30
  /// Melanoma, basal cell carcinoma or actinic keratoses at or above this probability is at least moderate.
  public static let moderateThreshold: Float = 0.10

  /// The highest level that any class reaches; both thresholds are inclusive.
  public init(probabilities: ClassScores) {
    let reaches = { (lesionClass: LesionClass, threshold: Float) in probabilities[lesionClass] >= threshold }
    if [.mel, .bcc].contains(where: { reaches($0, Self.highThreshold) }) {
      self = .high
    } else if [.mel, .bcc, .akiec].contains(where: { reaches($0, Self.moderateThreshold) }) {
      self = .moderate
    } else {
      self = .low
    }
  }

  /// low < moderate < high.
  public static func < (left: RiskLevel, right: RiskLevel) -> Bool {
    allCases.firstIndex(of: left)! < allCases.firstIndex(of: right)!
  }
}
