import Files
import KernelInterface
import SystemModule
import TensorModule

/// A model's tensors by scoped name, together with what every layer of the network has in common.
struct NetworkWeights {
  let binder: WeightBinder
  let padding: ModelConfiguration.Padding
  let batchNormEpsilon: Double
  let precision: ModelConfiguration.Precision
  /// The largest magnitude of the network's input.
  let inputLimit: Float
  let kernels: KernelSet

  func scope(_ name: String) -> NetworkWeights {
    NetworkWeights(
      binder: binder.scope(name), padding: padding, batchNormEpsilon: batchNormEpsilon, precision: precision,
      inputLimit: inputLimit, kernels: kernels)
  }

  func tensor(_ name: String, shape: [Int]) throws(DermaFusionError) -> [Float] {
    try binder.tensor(name, shape: shape)
  }

  /// A small convolution without bias and the batch norm after it, as one convolution with bias.
  func convolution(
    _ name: String, norm: String, shape: [Int]
  ) throws(DermaFusionError) -> (weight: [Float], bias: [Float]) {
    let fold = try foldedBatchNorm(norm, channels: shape[0])
    return (fold.applied(to: try tensor("\(name).weight", shape: shape)), fold.bias)
  }

  /// A 1x1 convolution without bias and the batch norm after it, as one convolution with bias, packed as it is read.
  func pointwise(
    _ name: String, norm: String, inputs: Int, outputs: Int, activation: Activation
  ) throws(DermaFusionError) -> PointwiseConvolution {
    let weight = try binder.storedTensor("\(name).weight", shape: [outputs, inputs, 1, 1])
    let fold = try foldedBatchNorm(norm, channels: outputs)
    let matrix = try PackedMatrix(
      columnCount: outputs, depth: inputs, bias: fold.bias, kernels: kernels,
      type: precision == .bfloat16 ? .bfloat16 : .float32
    ) {
      (column, start, target) throws(DermaFusionError) in
      let first = column * inputs + start
      try weight.convert(first..<first + target.count, into: target)
      fold.apply(to: target, channel: column)
    }
    return PointwiseConvolution(matrix: matrix, activation: activation)
  }

  /// A convolution over a feature map without bias and the batch norm after it, as one convolution with bias.
  func convolution2D(
    _ name: String, norm: String, inputs: Int, outputs: Int, window: Window, activation: Activation
  ) throws(DermaFusionError) -> Convolution2D {
    if window.kernelSize == 1 {
      let matrix = try pointwise(
        name, norm: norm, inputs: inputs, outputs: outputs, activation: activation
      ).matrix
      return Convolution2D(matrix: matrix, inputChannels: inputs, window: window, activation: activation)
    }
    let (weight, bias) = try convolution(
      name, norm: norm, shape: [outputs, inputs, window.kernelSize, window.kernelSize])
    return Convolution2D(
      weight: weight, bias: bias, inputChannels: inputs, window: window, activation: activation,
      algorithm: window.kernelSize == 3 && window.stride == 1 ? .winograd : .windows, kernels: kernels)
  }

  /// A 1x1 convolution with bias, packed as it is read.
  func matrix(_ name: String, inputs: Int, outputs: Int) throws(DermaFusionError) -> PackedMatrix {
    let weight = try binder.storedTensor("\(name).weight", shape: [outputs, inputs, 1, 1])
    let bias = try tensor("\(name).bias", shape: [outputs])
    return try PackedMatrix(columnCount: outputs, depth: inputs, bias: bias, kernels: kernels) {
      (column, start, target) throws(DermaFusionError) in
      let first = column * inputs + start
      try weight.convert(first..<first + target.count, into: target)
    }
  }

  private func foldedBatchNorm(
    _ name: String, channels: Int
  ) throws(DermaFusionError) -> BatchNormalization.Fold {
    let scope = scope(name)
    let norm = BatchNormalization(
      scale: try scope.tensor("weight", shape: [channels]),
      offset: try scope.tensor("bias", shape: [channels]),
      mean: try scope.tensor("running_mean", shape: [channels]),
      variance: try scope.tensor("running_var", shape: [channels]), epsilon: batchNormEpsilon)
    let fold = norm.fold
    if let channel = fold.firstNonFiniteChannel {
      let name = scope.binder.path
      throw .invalidModel(
        "\(binder.fileName): the batch norm \(quoted(name)) makes no finite numbers of channel \(channel), whose "
          + "variance (\(quoted("\(name).running_var"))) is \(norm.variance[channel])")
    }
    return fold
  }

  func dense(
    _ name: String, inputs: Int, outputs: Int, activation: Activation = .identity
  ) throws(DermaFusionError) -> Dense {
    Dense(
      weight: try tensor("\(name).weight", shape: [outputs, inputs]),
      bias: try tensor("\(name).bias", shape: [outputs]), activation: activation,
      isExact: precision == .int8, kernels: kernels)
  }

  func layerNorm(_ name: String, count: Int, epsilon: Double) throws(DermaFusionError) -> LayerNormalization {
    LayerNormalization(
      scale: try tensor("\(name).weight", shape: [count]), offset: try tensor("\(name).bias", shape: [count]),
      epsilon: epsilon)
  }

  /// A 1x1 convolution with bias on one pixel, as a dense layer.
  func denseConvolution(
    _ name: String, inputs: Int, outputs: Int, activation: Activation
  ) throws(DermaFusionError) -> Dense {
    Dense(
      weight: try tensor("\(name).weight", shape: [outputs, inputs, 1, 1]),
      bias: try tensor("\(name).bias", shape: [outputs]), activation: activation,
      isExact: precision == .int8, kernels: kernels)
  }

  /// The tensors `abstention.*`, which lie beside the network's.
  ///
  /// - Parameter channels: Of the map whose means are looked at.
  /// - Throws: `DermaFusionError` for a tensor that is missing, misshapen or not finite.
  func featureDistance(
    channels count: Int, classCount: Int
  ) throws(DermaFusionError) -> FeatureDistance {
    let weights = scope("abstention")
    func tensor(_ name: String, _ shape: [Int]) throws(DermaFusionError) -> Tensor {
      Tensor(shape: shape, values: try weights.tensor(name, shape: shape))
    }
    return FeatureDistance(
      means: try tensor("means", [classCount, count]),
      whitening: try tensor("whitening", [count, count]))
  }

  func embedding(_ name: String, count: Int, size: Int) throws(DermaFusionError) -> Embedding {
    Embedding(
      table: Tensor(shape: [count, size], values: try tensor("\(name).weight", shape: [count, size])))
  }

  func window(kernelSize: Int, stride: Int) -> Window {
    Window(
      kernelSize: kernelSize, stride: stride,
      padding: padding == .same ? .same : .symmetric((kernelSize - 1) / 2))
  }
}
