import Files
import KernelInterface
import SystemModule
import TensorModule

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
    let levels = try binder.integers("\(name).weight", shape: shape)
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

  /// Squeeze-excite's two layers and `NAME.input_scale`, the step of what they gate.
  func quantizedSqueezeExcite(
    _ squeeze: MBConvBlock.Squeeze, channels: Int
  ) throws(DermaFusionError) -> QuantizedSqueezeExcite {
    QuantizedSqueezeExcite(
      reduce: try quantizedPointwise(
        try quantizedLayer("conv_reduce", shape: [squeeze.channels, channels, 1, 1]),
        activation: squeeze.activation),
      expand: try quantizedPointwise(
        try quantizedLayer("conv_expand", shape: [channels, squeeze.channels, 1, 1]), activation: squeeze.gate
      ),
      inputScale: try scales("input_scale", count: 1)[0])
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

  private func scales(_ name: String, count: Int) throws(DermaFusionError) -> [Float] {
    let values = try tensor(name, shape: [count])
    if let index = values.firstIndex(where: { !Quantization.scales.contains($0) }) {
      throw unusable(
        name, "has the value \(values[index]) at index \(index), and a scale must be from 1e-12 to 1e12")
    }
    return values
  }

  private func unusable(_ name: String, _ rule: String) -> DermaFusionError {
    .invalidModel("\(binder.fileName): the tensor \(quoted(scope(name).binder.path)) \(rule)")
  }
}
