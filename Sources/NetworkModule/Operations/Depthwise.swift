import KernelInterface
import SystemModule
import TensorModule

/// A depthwise convolution, and the linear layer before it where both became one operation: the expanded tensor is then
/// never whole in memory.
final class Depthwise: Operation {
  /// The reader of the output, which decides what it is written as.
  enum Reader: Sendable, Equatable {
    /// Anything: a map of floats.
    case any
    /// A gate and a product: a map, and the sums of its channels. In 8 bits fine levels of the gate's step.
    case gate(String, product: String)
    /// A product of words: in 8 bits levels of its input.
    case product(String)
  }

  struct Form: Sendable, Equatable {
    var product: Product
    let window: Window
    /// The linear layer before.
    var expansion: Product?
    var reader = Reader.any
  }

  let form: Form

  init(_ form: Form) { self.form = form }

  var name: String { form.product.name }
  var title: String { (form.expansion == nil ? "" : "expand, ") + form.window.title("depthwise") }
  var window: Window? { form.window }

  func outputShape(_ inputs: [FeatureShape]) -> FeatureShape {
    form.window.outputShape(inputs[0], channels: form.product.channels)
  }

  func multiplyAdds(_ inputs: [FeatureShape]) -> Int {
    let expansion = form.expansion == nil ? 0 : inputs[0].pixelCount * inputs[0].channels
    let taps = form.window.kernelSize * form.window.kernelSize
    return (expansion + outputShape(inputs).pixelCount * taps) * form.product.channels
  }

  func parameterCount(_ inputs: [FeatureShape]) -> Int {
    let expansion = form.expansion?.parameterCount(weights: inputs[0].channels) ?? 0
    return expansion
      + form.product.parameterCount(weights: form.window.kernelSize * form.window.kernelSize)
  }

  func prepare(
    _ inputs: [FeatureShape], _ weights: NetworkWeights, pool: ThreadPool
  ) throws(DermaFusionError) -> any PreparedOperation {
    if form.product.arithmetic == .int8 {
      return try QuantizedExpandedDepthwise(form, inputs[0], weights, pool: pool)
    }
    let (product, size) = (form.product, form.window.kernelSize)
    var expansion: Convolution2D?
    if let layer = form.expansion {
      expansion = Convolution2D(
        matrix: try weights.matrix(layer, inputs: inputs[0].channels), activation: layer.activation)
    }
    let (weight, bias) = try weights.floats(product, shape: [product.channels, 1, size, size])
    let grid: ExactGrid? = if case .grid = product.arithmetic { .relu6 } else { nil }
    let depthwise = DepthwiseConvolution2D(
      weight: weight, bias: bias, window: form.window, activation: product.activation,
      kernels: weights.kernels)
    return ExpandedDepthwiseOperation(
      ExpandedDepthwise(expansion: expansion, depthwise: depthwise), inputs[0], form.reader, grid: grid,
      pool: pool)
  }
}

/// In floats. A batch norm of its own is one too, with a window of one tap.
final class ExpandedDepthwiseOperation: PreparedOperation {
  let output: Layout
  let layer: ExpandedDepthwise
  private let plan: DepthwisePlan
  private let input: FeatureShape
  private let grid: ExactGrid?

  /// - Parameter grid: The grid that the output is rounded to, in a network in 8 bits.
  init(
    _ layer: ExpandedDepthwise, _ input: FeatureShape, _ reader: Depthwise.Reader, grid: ExactGrid? = nil,
    pool: ThreadPool
  ) {
    self.layer = layer
    self.input = input
    self.grid = grid
    plan = layer.plan(input, threadCount: pool.threadCount)
    let kernels = layer.depthwise.kernels
    output =
      switch reader {
      case .any: Layout(plan.output, kernels: kernels)
      case .gate: Layout(plan.output, sumRowCount: plan.sumCount, kernels: kernels)
      case .product: Layout(plan.output, type: .bfloat16, kernels: kernels)
      }
  }

  private var writesWords: Bool { output.type != .float32 }
  var writesMasks: Bool { true }

  /// The words of the input, then what a task works in.
  var scratchCount: Int {
    layer.packedCount(input) + plan.scratchCount + plan.widestRowCount
  }

