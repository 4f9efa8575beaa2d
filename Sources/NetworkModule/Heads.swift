import Files
import KernelInterface
import SystemModule
import TensorModule

/// The layers that turn the pooled features, and the metadata where the model takes them, into logits.
package struct ClassifierHead: Sendable {
  /// The last layer, or the last layers: features to logits.
  package enum Output: Sendable {
    /// A dense layer.
    case dense(Dense)
    /// Features and metadata together.
    case fusion(FusionHead)
    /// A network that was saved without a last layer: there are no logits.
    case none
  }

  /// On the pooled features, before the output, or nil: MobileNetV3's `conv_head`.
  package var hidden: Dense?
  package var output: Output
  /// True if a logit of 0 follows the last layer's only output: a softmax over both is that output's sigmoid.
  package var addsZero = false

  /// The input of the output layer.
  package func features(pooled: [Float]) -> [Float] { hidden?(pooled) ?? pooled }

  /// - Parameters:
  ///   - pooled: The vector that the list of operations ends with, `[channels]`.
  ///   - metadata: ignored by a head without fusion.
  /// - Returns: `[classes]`
  package func logits(pooled: [Float], metadata: MetadataVector) -> [Float] {
    let inputs = lastLayerInputs(pooled: pooled, metadata: metadata)
    return switch output {
    case .dense(let layer): layer(inputs) + (addsZero ? [0] : [])
    case .fusion(let head): head.classifier(inputs)
    case .none: []
    }
  }

  /// The vector that the last layer makes the logits of: its weights are `[classes][inputs]`. Parameters as for
  /// ``logits(pooled:metadata:)``.
  package func lastLayerInputs(pooled: [Float], metadata: MetadataVector) -> [Float] {
    let features = features(pooled: pooled)
    return switch output {
    case .dense, .none: features
    case .fusion(let head): head.joined(pooled: features, metadata: metadata)
    }
  }
}

/// The numbers that a network with a metadata head gets about the patient.
package struct MetadataVector: Sendable, Equatable {
  /// Age / 100, clamped to 0...1; 0 when it is missing.
  package let age: Float
  package let isAgeMissing: Bool
  /// Among the sexes of the model's configuration.
  package let sexIndex: Int
  /// Among its sites.
  package let siteIndex: Int

  package init(age: Float, isAgeMissing: Bool, sexIndex: Int, siteIndex: Int) {
    self.age = age
    self.isAgeMissing = isAgeMissing
    self.sexIndex = sexIndex
    self.siteIndex = siteIndex
  }

  /// `[4]`, as fixtures and tables have it.
  package var values: [Float] { [age, isAgeMissing ? 1 : 0, Float(sexIndex), Float(siteIndex)] }
}

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
      "sex_embedding", count: fusion.sexCount, size: fusion.sexEmbeddingSize)
    siteEmbedding = try weights.embedding(
      "site_embedding", count: fusion.siteCount, size: fusion.siteEmbeddingSize)
    metadataDense = try weights.dense("metadata_dense", inputs: encoded, outputs: fusion.metadataSize)
    metadataNorm = try weights.layerNorm("metadata_norm", count: fusion.metadataSize, epsilon: epsilon)
    hidden = try weights.dense(
      "hidden", inputs: pooledCount + fusion.metadataSize, outputs: fusion.hiddenSize)
    hiddenNorm = try weights.layerNorm("hidden_norm", count: fusion.hiddenSize, epsilon: epsilon)
    classifier = try weights.dense("classifier", inputs: fusion.hiddenSize, outputs: classCount)
    kernels = weights.kernels
  }

  /// The input of the classifier.
  ///
  /// - Parameter pooled: `[head channels]`
  /// - Returns: `[hidden size]`
  func joined(pooled: [Float], metadata: MetadataVector) -> [Float] {
    silu(hiddenNorm(hidden(pooled + metadataFeatures(metadata))))
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
    let count = kernels.padded(values.count)
    var padded = values + [Float](repeating: 0, count: count - values.count)
    padded.withUnsafeMutableBufferPointer {
      kernels.activate(ActivationPass(values: $0.baseAddress!, count: count, activation: .silu))
    }
    return Array(padded.prefix(values.count))
  }
}

extension ClassifierHead {
  /// The gradient of one logit with respect to the pooled features, the metadata held fixed, in closed form. What lies before
  /// them is part of the list, and so of its backward pass. Of two logits that one output makes, the constant one has the
  /// negative gradient of the other: what speaks for one class speaks against the other.
  ///
  /// - Parameters:
  ///   - pooled: `[head channels]`
  ///   - metadata: ignored by a head without fusion.
  /// - Returns: `[head channels]`
  func pooledGradient(ofLogit classIndex: Int, pooled: [Float], metadata: MetadataVector) -> [Float] {
    let features = features(pooled: pooled)
    let gradient: [Double]
    switch output {
    case .dense(let layer):
      let unit =
        addsZero ? [classIndex == 0 ? 1.0 : -1.0] : Self.unit(classIndex, of: layer)
      gradient = layer.inputGradient(unit, at: features)
    case .fusion(let head):
      gradient = head.pooledGradient(
        ofLogit: Self.unit(classIndex, of: head.classifier), pooled: features, metadata: metadata)
    case .none: preconditionFailure("a gradient of a network without a last layer")
    }
    return (hidden?.inputGradient(gradient, at: pooled) ?? gradient).map { Float($0) }
  }

  private static func unit(_ index: Int, of layer: Dense) -> [Double] {
    precondition(
      (0..<layer.matrix.columnCount).contains(index), "logit \(index) of \(layer.matrix.columnCount)")
    return (0..<layer.matrix.columnCount).map { $0 == index ? 1 : 0 }
  }
}

extension FusionHead {
  /// - Parameter logitsGradient: `[classes]`
  fileprivate func pooledGradient(
    ofLogit logitsGradient: [Double], pooled: [Float], metadata: MetadataVector
  ) -> [Double] {
    let joined = pooled + metadataFeatures(metadata)
    let sums = hidden(joined)
    let normalized = hiddenNorm(sums)
    var gradient = classifier.inputGradient(logitsGradient, at: silu(normalized))
    for i in gradient.indices { gradient[i] *= Activation.silu.derivative(at: Double(normalized[i])) }
    gradient = hiddenNorm.inputGradient(gradient, at: sums)
    return hidden.inputGradient(gradient, at: joined, inputRange: 0..<pooled.count)
  }
}
