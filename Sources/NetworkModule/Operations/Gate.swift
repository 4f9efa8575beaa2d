import KernelInterface
import SystemModule
import TensorModule

/// Squeeze-excite: each channel times a factor that two linear layers make of the means of all channels.
final class Gate: Operation {
  struct Form: Sendable, Equatable {
    /// timm's name of the pair of layers.
    let name: String
    /// Names of the two layers, below that.
    var layers = Layers.convReduce
    /// Channels between the layers.
    let hidden: Int
    let activation: Activation
    /// Makes the factors.
    let gate: Activation
    /// The product that multiplies its input by the factors, which are then all that is computed. Nil: the map itself.
    var product: String?
    /// True if the product is one of levels, which are written here.
    var isQuantized = false

    /// timm's names of the layers: of its EfficientNets, and of its `SEModule`.
    enum Layers: Sendable, Equatable {
      case convReduce, fc

      var names: (reduce: String, expand: String) {
        self == .fc ? ("fc1", "fc2") : ("conv_reduce", "conv_expand")
      }
    }
  }

  let form: Form

  init(_ form: Form) { self.form = form }

  var name: String { form.name }
  var title: String { "squeeze-excite" }

  func outputShape(_ inputs: [FeatureShape]) -> FeatureShape {
    form.product == nil || form.isQuantized
      ? inputs[0] : FeatureShape(height: 1, width: 1, channels: inputs[0].channels)
  }

  func multiplyAdds(_ inputs: [FeatureShape]) -> Int { 2 * form.hidden * inputs[0].channels }

  func parameterCount(_ inputs: [FeatureShape]) -> Int {
    2 * form.hidden * inputs[0].channels + form.hidden + inputs[0].channels
  }

  func prepare(
    _ inputs: [FeatureShape], _ weights: NetworkWeights, pool: ThreadPool
  ) throws(DermaFusionError) -> any PreparedOperation {
    if form.isQuantized { return try QuantizedGate(form, inputs[0], weights) }
    let channels = inputs[0].channels
    let layers = form.layers.names
    let layer = SqueezeExcite(
      reduce: try weights.matrix(
        Product(name: "\(name).\(layers.reduce)", channels: form.hidden, hasBias: true), inputs: channels),
      expand: try weights.matrix(
        Product(name: "\(name).\(layers.expand)", channels: channels, hasBias: true), inputs: form.hidden),
      activation: form.activation, gate: form.gate)
    return SqueezeExciteGate(layer, inputs[0], output: Layout(outputShape(inputs), kernels: weights.kernels))
  }
}

/// In floats. The output is the factors, or the map times them.
final class SqueezeExciteGate: PreparedOperation {
  let output: Layout
  let layer: SqueezeExcite
  private let input: FeatureShape

  init(_ layer: SqueezeExcite, _ input: FeatureShape, output: Layout) {
    self.layer = layer
    self.input = input
    self.output = output
  }

  fileprivate var kernels: KernelSet { layer.reduce.kernels }
  private var isMap: Bool { output.shape == input }

  /// Sums and factors come last.
  var scratchCount: Int { layer.scratchCount + 2 * output.pixelStride }

  func run(_ inputs: [Stored], into output: Stored, in run: Run) {
    let (stride, pixelCount) = (self.output.pixelStride, input.pixelCount)
    let sums = inputs[0].sums ?? run.scratch + layer.scratchCount
    if inputs[0].sums == nil { inputs[0].map.writeSums(to: sums, kernels: kernels) }
    let factors = isMap ? run.scratch + layer.scratchCount + stride : output.pointer
    layer(
      sums: sums, sumCount: max(inputs[0].layout.sumRowCount, 1), pixelCount: pixelCount, gate: factors,
      scratch: run.scratch, pool: run.pool)
    if isMap { output.map.write(inputs[0].map, times: factors, kernels: kernels, pool: run.pool) }
  }

  func makeGradient(_ producers: [(any PreparedOperation)?]) -> (any OperationGradient)? {
    isMap ? SqueezeExciteGateGradient(layer) : nil
  }
}

/// The gradient of a gate whose output is a map.
private final class SqueezeExciteGateGradient: OperationGradient {
  private let layer: SqueezeExcite
  private let gradient: SqueezeExciteGradient

  init(_ layer: SqueezeExcite) {
    self.layer = layer
    gradient = SqueezeExciteGradient(layer)
  }

  private var kernels: KernelSet { layer.reduce.kernels }
  var readsInput: Bool { true }

  /// - Returns: The layer's state for a map's means.
  private func state(_ map: FeatureMap, pool: ThreadPool) -> SqueezeExcite.State {
    let sums = AlignedBuffer(count: map.pixelStride)
    map.writeSums(to: sums.pointer, kernels: kernels)
    let share = 1 / Float(map.shape.pixelCount)
    return layer.state(means: (0..<map.pixelStride).map { sums.pointer[$0] * share }, pool: pool)
  }

  func recompute(
    _ inputs: [FeatureMap], into argument: FeatureMap, activated: FeatureMap?,
    state: UnsafeMutablePointer<Float>, in run: Run
  ) {
    self.state(inputs[0], pool: run.pool).gate.withUnsafeBufferPointer {
      argument.write(inputs[0], times: $0.baseAddress!, kernels: kernels, pool: run.pool)
    }
  }

  func backward(
    _ gradient: FeatureMap, to input: InputGradient, state: UnsafeMutablePointer<Float>, in run: Run
  ) {
    guard let values = input.values else { preconditionFailure("a gate's gradient without its input") }
    input.target.activate(values.activation, of: values.arguments, kernels: kernels, pool: run.pool)
    let state = self.state(input.target, pool: run.pool)
    let sums = AlignedBuffer(count: gradient.pixelStride)
    kernels.addProducts(
      ProductSum(
        sums: sums.pointer, gradient: gradient.pointer, preActivation: input.target.pointer,
        rowCount: gradient.shape.pixelCount, columnCount: gradient.pixelStride,
        rowStride: gradient.pixelStride, activation: .identity))
    let share = 1 / Float(gradient.shape.pixelCount)
    let products = (0..<gradient.pixelStride).map { sums.pointer[$0] }
    let offsets = self.gradient.meansGradient(products, state: state, pool: run.pool).map { $0 * share }
    input.target.copy(gradient, pool: run.pool)
    input.target.applyDerivative(
      of: .identity, at: gradient, factors: state.gate, offsets: offsets, kernels: kernels, pool: run.pool)
    input.finish(kernels: kernels, pool: run.pool)
  }
}
