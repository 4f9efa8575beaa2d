import ImagePipeline
import NetworkModule

/// What makes logits of an image.
package enum Engine: Sendable {
  case network(Network)
  case ensemble(Ensemble)
  /// Anything else; it cannot be explained.
  case function(@Sendable (_ image: PreprocessedImage, _ metadata: [Float]) throws -> NetworkOutput)
}
