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
    switch self {
    case .dense(let layer):
      return layer.inputGradient(Self.unit(classIndex, of: layer), at: pooled).map { Float($0) }
    case .fusion(let head):
      return head.pooledGradient(
        ofLogit: Self.unit(classIndex, of: head.classifier), pooled: pooled, metadata: metadata)
    }
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
  ) -> [Float] {
    let joined = pooled + metadataFeatures(metadata)
    let sums = hidden(joined)
    let normalized = hiddenNorm(sums)
    var gradient = classifier.inputGradient(logitsGradient, at: silu(normalized))
    for i in gradient.indices { gradient[i] *= Activation.silu.derivative(at: Double(normalized[i])) }
    gradient = hiddenNorm.inputGradient(gradient, at: sums)
    return hidden.inputGradient(gradient, at: joined, inputRange: 0..<pooled.count).map { Float($0) }
  }
}
