import KernelInterface
import SystemModule
import TensorModule

/// A linear layer on every pixel, in floats or in bfloat16: a product over the rows.
final class Linear: PreparedOperation {
  let output: Layout
  let layer: PointwiseConvolution
  let form: Convolution.Form

  init(_ layer: PointwiseConvolution, _ form: Convolution.Form, output: Layout) {
    self.layer = layer
    self.form = form
    self.output = output
  }

  private var pixelCount: Int { output.shape.pixelCount }

  var scratchCount: Int { form.isGated ? layer.scratchCount(pixelCount: pixelCount) : 0 }
  var taskScratchCount: Int { layer.taskScratchCount(pixelCount: pixelCount) }

  func run(_ inputs: [Stored], into output: Stored, in run: Run) {
    let residual = form.addsLastInput ? inputs[inputs.count - 1].map : nil
    if inputs[0].layout.type != .float32 {
      layer(inputs[0].words(layer.matrix.kernels), residual: residual, into: output.map, pool: run.pool)
      return
    }
    layer(
      inputs[0].map, gate: form.isGated ? UnsafePointer(inputs[1].pointer) : nil, residual: residual,
      into: output.map, scratch: run.scratch, taskScratch: run.taskScratch, pool: run.pool)
  }

  func makeGradient(_ producers: [(any PreparedOperation)?]) -> (any OperationGradient)? {
    LinearGradient(layer.floats, form, gate: form.isGated ? (producers[1] as? SqueezeExciteGate)?.layer : nil)
  }
}

/// The gradient of a linear layer, and of the gate before it, whose factors depend on the same input.
final class LinearGradient: OperationGradient {
  private struct Gate {
    let layer: SqueezeExcite
    let gradient: SqueezeExciteGradient
  }

  private let layer: PointwiseConvolution
  private let transposed: PointwiseConvolutionGradient
  private let form: Convolution.Form
  private let gate: Gate?

  /// Packs the transposed weights.
  init(_ layer: PointwiseConvolution, _ form: Convolution.Form, gate: SqueezeExcite?) {
    precondition(form.isGated == (gate != nil), "\(form.product.name) without the gate of its input")
    self.layer = layer
    self.form = form
    transposed = PointwiseConvolutionGradient(layer)
    self.gate = gate.map { Gate(layer: $0, gradient: SqueezeExciteGradient($0)) }
  }

  var activation: Activation { layer.activation }
  var addsLastInput: Bool { form.addsLastInput }
  var readsInput: Bool { form.isGated }

  func recompute(
    _ inputs: [FeatureMap], into argument: FeatureMap, activated: FeatureMap?,
    state: UnsafeMutablePointer<Float>, in run: Run
  ) {
    // The backward pass reads the gated value once more; the product would overwrite it.
    precondition(!form.isGated, "\(form.product.name): the output of a gated product is a mark")
    if addsLastInput || activation.isIdempotent {
      let plain = activation.isIdempotent ? activation : .identity
      PointwiseConvolution(matrix: layer.matrix, activation: plain)(
        inputs[0], residual: addsLastInput ? inputs[inputs.count - 1] : nil, into: argument, pool: run.pool)
      activated?.activate(activation, of: argument, kernels: layer.matrix.kernels, pool: run.pool)
    } else {
      layer.preActivation(inputs[0], into: argument, activated: activated, pool: run.pool)
    }
  }

  func backward(
    _ gradient: FeatureMap, to input: InputGradient, state: UnsafeMutablePointer<Float>, in run: Run
  ) {
    guard let gate, let values = input.values else {
      transposed(gradient, residual: input.residual, below: input.below, into: input.target, pool: run.pool)
      return
    }
    let kernels = layer.matrix.kernels
    let factorGradient = transposed.productSums(gradient, below: values, into: input.target, pool: run.pool)
    let squeezed = gate.layer.state(means: values.means)
    let share = 1 / Float(input.target.shape.pixelCount)
    let offsets = gate.gradient.meansGradient(factorGradient, state: squeezed).map { $0 * share }
    let isLast = input.residual == nil && input.below != nil
    input.target.applyDerivative(
      of: isLast ? values.activation : .identity, at: values.arguments, factors: squeezed.gate,
      offsets: offsets, kernels: kernels, pool: run.pool)
    if !isLast { input.finish(kernels: kernels, pool: run.pool) }
  }
}
