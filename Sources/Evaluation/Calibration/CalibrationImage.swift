import DermaFusion

/// What a model made of an image whose class is known, as far as its calibration depends on it.
package struct CalibrationImage: Sendable {
  /// Images of one lesion are fitted to, or judged, together.
  package let lesion: String
  package let label: LesionLabel
  package let logits: ClassScores
  /// Of the features from those of the training; `nil` for a model that was not fitted to abstain.
  package let distance: Double?
  /// Why the model abstains whatever the distance is.
  package let otherReasons: [AbstentionReason]

  /// - Parameter reasons: why the model abstains.
  package init(
    lesion: String, label: LesionLabel, logits: ClassScores, distance: Double?, reasons: [AbstentionReason]
  ) {
    self.lesion = lesion
    self.label = label
    self.logits = logits
    self.distance = distance
    otherReasons = reasons.filter { $0 != .outOfDistribution }
  }
}
