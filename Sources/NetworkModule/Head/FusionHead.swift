import Files
import KernelInterface
import SystemModule
import TensorModule

/// Joins the pooled image features with the metadata.
///
///     m = SiLU(norm(dense(age / 100, age missing, sex embedding, site embedding)))
///     logits = dense(SiLU(norm(dense(pooled features, m))))
package struct FusionHead: Sendable {
  let sexEmbedding: Embedding
  let siteEmbedding: Embedding
  let metadataDense: Dense
  let metadataNorm: LayerNormalization
  package var hidden: Dense
  let hiddenNorm: LayerNormalization
  package var classifier: Dense
  let kernels: KernelSet

  init(
    _ fusion: ModelConfiguration.Fusion, pooledCount: Int, classCount: Int, weights: NetworkWeights
  ) throws(DermaFusionError) {
    let encoded = 2 + fusion.sexEmbeddingSize + fusion.siteEmbeddingSize
    let epsilon = fusion.layerNormEpsilon
    sexEmbedding = try weights.embedding(
      "sex_embedding", count: Sex.allCases.count, size: fusion.sexEmbeddingSize)
    siteEmbedding = try weights.embedding(
      "site_embedding", count: BodySite.allCases.count, size: fusion.siteEmbeddingSize)
    metadataDense = try weights.dense("metadata_dense", inputs: encoded, outputs: fusion.metadataSize)
    metadataNorm = try weights.layerNorm("metadata_norm", count: fusion.metadataSize, epsilon: epsilon)
    hidden = try weights.dense(
      "hidden", inputs: pooledCount + fusion.metadataSize, outputs: fusion.hiddenSize)
    hiddenNorm = try weights.layerNorm("hidden_norm", count: fusion.hiddenSize, epsilon: epsilon)
    classifier = try weights.dense("classifier", inputs: fusion.hiddenSize, outputs: classCount)
    kernels = weights.kernels
  }

  /// - Parameter pooled: `[head channels]`
  /// - Returns: `[classes]`
  func logits(pooled: [Float], metadata: MetadataVector) -> [Float] {
    classifier(silu(hiddenNorm(hidden(pooled + metadataFeatures(metadata)))))
  }

  /// - Returns: `[metadata size]`
  func metadataFeatures(_ metadata: MetadataVector) -> [Float] {
    silu(metadataNorm(metadataDense(encode(metadata))))
  }

  private func encode(_ metadata: MetadataVector) -> [Float] {
    [metadata.age, metadata.isAgeMissing ? 1 : 0] + sexEmbedding(metadata.sexIndex)
      + siteEmbedding(metadata.siteIndex)
  }

  func silu(_ values: [Float]) -> [Float] {
    if hidden.isExact {
      return values.map { Float(Double($0) / (1 + Mathematics.exp(-Double($0)))) }
    }
    let count = values.count.roundedUp(toMultipleOf: kernels.vectorWidth)
    var padded = values + [Float](repeating: 0, count: count - values.count)
    padded.withUnsafeMutableBufferPointer {
      kernels.activate(ActivationPass(values: $0.baseAddress!, count: count, activation: .silu))
    }
    return Array(padded.prefix(values.count))
  }
}
