import KernelInterface
import TensorModule

/// What turns the pooled features, and the metadata where the model takes them, into logits.
package struct ClassifierHead: Sendable {
  /// The last layer, or the last layers: features to logits.
  package enum Output: Sendable {
    /// A dense layer.
    case dense(Dense)
    /// Features and metadata together.
    case fusion(FusionHead)
  }

  /// On the pooled features, before the output, or nil: MobileNetV3's `conv_head`.
  package var hidden: Dense?
  package var output: Output

  /// What the output layer takes of the means of the last feature map.
  package func features(pooled: [Float]) -> [Float] { hidden?(pooled) ?? pooled }

  /// - Parameters:
  ///   - pooled: The means of the last feature map, `[channels]`.
  ///   - metadata: ignored by a head without fusion.
  /// - Returns: `[classes]`
  package func logits(pooled: [Float], metadata: MetadataVector) -> [Float] {
    let features = features(pooled: pooled)
    return switch output {
    case .dense(let layer): layer(features)
    case .fusion(let head): head.logits(pooled: features, metadata: metadata)
    }
  }
}
