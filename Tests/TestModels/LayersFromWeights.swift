import KernelInterface
import TensorModule

extension Convolution2D {
  /// A convolution of one tap and stride 1.
  ///
  /// - Parameters:
  ///   - weight: `[outputChannels, inputChannels]`, which is `OIHW` with a window of one tap.
  ///   - bias: `[outputChannels]`.
  package init(
    linear weight: [Float], bias: [Float], inputChannels: Int, activation: Activation, kernels: KernelSet
  ) {
    self.init(
      matrix: PackedMatrix(
        weight: weight, columnCount: bias.count, depth: inputChannels, bias: bias, kernels: kernels),
      activation: activation)
  }
}

extension SqueezeExcite {
  /// - Parameters:
  ///   - reduceWeight: `[reduced, channels]`, row-major (PyTorch's `[reduced, channels, 1, 1]`).
  ///   - expandWeight: `[channels, reduced]`.
  package init(
    reduceWeight: [Float], reduceBias: [Float], expandWeight: [Float], expandBias: [Float],
    activation: Activation, gate: Activation = .sigmoid, kernels: KernelSet
  ) {
    self.init(
      reduce: PackedMatrix(
        weight: reduceWeight, columnCount: reduceBias.count, depth: expandBias.count, bias: reduceBias,
        kernels: kernels),
      expand: PackedMatrix(
        weight: expandWeight, columnCount: expandBias.count, depth: reduceBias.count, bias: expandBias,
        kernels: kernels), activation: activation, gate: gate)
  }
}
