import Files
import KernelInterface
import SystemModule
import TensorModule

/// A model's tensors by dotted name, and what every layer of the network has in common. All scopes share one list of the
/// tensors that were asked for, from several threads.
///
///     let block = weights.scope("blocks.1.0")
///     let weight = try block.tensor("conv_pw.weight", shape: [96, 16, 1, 1])  // blocks.1.0.conv_pw.weight
///     try weights.requireAllBound()
struct NetworkWeights {
  let file: SafetensorsFile
  let padding: ModelConfiguration.Padding
  let batchNormEpsilon: Double
  let precision: Precision
  /// The largest magnitude of the network's input.
  let inputLimit: Float
  let kernels: KernelSet
  /// The dotted name of this scope; empty at the top.
  private(set) var path = ""
  private let bound = BoundNames()

  private final class BoundNames: Sendable {
    let names = Locked<Set<String>>([])
  }

  /// The tensors whose names are below this scope's.
  func scope(_ name: String) -> NetworkWeights {
    var scope = self
    scope.path = fullName(name)
    return scope
  }

  private func fullName(_ name: String) -> String { path.isEmpty ? name : "\(path).\(name)" }

  /// A tensor's values as Float32, the last dimension running fastest.
  ///
  /// - Throws: where there is none, it has another shape or type, or a value is not finite.
  func tensor(_ name: String, shape: [Int]) throws(DermaFusionError) -> [Float] {
    try storedTensor(name, shape: shape).floats()
  }

  /// A tensor as it is stored, for a packer that converts it itself and so finds values that are not finite.
  ///
  /// - Throws: where there is none, or it has another shape or type.
  func storedTensor(
    _ name: String, shape: [Int], isInteger: Bool = false
  ) throws(DermaFusionError) -> StoredTensor {
    let fullName = fullName(name)
    let tensor = try file.tensor(fullName, shape: shape)
    guard (tensor.dataType == .int8) == isInteger else {
      throw .invalidModel(
        "\(file.name): the tensor \(quoted(fullName)) has the data type \(quoted(tensor.dataType.rawValue)), and the "
          + "network needs \(isInteger ? "I8" : "F32, F16 or BF16")")
    }
    bound.names.withLock { _ = $0.insert(fullName) }
    return tensor
  }

  /// Checks that every tensor of the file was asked for, in whichever scope.
  ///
  /// - Throws: naming those that were not, in the order of their data.
  func requireAllBound() throws(DermaFusionError) {
    let names = bound.names.withLock { $0 }
    let surplus = file.tensors.map { $0.name }.filter { !names.contains($0) }
    guard let first = surplus.first else { return }
    let list = surplus.prefix(3).map(quoted).joined(separator: ", ") + (surplus.count > 3 ? ", ..." : "")
    throw .invalidModel(
      "\(file.name): the network has no place for "
        + (surplus.count == 1 ? "the tensor \(quoted(first))" : "\(surplus.count) tensors: \(list)"))
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
    let weight = try storedTensor("\(name).weight", shape: [outputs, inputs, 1, 1])
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
    let weight = try storedTensor("\(name).weight", shape: [outputs, inputs, 1, 1])
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
      let name = scope.path
      throw .invalidModel(
        "\(file.name): the batch norm \(quoted(name)) makes no finite numbers of channel \(channel), whose "
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

/// What a model's folder holds of a quantised layer.
struct QuantizedLayer {
  let name: String
  let weight: QuantizedWeight
  /// How the layer's input is kept.
  let input: Quantization
}

extension NetworkWeights {
  /// A quantised layer: `NAME.weight` as `I8`, `NAME.weight_scale` and `NAME.bias` with one value for each output, and
  /// `NAME.input_scale` and `NAME.input_zero_point` with one value.
  func quantizedLayer(_ name: String, shape: [Int]) throws(DermaFusionError) -> QuantizedLayer {
    let levels = try storedTensor("\(name).weight", shape: shape, isInteger: true).integers()
    let scale = try scales("\(name).weight_scale", count: shape[0])
    let bias = try tensor("\(name).bias", shape: [shape[0]])
    let inputScale = try scales("\(name).input_scale", count: 1)[0]
    let zeroPoint = try tensor("\(name).input_zero_point", shape: [1])[0]
    guard Quantization.isValid(scale: inputScale, zeroPoint: zeroPoint) else {
      throw unusable(
        "\(name).input_zero_point", "is \(zeroPoint), and must be a whole number from 0 to 255")
    }
    return QuantizedLayer(
      name: name, weight: QuantizedWeight(levels: levels, scale: scale, bias: bias),
      input: Quantization(scale: inputScale, zeroPoint: Int(zeroPoint)))
  }

  /// A 1x1 convolution of a quantised layer.
  ///
  /// - Parameter outputScale: A step of the output's levels, where levels are wanted rather than values.
  func quantizedPointwise(
    _ layer: QuantizedLayer, outputScale: Float? = nil, activation: Activation
  ) throws(DermaFusionError) -> QuantizedPointwise {
    guard layer.weight.hasSmallPairs else {
      throw unusable(
        "\(layer.name).weight",
        "has neighbours of one sign that add up to more than 128, and their products must fit in 16 bits")
    }
    guard
      let matrix = QuantizedMatrix(
        layer.weight, input: layer.input, outputScale: outputScale, kernels: kernels)
    else { throw sumsTooLarge(layer) }
    return QuantizedPointwise(matrix: matrix, activation: activation)
  }

  /// Checks that the input's level of 0 is 0.
  ///
  /// - Parameter place: Where it must be, for the message.
  func requireZeroPoint(of layer: QuantizedLayer, _ place: String) throws(DermaFusionError) {
    if layer.input.zeroPoint != 0 {
      throw unusable("\(layer.name).input_zero_point", "is \(layer.input.zeroPoint), and must be 0 \(place)")
    }
  }

  func sumsTooLarge(_ layer: QuantizedLayer) -> DermaFusionError {
    unusable(
      "\(layer.name).weight", "makes sums that no whole number here can hold, with these scales and biases")
  }

  func scales(_ name: String, count: Int) throws(DermaFusionError) -> [Float] {
    let values = try tensor(name, shape: [count])
    if let index = values.firstIndex(where: { !Quantization.scales.contains($0) }) {
      throw unusable(
        name, "has the value \(values[index]) at index \(index), and a scale must be from 1e-12 to 1e12")
    }
    return values
  }

  private func unusable(_ name: String, _ rule: String) -> DermaFusionError {
    .invalidModel("\(file.name): the tensor \(quoted(scope(name).path)) \(rule)")
  }
}
