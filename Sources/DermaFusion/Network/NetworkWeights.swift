import KernelInterface
import ModelFiles
import TensorModule

/// A model's tensors by scoped name, together with what every layer of the network has in common.
struct NetworkWeights {
  let binder: WeightBinder
  let architecture: EfficientNetArchitecture
  let padding: ModelConfiguration.Padding
  let batchNormEpsilon: Double
  let kernels: KernelSet

  var activation: Activation { architecture.isLite ? .relu6 : .silu }

  func scope(_ name: String) -> NetworkWeights {
    NetworkWeights(
      binder: binder.scope(name), architecture: architecture, padding: padding,
      batchNormEpsilon: batchNormEpsilon, kernels: kernels)
  }

  func tensor(_ name: String, shape: [Int]) throws(ModelFileError) -> [Float] {
    try binder.tensor(name, shape: shape)
  }

  /// A convolution without bias and the batch norm after it, as one convolution with bias.
  func convolution(
    _ name: String, norm: String, shape: [Int]
  ) throws(ModelFileError) -> (weight: [Float], bias: [Float]) {
    let weight = try tensor("\(name).weight", shape: shape)
    let norm = scope(norm)
    return BatchNormalization(
      scale: try norm.tensor("weight", shape: [shape[0]]),
      offset: try norm.tensor("bias", shape: [shape[0]]),
      mean: try norm.tensor("running_mean", shape: [shape[0]]),
      variance: try norm.tensor("running_var", shape: [shape[0]]), epsilon: batchNormEpsilon
    ).folded(into: weight)
  }

  func dense(
    _ name: String, inputs: Int, outputs: Int, activation: Activation = .identity
  ) throws(ModelFileError) -> Dense {
    Dense(
      weight: try tensor("\(name).weight", shape: [outputs, inputs]),
      bias: try tensor("\(name).bias", shape: [outputs]), activation: activation, kernels: kernels)
  }

  func layerNorm(_ name: String, count: Int, epsilon: Double) throws(ModelFileError) -> LayerNormalization {
    LayerNormalization(
      scale: try tensor("\(name).weight", shape: [count]), offset: try tensor("\(name).bias", shape: [count]),
      epsilon: epsilon)
  }

  /// The tensors `abstention.*`, which lie beside the network's.
  ///
  /// - Throws: `ModelFileError` for a tensor that is missing, misshapen or not finite, or a variance that is not above 0.
  func featureDistance(
    _ distance: ModelConfiguration.Abstention.Distance, classCount: Int
  ) throws(ModelFileError) -> FeatureDistance {
    let (count, weights) = (architecture.headChannels, scope("abstention"))
    let means = try weights.tensor("means", shape: [classCount, count])
    let components = try weights.tensor("components", shape: [distance.components, count])
    let variances = try weights.tensor("variances", shape: [distance.components + 1])
    // Distances are divided by them: one of NaN would never be too great.
    if let index = variances.firstIndex(where: { $0 <= 0 }) {
      throw weights.binder.valueOutOfRange(
        "variances", index: index, value: variances[index], rule: "above 0")
    }
    return FeatureDistance(means: means, components: components, variances: variances)
  }

  func embedding(_ name: String, count: Int, size: Int) throws(ModelFileError) -> Embedding {
    Embedding(
      table: Tensor(shape: [count, size], values: try tensor("\(name).weight", shape: [count, size])))
  }

  func window(kernelSize: Int, stride: Int) -> Window {
    Window(
      kernelSize: kernelSize, stride: stride,
      padding: padding == .same ? .same : .symmetric((kernelSize - 1) / 2))
  }
}
