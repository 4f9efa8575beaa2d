import ImagePipeline

/// How the network looks at an image.
public enum ImageViews: Sendable, Equatable {
  /// Once, as it is.
  case upright
  /// Eight times, in every symmetry of the square: four turns, each as it is and mirrored. The views' logits are
  /// averaged. Nothing is resampled, and the metadata is the same for each view.
  case symmetries

  /// Runs of the network for one image.
  public var count: Int { symmetriesOfSquare.count }

  /// In the order in which the views are added up.
  var symmetriesOfSquare: [SquareSymmetry] {
    switch self {
    case .upright: [.identity]
    case .symmetries: SquareSymmetry.allCases
    }
  }
}

extension Classifier {
  /// The mean of the views' logits, added up in Double in one order and rounded once.
  ///
  /// - Parameter metadata: `[4]`, see ``PatientMetadata/encoded()``.
  func logits(of image: PreprocessedImage, metadata: [Float], views: ImageViews) throws -> [Float] {
    if views == .upright { return try runNetwork(image, metadata, nil).logits }
    var sums = [Double](repeating: 0, count: configuration.classes.count)
    for symmetry in views.symmetriesOfSquare {
      let logits = try runNetwork(image.turned(by: symmetry), metadata, nil).logits
      for index in sums.indices { sums[index] += Double(logits[index]) }
    }
    return sums.map { Float($0 / Double(views.count)) }
  }
}
