import ImagePipeline
import NetworkModule

extension Classifier {
  /// The mean of the views' logits, added up in Double in one order and rounded once; the features of the
  /// first view, the image as it is. In an ensemble each member averages its own views before the vote.
  ///
  /// - Parameter metadata: `[4]`, see ``PatientMetadata/encoded()``.
  package func output(
    of image: PreprocessedImage, metadata: [Float], views: ImageViews
  ) throws -> NetworkOutput {
    if let ensemble { return try ensemble.output(of: image, metadata: metadata, views: views) }
    let first = try runNetwork(image, metadata)
    if views == .upright { return first }
    var sums = first.logits.map(Double.init)
    for symmetry in views.symmetriesOfSquare.dropFirst() {
      let logits = try runNetwork(image.turned(by: symmetry), metadata).logits
      for index in sums.indices { sums[index] += Double(logits[index]) }
    }
    return NetworkOutput(
      logits: sums.map { Float($0 / Double(views.count)) }, pooled: first.pooled, stageMeans: first.stageMeans
    )
  }
}