  func run(_ inputs: [Stored], into output: Stored, in run: Run) {
    let kernels = layer.depthwise.kernels
    let taskScratch = run.scratch + layer.packedCount(input)
    if writesWords {
      layer(
        inputs[0].map, packed: run.scratch, into: output.words(kernels), plan: plan, scratch: taskScratch,
        pool: run.pool)
      return
    }
    if case .values(let argument, let state) = run.kept {
      layer(
        inputs[0].map, packed: run.scratch, into: output.map, sums: output.sums,
        keeping: layer.kept(
          argument.map, hasMeans: argument.layout.sumRowCount > 0, input, state: state), plan: plan,
        scratch: taskScratch,
        pool: run.pool)
    } else {
      layer(
        inputs[0].map, packed: run.scratch, into: output.map, sums: output.sums,
        masks: layer.masks(input, at: run.kept), plan: plan, scratch: taskScratch, pool: run.pool)
    }
    if let grid { output.map.round(to: grid, kernels: kernels, pool: run.pool) }
  }

  func makeGradient(_ producers: [(any PreparedOperation)?]) -> (any OperationGradient)? {
    DepthwiseGradient(
      ExpandedDepthwise(expansion: layer.expansion.map { $0.floats }, depthwise: layer.depthwise), input,
      writesMeans: output.sumRowCount > 0, threadCount: plan.threadCount)
  }
}

/// The gradient goes back through both layers some rows at a time. What the expansion gives is kept in between.
final class DepthwiseGradient: OperationGradient {
  let writesMeans: Bool
  let scratchCount: Int
  private let forward: ExpandedDepthwise
  private let depthwise: DepthwiseConvolution2DGradient
  private let expansion: Convolution2DGradient?
  private let input: FeatureShape
  /// The layout of the expanded tensor.
  private let expanded: Layout
  private let plan: DepthwisePlan

  /// Packs the weights for the backward pass.
  init(_ forward: ExpandedDepthwise, _ input: FeatureShape, writesMeans: Bool, threadCount: Int) {
    self.forward = forward
    self.input = input
    self.writesMeans = writesMeans
    let depthwise = DepthwiseConvolution2DGradient(forward.depthwise)
    self.depthwise = depthwise
    expansion = forward.expansion.map { Convolution2DGradient($0) }
    expanded = Layout(forward.expandedShape(input), kernels: forward.depthwise.kernels)
    plan = forward.plan(input, threadCount: threadCount)
    scratchCount = max(
      expansion == nil ? 0 : depthwise.scratchCount(expanded.shape), plan.scratchCount + plan.widestRowCount)
  }

  var activation: Activation { forward.depthwise.activation }

  /// The derivative of the expansion's activation.
  var stateCount: Int { forward.expansion == nil ? 0 : expanded.count }
  var keepsValues: Bool { true }

  var innerMaskCount: Int? {
    guard let layer = forward.expansion else { return 0 }
    return layer.activation.hasMask
      ? GradientMask.count(expanded.shape, kernels: forward.depthwise.kernels) : nil
  }

  func recompute(
    _ inputs: [FeatureMap], into argument: FeatureMap, activated: FeatureMap?,
    state: UnsafeMutablePointer<Float>, in run: Run
  ) {
    let sums = writesMeans ? AlignedBuffer(count: plan.sumCount * argument.pixelStride) : nil
    forward(
      inputs[0], into: activated, sums: sums?.pointer,
      keeping: forward.kept(argument, hasMeans: writesMeans, input, state: state),
      plan: plan, scratch: run.scratch, pool: run.pool)
  }

  func backward(
    _ gradient: FeatureMap, to input: InputGradient, state: UnsafeMutablePointer<Float>, in run: Run
  ) {
    guard let expansion, let layer = forward.expansion else {
      depthwise(gradient, into: input.target, pool: run.pool)
      input.finish(kernels: forward.depthwise.kernels, pool: run.pool)
      return
    }
    let mask = forward.masks(self.input, at: run.kept)?.expanded
    depthwise(
      gradient,
      below: mask.map { ActivationBelow($0) }
        ?? ActivationBelow(layer.activation, slopes: Stored(pointer: state, layout: expanded).map),
      expansion: expansion, residual: input.residual, into: input.target, scratch: run.scratch,
      pool: run.pool)
    input.below?.apply(to: input.target, kernels: forward.depthwise.kernels, pool: run.pool)
  }
}

extension ExpandedDepthwise {
  fileprivate func masks(_ input: FeatureShape, at kept: Kept?) -> Masks? {
    guard case .mask(_, let pointer) = kept else { return nil }
    return masks(input, at: pointer)
  }

  /// - Parameter state: The place of the slopes.
  fileprivate func kept(
    _ arguments: FeatureMap, hasMeans: Bool, _ input: FeatureShape, state: UnsafeMutablePointer<Float>
  ) -> KeptValues {
    let slopes = expansion.map { _ in FeatureMap(state, expandedShape(input), kernels: depthwise.kernels) }
    return KeptValues(arguments: arguments, hasMeans: hasMeans, slopes: slopes)
  }
}
