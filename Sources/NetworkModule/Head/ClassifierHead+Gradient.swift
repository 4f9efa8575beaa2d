import KernelInterface
import TensorModule

extension ClassifierHead {
  /// The gradient of one logit with respect to the pooled features, the metadata held fixed: all of the way from the last
  /// feature map in closed form, since pooling only divides by the number of pixels.
  ///
  /// - Parameters:
  ///   - classIndex: The logit.
  ///   - pooled: `[head channels]`
  ///   - metadata: ignored by a head without fusion.
  /// - Returns: `[head channels]`
  func pooledGradient(ofLogit classIndex: Int, pooled: [Float], metadata: MetadataVector) -> [Float] {
    let features = features(pooled: pooled)
    let gradient: [Double]
    switch output {
    case .dense(let layer):
      gradient = layer.inputGradient(Self.unit(classIndex, of: layer), at: features)
    case .fusion(let head):
      gradient = head.pooledGradient(
        ofLogit: Self.unit(classIndex, of: head.classifier), pooled: features, metadata: metadata)
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
