/// The ways in which the network looks at an image.
public enum ImageViews: Sendable, CaseIterable {
  /// Once, as it is.
  case upright
  /// Eight times, in every symmetry of the square: four turns, each as it is and mirrored. The views' logits are
  /// averaged. Nothing is resampled, and the metadata is the same for each view.
  case symmetries

  /// Runs of the network for one image.
  public var count: Int { symmetriesOfSquare.count }

  /// In the order in which the views are added up.
  package var symmetriesOfSquare: [Orientation] {
    switch self {
    case .upright: [.upright]
    case .symmetries:
      // Turns counterclockwise, like numpy's `rot90`; then each mirrored.
      [
        .upright, .rotatedQuarterTurnCounterclockwise, .rotatedHalfTurn, .rotatedQuarterTurnClockwise,
        .mirroredHorizontally, .transverse, .mirroredVertically, .transposed,
      ]
    }
  }
}

#if !hasFeature(Embedded)
  extension ImageViews: Codable {}
#endif
