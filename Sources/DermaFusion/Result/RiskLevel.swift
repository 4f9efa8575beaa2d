/// The support of the probabilities for a malignant or pre-malignant lesion.
public enum RiskLevel: String, Sendable, CaseIterable, Comparable {
  /// In ascending order. The thresholds below make the rule.
  case low, moderate, high

  /// A malignant class at or above this probability is high risk.
  public static let highThreshold: Float = 0.30
  /// A malignant or pre-malignant class at or above this probability is at least moderate risk.
  public static let moderateThreshold: Float = 0.10

  /// The highest level of any class, thresholds inclusive; `nil` without malignancy. A result that abstains has none.
  package init?(probabilities: ClassScores) {
    guard probabilities.labels.tellMalignancy else { return nil }
    self = probabilities.labels.reduce(.low) { max($0, Self.level(of: $1, probabilities[$1])) }
  }

  /// The likeliest of the classes that cause the risk level, the first where several are equally likely; `nil` where the
  /// risk is low or not known.
  package static func cause(in probabilities: ClassScores) -> LesionLabel? {
    guard let risk = RiskLevel(probabilities: probabilities), risk > .low else { return nil }
    return probabilities.ranked.first { level(of: $0, probabilities[$0]) == risk }
  }

  /// The level that one class causes alone.
  private static func level(of label: LesionLabel, _ probability: Float) -> RiskLevel {
    switch label.malignancy {
    case .malignant:
      probability >= highThreshold ? .high : probability >= moderateThreshold ? .moderate : .low
    case .preMalignant: probability >= moderateThreshold ? .moderate : .low
    case .benign, nil: .low
    }
  }

  /// low < moderate < high.
  public static func < (left: RiskLevel, right: RiskLevel) -> Bool {
    allCases.firstIndex(of: left)! < allCases.firstIndex(of: right)!
  }
}

/// The spread of the probabilities: whether any class stands out.
public enum ConfidenceLevel: String, Sendable, CaseIterable {
  /// `normal` where a class reaches ``lowThreshold``.
  case normal, low

  /// When no class reaches this probability, confidence is low. With seven classes, equal shares are 0.143; with more
  /// than a few hundred, confidence is rarely normal.
  public static let lowThreshold: Float = 0.20

  /// `low` when every probability is below ``lowThreshold``.
  public init(probabilities: ClassScores) {
    self = probabilities.values.contains { $0 >= Self.lowThreshold } ? .normal : .low
  }
}
