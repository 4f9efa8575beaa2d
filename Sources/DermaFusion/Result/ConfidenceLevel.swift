/// Whether any class stands out.
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
