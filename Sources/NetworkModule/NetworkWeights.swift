import Files
import KernelInterface
import SystemModule
import TensorModule

/// A model's tensors by dotted name. All scopes share one list of the tensors that were asked for, from several threads.
///
///     let head = weights.scope("fusion")
///     let weight = try head.tensor("hidden.weight", shape: [256, 96])  // fusion.hidden.weight
///     try weights.requireAllBound()
package struct NetworkWeights {
  let file: SafetensorsFile
  let precision: Precision
  let kernels: KernelSet
  /// True if the memory of a tensor goes back once it was read.
  private let isReadOnce: Bool
  /// The dotted name of this scope; empty at the top.
  private(set) var path = ""
  private let bound = BoundNames()

  private final class BoundNames: Sendable {
    let names = Locked<Set<String>>([])
  }

  /// - Parameter isReadOnce: See ``ModelFolder/readOnce``.
  package init(file: SafetensorsFile, precision: Precision, kernels: KernelSet, isReadOnce: Bool = false) {
    self.isReadOnce = isReadOnce
    self.file = file
    self.precision = precision
    self.kernels = kernels
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
    let tensor = try storedTensor(name, shape: shape)
    defer { release(tensor, 0..<tensor.elementCount) }
    return try tensor.floats()
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
      let types: Sentence = isInteger ? "\("I8")" : "F32, F16 or BF16"
      throw .invalidModel(
        "\(file.name): the tensor \(quoted(fullName)) has the data type \(quoted(tensor.dataType.rawValue)), and the "
          + "network needs \(types)")
    }
    let isFirst = bound.names.withLock { $0.insert(fullName).inserted }
    precondition(isFirst || !isReadOnce, "the tensor \(fullName) is read a second time")
    return tensor
  }

  /// Elements that are released while the rest of their tensor is packed.
  private static let releasedCount = 1 << 18

  private func release(_ tensor: StoredTensor, _ range: Range<Int>) {
    if isReadOnce { tensor.release(range) }
  }

  /// Checks that every tensor of the file was asked for, in whichever scope.
  ///
  /// - Throws: naming those that were not, in the order of their data.
  func requireAllBound() throws(DermaFusionError) {
    let names = bound.names.withLock { $0 }
    let surplus = file.tensors.map { $0.name }.filter { !names.contains($0) }
    guard let first = surplus.first else { return }
    let list = surplus.prefix(3).map(quoted).joined(separator: ", ") + (surplus.count > 3 ? ", ..." : "")
    let words: Sentence =
      surplus.count == 1 ? "the tensor \(quoted(first))" : "\(surplus.count) tensors: \(list)"
    throw .invalidModel("\(file.name): the network has no place for \(words)")
  }

  /// A product's weight and bias, with what is folded into them, on the grids that keep its sums exact where it has one.
  ///
  /// - Parameter shape: The weight's, outputs first.
  func floats(_ product: Product, shape: [Int]) throws(DermaFusionError) -> (weight: [Float], bias: [Float]) {
    let weight = try tensor("\(product.name).weight", shape: shape)
    let (fold, bias) = try additions(to: product)
    let folded = fold?.applied(to: weight) ?? weight
    if case .grid(let grid) = product.arithmetic { return grid.fitted(weight: folded, bias: bias) }
    return (folded, bias)
  }

  /// The matrix of a linear layer, packed as it is read.
  func matrix(_ product: Product, inputs: Int) throws(DermaFusionError) -> PackedMatrix {
    if case .grid = product.arithmetic {
      let (weight, bias) = try floats(product, shape: [product.channels, inputs, 1, 1])
      return PackedMatrix(
        weight: weight, columnCount: product.channels, depth: inputs, bias: bias, kernels: kernels)
    }
    let shape = [product.channels, inputs] + (product.isDense ? [] : [1, 1])
    let weight = try storedTensor("\(product.name).weight", shape: shape)
    var released = 0
    defer { release(weight, released..<weight.elementCount) }
    let (fold, bias) = try additions(to: product)
    return try PackedMatrix(
      columnCount: product.channels, depth: inputs, bias: bias, kernels: kernels, type: product.type
    ) {
      (column, start, target) throws(DermaFusionError) in
      // A panel's columns, three vectors at most, are read side by side.
      let packed = (column - 3 * kernels.vectorWidth) * inputs
      if packed - released >= Self.releasedCount {
        release(weight, released..<packed)
        released = packed
      }
      let first = column * inputs + start
      try weight.convert(first..<first + target.count, into: target)
      fold?.apply(to: target, channel: column)
    }
  }

  /// The norm behind a product, and its bias with what the norm adds.
  private func additions(
    to product: Product
  ) throws(DermaFusionError) -> (fold: BatchNormalization.Fold?, bias: [Float]) {
    let channels = product.channels
    let own = product.hasBias ? try tensor("\(product.name).bias", shape: [channels]) : nil
    guard let norm = product.norm else { return (nil, own ?? [Float](repeating: 0, count: channels)) }
    let fold = try foldedBatchNorm(norm, channels: channels)
    guard let own else { return (fold, fold.bias) }
    return (fold, own.indices.map { Float(Double(fold.bias[$0]) + Double(own[$0]) * fold.gains[$0]) })
  }

  func foldedBatchNorm(
    _ norm: Product.Norm, channels: Int
  ) throws(DermaFusionError) -> BatchNormalization.Fold {
    guard let epsilon = norm.epsilon else {
      let gains = try tensor(norm.name, shape: [channels])
      return BatchNormalization.Fold(gains: gains.map { Double($0) }, bias: gains.map { _ in 0 })
    }
    let scope = scope(norm.name)
    let norm = BatchNormalization(
      scale: try scope.tensor("weight", shape: [channels]),
      offset: try scope.tensor("bias", shape: [channels]),
      mean: try scope.tensor("running_mean", shape: [channels]),
      variance: try scope.tensor("running_var", shape: [channels]), epsilon: epsilon)
    let fold = norm.fold
    if let channel = fold.firstNonFiniteChannel {
      let name = scope.path
      throw .invalidModel(
        "\(file.name): the batch norm \(quoted(name)) makes no finite numbers of channel \(channel), whose "
          + "variance (\(quoted("\(name).running_var"))) is \(norm.variance[channel])")
    }
    return fold
  }

  /// - Parameter isConvolution: true for a 1x1 convolution on one pixel.
  func dense(
    _ name: String, inputs: Int, outputs: Int, activation: Activation = .identity, isConvolution: Bool = false
  ) throws(DermaFusionError) -> Dense {
    Dense(
      weight: try tensor("\(name).weight", shape: [outputs, inputs] + (isConvolution ? [1, 1] : [])),
      bias: try tensor("\(name).bias", shape: [outputs]), activation: activation,
      isExact: precision == .int8, kernels: kernels)
  }

  func layerNorm(_ name: String, count: Int, epsilon: Double) throws(DermaFusionError) -> LayerNormalization {
    LayerNormalization(
      scale: try tensor("\(name).weight", shape: [count]), offset: try tensor("\(name).bias", shape: [count]),
      epsilon: epsilon)
  }

  /// The tensors `abstention.*`, which lie beside the network's.
  ///
  /// - Parameter channels: Those of the map whose means are looked at.
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

  /// The tensor `abstention.dermoscopy`.
  ///
  /// - Throws: `DermaFusionError` for a tensor that is missing, misshapen or not finite.
  func dermoscopyProbe(channels count: Int) throws(DermaFusionError) -> DermoscopyProbe {
    DermoscopyProbe(weights: try scope("abstention").tensor("dermoscopy", shape: [count]))
  }

  func embedding(_ name: String, count: Int, size: Int) throws(DermaFusionError) -> Embedding {
    Embedding(
      table: Tensor(shape: [count, size], values: try tensor("\(name).weight", shape: [count, size])))
  }
}

