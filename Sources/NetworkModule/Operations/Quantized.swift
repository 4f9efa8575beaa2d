import KernelInterface
import SystemModule
import TensorModule

/// Writes the levels of a map that a layer of 8 bits reads.
///
/// Between the layers of 8 bits are levels, and sums of products of whole numbers, which are exact: every machine and the
/// Python definition (`Scripts/dermafusion_training/model/quantized.py`) give the same bits.
final class Quantize: Operation {
  /// The layer.
  let name: String
  /// True if the layer is a depthwise convolution, whose levels are finer than bytes.
  private let isFine: Bool

  init(_ name: String, isFine: Bool) {
    self.name = name
    self.isFine = isFine
  }

  var title: String { "8-bit levels" }

  func prepare(
    _ inputs: [FeatureShape], _ weights: NetworkWeights, pool: ThreadPool
  ) throws(DermaFusionError) -> any PreparedOperation {
    PreparedQuantize(
      try weights.quantization(name),
      output: Layout(inputs[0], type: isFine ? .float32 : .int8, kernels: weights.kernels),
      kernels: weights.kernels)
  }
}

private final class PreparedQuantize: PreparedOperation {
  let output: Layout
  private let quantizer: Quantizer
  private let kernels: KernelSet

  init(_ quantization: Quantization, output: Layout, kernels: KernelSet) {
    quantizer = Quantizer(quantization, channels: output.shape.channels, kernels: kernels)
    self.output = output
    self.kernels = kernels
  }

  func run(_ inputs: [Stored], into output: Stored, in run: Run) {
    if self.output.type == .float32 {
      inputs[0].map.writeFineLevels(
        scale: quantizer.levels.scale, into: output.map, kernels: kernels, pool: run.pool)
    } else {
      quantizer.write(inputs[0].map, into: output.words(kernels), pool: run.pool)
    }
  }
}

/// A depthwise convolution in 8 bits, after a linear layer where there is one.
final class QuantizedExpandedDepthwise: PreparedOperation {
  let output: Layout
  private let layer: QuantizedDepthwise
  private let window: Window
  private let plan: DepthwisePlan
  private let input: FeatureShape
  private let kernels: KernelSet
  /// A step of the output's levels before a gate; nil without one.
  private let gateScale: Float?

  init(
    _ form: Depthwise.Form, _ input: FeatureShape, _ weights: NetworkWeights, pool: ThreadPool
  ) throws(DermaFusionError) {
    let (product, size) = (form.product, form.window.kernelSize)
    let depthwise = try weights.quantizedLayer(product.name, shape: [product.channels, 1, size, size])
    try weights.requireZeroPoint(depthwise.input, of: product.name, "before a depthwise convolution")
    let reader: String
    switch form.reader {
    case .any: preconditionFailure("\(product.name) in 8 bits without a product after it")
    case .product(let name): (reader, gateScale) = (name, nil)
    case .gate(let gate, let name):
      (reader, gateScale) = (name, try weights.scales("\(gate).input_scale", count: 1)[0])
    }
    let output = try weights.quantization(reader)
    let isBytes = product.activation == .relu6
    if isBytes { try weights.requireZeroPoint(output, of: reader, "after ReLU6") }
    var expansion: Convolution2D?
    if let layer = form.expansion {
      expansion = try weights.quantizedLinear(
        weights.quantizedLayer(layer.name, shape: [layer.channels, input.channels, 1, 1]),
        outputScale: isBytes ? depthwise.input.scale : nil, activation: layer.activation)
    }
    guard
      let layer = QuantizedDepthwise(
        expansion: expansion, weight: depthwise.weight, input: depthwise.input, output: output,
        window: form.window, activation: product.activation, kernels: weights.kernels)
    else { throw weights.sumsTooLarge(product.name) }
    self.layer = layer
    self.input = input
    window = form.window
    kernels = weights.kernels
    plan = layer.plan(input, threadCount: pool.threadCount)
    self.output =
      gateScale == nil
      ? Layout(plan.output, type: .int8, kernels: kernels)
      : Layout(plan.output, sumRowCount: plan.sumCount, kernels: kernels)
  }

  var scratchCount: Int { layer.scratchCount(plan) }

  func run(_ inputs: [Stored], into output: Stored, in run: Run) {
    let input: QuantizedDepthwise.Input =
      layer.expansion == nil ? .fineLevels(inputs[0].map) : .levels(inputs[0].words(kernels))
    if let gateScale, let sums = output.sums {
      layer(
        input, into: output.map, scale: gateScale,
        sums: UnsafeMutableRawPointer(sums).assumingMemoryBound(to: Int32.self), plan: plan,
        scratch: run.scratch, pool: run.pool)
    } else {
      layer(input, into: output.words(kernels), plan: plan, scratch: run.scratch, pool: run.pool)
    }
  }

  func makeGradient(_ producers: [(any PreparedOperation)?]) -> (any OperationGradient)? {
    let depthwise = DepthwiseConvolution2D(
      weight: layer.weight.values, bias: layer.weight.bias, window: window, activation: layer.activation,
      kernels: kernels)
    return DepthwiseGradient(
      ExpandedDepthwise(expansion: layer.expansion.map { $0.floats }, depthwise: depthwise), input,
      writesMeans: gateScale != nil, threadCount: plan.threadCount)
  }
}

/// Squeeze-excite in 8 bits: from fine levels and their sums to the levels that the product after it reads.
final class QuantizedGate: PreparedOperation {
  let output: Layout
  let layer: QuantizedSqueezeExcite
  private let levels: Quantization
  private let kernels: KernelSet

  /// Binds squeeze-excite's two layers and `NAME.input_scale`, the step of what they gate.
  init(_ form: Gate.Form, _ input: FeatureShape, _ weights: NetworkWeights) throws(DermaFusionError) {
    let (name, channels) = (form.name, input.channels)
    layer = QuantizedSqueezeExcite(
      reduce: try weights.quantizedLinear(
        weights.quantizedLayer("\(name).conv_reduce", shape: [form.hidden, channels, 1, 1]),
        activation: form.activation),
      expand: try weights.quantizedLinear(
        weights.quantizedLayer("\(name).conv_expand", shape: [channels, form.hidden, 1, 1]),
        activation: form.gate),
      inputScale: try weights.scales("\(name).input_scale", count: 1)[0])
    guard let product = form.product else { preconditionFailure("\(name) in 8 bits without a product") }
    levels = try weights.quantization(product)
    kernels = weights.kernels
    output = Layout(input, type: .int8, kernels: kernels)
  }

  var scratchCount: Int { layer.factorCount + layer.scratchCount }

  func run(_ inputs: [Stored], into output: Stored, in run: Run) {
    guard let sums = inputs[0].sums else { preconditionFailure("levels without sums before a gate") }
    layer(
      sums: UnsafeRawPointer(sums).assumingMemoryBound(to: Int32.self),
      sumCount: inputs[0].layout.sumRowCount, pixelCount: self.output.shape.pixelCount,
      outputScale: levels.scale, into: run.scratch, scratch: run.scratch + layer.factorCount, pool: run.pool)
    output.words(kernels).write(
      inputs[0].map, factors: run.scratch, zeroPoint: levels.zeroPoint, pool: run.pool)
  }
}
