import KernelInterface
import SystemModule
import TensorModule

/// A batch norm with fixed statistics, or a layer scale; it mostly becomes a part of the product before it.
final class BatchNorm: Operation {
  let norm: Product.Norm
  let channels: Int
  let activation: Activation

  init(_ norm: Product.Norm, channels: Int, _ activation: Activation = .identity) {
    self.norm = norm
    self.channels = channels
    self.activation = activation
  }

  var name: String { norm.name }
  var title: String { norm.epsilon == nil ? "layer scale" : "batch norm" }

  func parameterCount(_ inputs: [FeatureShape]) -> Int { (norm.epsilon == nil ? 1 : 2) * channels }

  func prepare(
    _ inputs: [FeatureShape], _ weights: NetworkWeights, pool: ThreadPool
  ) throws(DermaFusionError) -> any PreparedOperation {
    let fold = try weights.foldedBatchNorm(norm, channels: channels)
    let layer = DepthwiseConvolution2D(
      weight: fold.gains.map { Float($0) }, bias: fold.bias,
      window: Window(kernelSize: 1, padding: .symmetric(0)), activation: activation, kernels: weights.kernels)
    return ExpandedDepthwiseOperation(
      ExpandedDepthwise(expansion: nil, depthwise: layer), inputs[0], .any, pool: pool)
  }
}

/// The sum of two maps, or a map alone, through an activation. It mostly becomes the epilogue of the product before it.
final class Sum: Operation {
  let addsLastInput: Bool
  let activation: Activation

  init(adds: Bool, _ activation: Activation = .identity) {
    addsLastInput = adds
    self.activation = activation
  }

  var title: String { addsLastInput ? "add" : activation.title }

  func prepare(
    _ inputs: [FeatureShape], _ weights: NetworkWeights, pool: ThreadPool
  ) throws(DermaFusionError) -> any PreparedOperation {
    PreparedSum(self, output: Layout(inputs[0], kernels: weights.kernels), kernels: weights.kernels)
  }
}

private final class PreparedSum: PreparedOperation, OperationGradient {
  let output: Layout
  private let sum: Sum
  private let kernels: KernelSet

  init(_ sum: Sum, output: Layout, kernels: KernelSet) {
    self.sum = sum
    self.output = output
    self.kernels = kernels
  }

  var activation: Activation { sum.activation }
  var addsLastInput: Bool { sum.addsLastInput }
  var scratchCount: Int { 0 }

  func run(_ inputs: [Stored], into output: Stored, in run: Run) {
    write(inputs.map { $0.map }, into: output.map, activation, pool: run.pool)
  }

  private func write(
    _ inputs: [FeatureMap], into output: FeatureMap, _ activation: Activation, pool: ThreadPool
  ) {
    output.activate(
      activation, of: inputs[0], plus: addsLastInput ? inputs[1] : nil, kernels: kernels, pool: pool)
  }

  func makeGradient(_ producers: [(any PreparedOperation)?]) -> (any OperationGradient)? { self }

  func recompute(
    _ inputs: [FeatureMap], into argument: FeatureMap, activated: FeatureMap?,
    state: UnsafeMutablePointer<Float>, in run: Run
  ) {
    write(inputs, into: argument, activation.isIdempotent ? activation : .identity, pool: run.pool)
    activated?.activate(activation, of: argument, kernels: kernels, pool: run.pool)
  }

  func backward(
    _ gradient: FeatureMap, to input: InputGradient, state: UnsafeMutablePointer<Float>, in run: Run
  ) {
    input.target.copy(gradient, pool: run.pool)
    input.finish(kernels: kernels, pool: run.pool)
  }
}

extension Activation {
  /// As papers name it.
  package var title: String {
    switch self {
    case .identity: "identity"
    case .relu: "ReLU"
    case .relu6: "ReLU6"
    case .silu: "SiLU"
    case .sigmoid: "sigmoid"
    case .hardSwish: "hard-swish"
    case .hardSigmoid: "hard-sigmoid"
    case .gelu: "GELU"
    }
  }
}
