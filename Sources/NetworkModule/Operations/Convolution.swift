import Files
import KernelInterface
import SystemModule
import TensorModule

/// A convolution over all channels, or over those of each group; with a window of one tap and stride 1, a linear layer on
/// every pixel.
///
/// Its inputs are the map, the factors of a gate where it has one, and what is added before the activation.
final class Convolution: Operation {
  struct Form: Sendable, Equatable {
    var product: Product
    let window: Window
    var groups = 1
    /// True if its input is the image, whose few channels lie close together.
    let readsImage: Bool
    /// True if the sums of its channels are written too, for a gate. Only in groups.
    var feedsGate = false
    /// True if the second input multiplies the channels of the first.
    var isGated = false
    /// True if the last input is added to the sums.
    var addsLastInput = false

    var isLinear: Bool { window.kernelSize == 1 && window.stride == 1 && groups == 1 }
    /// The grid of the input, in a network in 8 bits whose sums of floats are exact there.
    var grid: ExactGrid? { if case .grid(let grid) = product.arithmetic { grid } else { nil } }
    /// True if the activation is a pass of its own, in a fixed order. ReLU6 needs none: what follows computes on its grid.
    var isActivatedLater: Bool {
      grid != nil && product.activation != .identity && product.activation != .relu6
    }
  }

  let form: Form

  init(_ form: Form) { self.form = form }

  var name: String { form.product.name }
  var title: String {
    form.window.title("convolution") + (form.groups == 1 ? "" : ", \(form.groups) groups")
  }
  var window: Window? { form.isLinear ? nil : form.window }
  var precisions: [Precision] {
    form.isLinear || form.readsImage ? Precision.allCases : [.float32, .bfloat16]
  }

  private func algorithm(_ output: FeatureShape) -> Convolution2D.Algorithm {
    .best(for: form.window, isImage: form.readsImage, inGroups: form.groups > 1 ? output : nil)
  }

  func outputShape(_ inputs: [FeatureShape]) -> FeatureShape {
    form.window.outputShape(inputs[0], channels: form.product.channels)
  }

  func multiplyAdds(_ inputs: [FeatureShape]) -> Int {
    let output = outputShape(inputs)
    let channels = inputs[0].channels / form.groups * form.product.channels
    return algorithm(output).productCount(output, form.window) * channels
  }

  func parameterCount(_ inputs: [FeatureShape]) -> Int {
    form.product.parameterCount(
      weights: inputs[0].channels / form.groups * form.window.kernelSize * form.window.kernelSize)
  }

  func prepare(
    _ inputs: [FeatureShape], _ weights: NetworkWeights, pool: ThreadPool
  ) throws(DermaFusionError) -> any PreparedOperation {
    let output = outputShape(inputs)
    if form.groups > 1 { return try GroupedConvolution(form, inputs[0], algorithm(output), weights) }
    return PreparedConvolution(
      try layer(inputs[0].channels, algorithm(output), weights), inputs[0], form,
      output: Layout(output, kernels: weights.kernels), pool: pool)
  }

  private func layer(
    _ channels: Int, _ algorithm: Convolution2D.Algorithm, _ weights: NetworkWeights
  ) throws(DermaFusionError) -> Convolution2D {
    let (product, size) = (form.product, form.window.kernelSize)
    if product.arithmetic == .int8 {
      return try weights.quantizedLinear(
        weights.quantizedLayer(name, shape: [product.channels, channels, 1, 1]),
        activation: product.activation)
    }
    let activation = form.isActivatedLater ? .identity : product.activation
    if size == 1 {
      return Convolution2D(
        matrix: try weights.matrix(product, inputs: channels), window: form.window, activation: activation,
        algorithm: algorithm)
    }
    let (weight, bias) = try weights.floats(product, shape: [product.channels, channels, size, size])
    return Convolution2D(
      weight: weight, bias: bias, inputChannels: channels, window: form.window,
      activation: activation, algorithm: algorithm, kernels: weights.kernels)
  }
}

extension Window {
  /// `convolution 3x3 / 2`
  func title(_ operation: String) -> String {
    "\(operation) \(kernelSize)x\(kernelSize)" + (stride == 1 ? "" : " / \(stride)")
  }
}

/// Its output is a map of floats; its input too, or words that the products read.
private final class PreparedConvolution: PreparedOperation {
  let output: Layout
  let scratchCount: Int
  private let layer: Convolution2D
  private let input: FeatureShape
  private let form: Convolution.Form
  private let pool: ThreadPool

  init(
    _ layer: Convolution2D, _ input: FeatureShape, _ form: Convolution.Form, output: Layout, pool: ThreadPool
  ) {
    self.layer = layer
    self.input = input
    self.form = form
    self.output = output
    self.pool = pool
    // In 8 bits another operation writes the words.
    scratchCount =
      form.product.arithmetic == .int8 ? 0 : layer.scratchCount(input, isGated: form.isGated, pool: pool)
  }

