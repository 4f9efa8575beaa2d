import TensorModule

/// What turns the pooled features, and the metadata where the model takes them, into logits.
package enum ClassifierHead: Sendable {
  /// A dense layer on the pooled features.
  case dense(Dense)
  /// Pooled features and metadata together.
  case fusion(FusionHead)

  package func logits(pooled: [Float], metadata: MetadataVector) -> [Float] {
    switch self {
    case .dense(let layer): layer(pooled)
    case .fusion(let head): head.logits(pooled: pooled, metadata: metadata)
    }
  }
}