/// The parts of a quantised layer in a model's folder.
struct QuantizedLayer {
  let name: String
  let weight: QuantizedWeight
  /// The form of the layer's input.
  let input: Quantization
}

extension NetworkWeights {
  /// A quantised layer: `NAME.weight` as `I8`, `NAME.weight_scale` and `NAME.bias` with one value for each output, and
  /// `NAME.input_scale` and `NAME.input_zero_point` with one value.
  func quantizedLayer(_ name: String, shape: [Int]) throws(DermaFusionError) -> QuantizedLayer {
    let levels = try storedTensor("\(name).weight", shape: shape, isInteger: true).integers()
    let scale = try scales("\(name).weight_scale", count: shape[0])
    let bias = try tensor("\(name).bias", shape: [shape[0]])
    return QuantizedLayer(
      name: name, weight: QuantizedWeight(levels: levels, scale: scale, bias: bias),
      input: try quantization(name))
  }

  /// The levels of a quantised layer's input.
  func quantization(_ name: String) throws(DermaFusionError) -> Quantization {
    let scale = try scales("\(name).input_scale", count: 1)[0]
    let zeroPoint = try tensor("\(name).input_zero_point", shape: [1])[0]
    guard Quantization.isValid(scale: scale, zeroPoint: zeroPoint) else {
      throw unusable(
        "\(name).input_zero_point", "is \(zeroPoint), and must be a whole number from 0 to 255")
    }
    return Quantization(scale: scale, zeroPoint: Int(zeroPoint))
  }

  /// A linear layer in 8 bits.
  ///
  /// - Parameter outputScale: A step of the output's levels, where levels are wanted rather than values.
  func quantizedLinear(
    _ layer: QuantizedLayer, outputScale: Float? = nil, activation: Activation
  ) throws(DermaFusionError) -> Convolution2D {
    guard layer.weight.hasSmallPairs else {
      throw unusable(
        "\(layer.name).weight",
        "has neighbours of one sign that add up to more than 128, and their products must fit in 16 bits")
    }
    guard
      let matrix = PackedMatrix(
        layer.weight, input: layer.input, outputScale: outputScale, kernels: kernels)
    else { throw sumsTooLarge(layer.name) }
    return Convolution2D(matrix: matrix, activation: activation)
  }

  /// Checks that the level of 0 is 0.
  ///
  /// - Parameters:
  ///   - name: The layer that reads the levels.
  ///   - place: The place where the level must be 0, for the message.
  func requireZeroPoint(
    _ levels: Quantization, of name: String, _ place: Sentence
  ) throws(DermaFusionError) {
    if levels.zeroPoint != 0 {
      throw unusable("\(name).input_zero_point", "is \(levels.zeroPoint), and must be 0 \(place)")
    }
  }

  func sumsTooLarge(_ name: String) -> DermaFusionError {
    unusable("\(name).weight", "makes sums that no whole number here can hold, with these scales and biases")
  }

  func scales(_ name: String, count: Int) throws(DermaFusionError) -> [Float] {
    let values = try tensor(name, shape: [count])
    if let index = values.firstIndex(where: { !Quantization.scales.contains($0) }) {
      throw unusable(
        name, "has the value \(values[index]) at index \(index), and a scale must be from 1e-12 to 1e12")
    }
    return values
  }

  private func unusable(_ name: String, _ rule: Sentence) -> DermaFusionError {
    .invalidModel("\(file.name): the tensor \(quoted(scope(name).path)) \(rule)")
  }
}