  func run(_ inputs: [Stored], into output: Stored, in run: Run) {
    let kernels = layer.kernels
    let residual = form.addsLastInput ? inputs[inputs.count - 1].map : nil
    if inputs[0].layout.type != .float32 {
      layer(
        inputs[0].words(kernels), residual: residual, into: output.map, scratch: run.scratch, pool: run.pool)
      return
    }
    if form.readsImage, let grid = form.grid {
      inputs[0].map.round(to: grid, kernels: kernels, pool: run.pool)
    }
    if case .values(let argument, _) = run.kept {
      layer(
        inputs[0].map, residual: residual, activation: .identity, activated: output.map, into: argument.map,
        scratch: run.scratch, pool: run.pool)
      return
    }
    layer(
      inputs[0].map, gate: form.isGated ? UnsafePointer(inputs[1].pointer) : nil, residual: residual,
      into: output.map, scratch: run.scratch, pool: run.pool)
    if form.isActivatedLater {
      output.map.activateExactly(form.product.activation, kernels: kernels, pool: run.pool)
    } else if form.grid != nil, form.product.activation == .relu6 {
      output.map.round(to: .relu6, kernels: kernels, pool: run.pool)
    }
  }

  func makeGradient(_ producers: [(any PreparedOperation)?]) -> (any OperationGradient)? {
    let gate =
      form.isGated
      ? (producers[1] as? SqueezeExciteGate)?.layer : (producers[0] as? QuantizedGate)?.layer.floats
    precondition(!form.isGated || gate != nil, "\(form.product.name) without the gate of its input")
    return ConvolutionGradient(layer.floats, input, form, gate: gate, pool: pool)
  }
}

/// The gradient of a convolution, and of the gate before it, whose factors depend on the same input.
private final class ConvolutionGradient: OperationGradient {
  private struct Gate {
    let layer: SqueezeExcite
    let gradient: SqueezeExciteGradient
  }

  let scratchCount: Int
  private let layer: Convolution2D
  private let transposed: Convolution2DGradient
  private let form: Convolution.Form
  private let gate: Gate?

  /// Packs the transposed weights.
  init(
    _ layer: Convolution2D, _ input: FeatureShape, _ form: Convolution.Form, gate: SqueezeExcite?,
    pool: ThreadPool
  ) {
    self.layer = layer
    self.form = form
    transposed = Convolution2DGradient(layer)
    self.gate = gate.map { Gate(layer: $0, gradient: SqueezeExciteGradient($0)) }
    scratchCount = max(
      layer.scratchCount(input, pool: pool), transposed.scratchCount(input, pool: pool))
  }

  var activation: Activation { layer.activation }
  var addsLastInput: Bool { form.addsLastInput }
  var readsInput: Bool { gate != nil }
  var keepsValues: Bool { gate == nil && !activation.isIdempotent }

  func recompute(
    _ inputs: [FeatureMap], into argument: FeatureMap, activated: FeatureMap?,
    state: UnsafeMutablePointer<Float>, in run: Run
  ) {
    // The backward pass reads the gated value once more; the product would overwrite it.
    precondition(gate == nil, "\(form.product.name): the output of a gated product is a mark")
    layer(
      inputs[0], residual: addsLastInput ? inputs[inputs.count - 1] : nil,
      activation: activation.isIdempotent ? nil : .identity, activated: activated, into: argument,
      scratch: run.scratch, pool: run.pool)
  }

  func backward(
    _ gradient: FeatureMap, to input: InputGradient, state: UnsafeMutablePointer<Float>, in run: Run
  ) {
    guard let gate, let values = input.values else {
      transposed(
        gradient, residual: input.residual, below: input.below, into: input.target, scratch: run.scratch,
        pool: run.pool)
      return
    }
    let kernels = layer.kernels
    let factorGradient = transposed.productSums(
      gradient, below: values, into: input.target, scratch: run.scratch, pool: run.pool)
    let squeezed = gate.layer.state(means: values.means, pool: run.pool)
    let share = 1 / Float(input.target.shape.pixelCount)
    let offsets = gate.gradient.meansGradient(factorGradient, state: squeezed, pool: run.pool).map {
      $0 * share
    }
    let isLast = input.residual == nil && input.below != nil
    input.target.applyDerivative(
      of: isLast ? values.activation : .identity, at: values.arguments, factors: squeezed.gate,
      offsets: offsets, kernels: kernels, pool: run.pool)
    if !isLast { input.finish(kernels: kernels, pool: run.pool) }
  }
}
