import Files
import KernelInterface
import SystemModule
import TensorModule

/// A convolution over all channels; with a window of one tap and stride 1, a linear layer on every pixel.
///
/// Its inputs are the map, the factors of a gate where it has one, and what is added before the activation.
final class Convolution: Operation {
  struct Form: Sendable, Equatable {
    var product: Product
    let window: Window
    /// True if its input is the image, whose few channels lie close together.
    let readsImage: Bool
    /// True if the second input multiplies the channels of the first.
    var isGated = false
    /// True if the last input is added to the sums.
    var addsLastInput = false

    var isLinear: Bool { window.kernelSize == 1 && window.stride == 1 }
  }

  let form: Form

  init(_ form: Form) { self.form = form }

  var name: String { form.product.name }
  var title: String { form.window.title("convolution") }
  var window: Window? { form.isLinear ? nil : form.window }
  var precisions: [Precision] { form.isLinear || form.readsImage ? Precision.allCases : [.float32] }

  func outputShape(_ inputs: [FeatureShape]) -> FeatureShape {
    form.window.outputShape(inputs[0], channels: form.product.channels)
  }

  func multiplyAdds(_ inputs: [FeatureShape]) -> Int {
    let (output, channels) = (outputShape(inputs), inputs[0].channels * form.product.channels)
    let algorithm = form.readsImage ? .windows : Convolution2D.Algorithm.best(for: form.window)
    return algorithm.productCount(output, form.window) * channels
  }

  func parameterCount(_ inputs: [FeatureShape]) -> Int {
    form.product.parameterCount(
      weights: inputs[0].channels * form.window.kernelSize * form.window.kernelSize)
  }

  func prepare(
    _ inputs: [FeatureShape], _ weights: NetworkWeights, pool: ThreadPool
  ) throws(DermaFusionError) -> any PreparedOperation {
    let (product, window, channels) = (form.product, form.window, inputs[0].channels)
    let output = Layout(outputShape(inputs), kernels: weights.kernels)
    if form.readsImage { return try ImageConvolution(form, inputs[0], weights, output: output) }
    if product.arithmetic == .int8 {
      let layer = try weights.quantizedPointwise(
        weights.quantizedLayer(name, shape: [product.channels, channels, 1, 1]),
        activation: product.activation)
      return QuantizedLinear(layer, form, output: output)
    }
    if form.isLinear {
      let matrix = try weights.matrix(product, inputs: channels)
      return Linear(
        PointwiseConvolution(matrix: matrix, activation: product.activation), form, output: output)
    }
    let layer: Convolution2D
    if window.kernelSize == 1 {
      layer = Convolution2D(
        matrix: try weights.matrix(product, inputs: channels), inputChannels: channels, window: window,
        activation: product.activation)
    } else {
      let shape = [product.channels, channels, window.kernelSize, window.kernelSize]
      let (weight, bias) = try weights.floats(product, shape: shape)
      layer = Convolution2D(
        weight: weight, bias: bias, inputChannels: channels, window: window, activation: product.activation,
        algorithm: Convolution2D.Algorithm.best(for: window), kernels: weights.kernels)
    }
    return WindowConvolution(layer, inputs[0], form, output: output, pool: pool)
  }
}

extension Window {
  /// `convolution 3x3 / 2`
  func title(_ operation: String) -> String {
    "\(operation) \(kernelSize)x\(kernelSize)" + (stride == 1 ? "" : " / \(stride)")
  }
}

/// Over the image, the first of a network. It has no gradient.
private final class ImageConvolution: PreparedOperation {
  let output: Layout
  private let layer: ImageConvolution2D
  private let input: FeatureShape
  private let kernels: KernelSet
  /// Of the input, in a network in 8 bits: the sums are exact on it.
  private let grid: ExactGrid?
  private let activation: Activation
  /// True if the activation is a pass of its own, in a fixed order. ReLU6 needs none: what follows computes on its grid.
  private let isActivatedLater: Bool

  init(
    _ form: Convolution.Form, _ input: FeatureShape, _ weights: NetworkWeights, output: Layout
  ) throws(DermaFusionError) {
    let (product, size) = (form.product, form.window.kernelSize)
    let (weight, bias) = try weights.floats(product, shape: [product.channels, input.channels, size, size])
    if case .grid(let grid) = product.arithmetic { self.grid = grid } else { grid = nil }
    self.input = input
    self.output = output
    kernels = weights.kernels
    activation = product.activation
    isActivatedLater = grid != nil && activation != .relu6
    layer = ImageConvolution2D(
      weight: weight, bias: bias, inputChannels: input.channels, window: form.window,
      activation: isActivatedLater ? .identity : activation, kernels: kernels)
  }

  var taskScratchCount: Int { layer.scratchCount(input) }

  func run(_ inputs: [Stored], into output: Stored, in run: Run) {
    let (image, map) = (inputs[0].map, output.map)
    if let grid { image.round(to: grid, kernels: kernels, pool: run.pool) }
    layer(image, into: map, scratch: run.taskScratch, pool: run.pool)
    if isActivatedLater {
      map.activateExactly(activation, kernels: kernels, pool: run.pool)
    } else if grid != nil {
      map.round(to: .relu6, kernels: kernels, pool: run.pool)
    }
  }
}

/// A convolution whose window has more than one tap, or a stride.
private final class WindowConvolution: PreparedOperation {
  let output: Layout
  let taskScratchCount: Int
  fileprivate let layer: Convolution2D
  fileprivate let input: FeatureShape
  fileprivate let form: Convolution.Form
  fileprivate let pool: ThreadPool

  init(
    _ layer: Convolution2D, _ input: FeatureShape, _ form: Convolution.Form, output: Layout, pool: ThreadPool
  ) {
    self.layer = layer
    self.input = input
    self.form = form
    self.output = output
    self.pool = pool
    taskScratchCount = layer.scratchCount(input, pool: pool)
  }

  func run(_ inputs: [Stored], into output: Stored, in run: Run) {
    layer(
      inputs[0].map, residual: form.addsLastInput ? inputs[inputs.count - 1].map : nil, into: output.map,
      scratch: run.taskScratch, pool: run.pool)
  }

  func makeGradient(_ producers: [(any PreparedOperation)?]) -> (any OperationGradient)? {
    WindowConvolutionGradient(self)
  }
}

private final class WindowConvolutionGradient: OperationGradient {
  let taskScratchCount: Int
  private let forward: WindowConvolution
  private let layer: Convolution2DGradient

  init(_ forward: WindowConvolution) {
    self.forward = forward
    layer = Convolution2DGradient(forward.layer)
    taskScratchCount = max(forward.taskScratchCount, layer.scratchCount(forward.input, pool: forward.pool))
  }

  var activation: Activation { forward.layer.activation }
  var addsLastInput: Bool { forward.form.addsLastInput }

  func recompute(
    _ inputs: [FeatureMap], into argument: FeatureMap, activated: FeatureMap?,
    state: UnsafeMutablePointer<Float>, in run: Run
  ) {
    forward.layer(
      inputs[0], residual: addsLastInput ? inputs[inputs.count - 1] : nil,
      activation: activation.isIdempotent ? nil : .identity, into: argument, scratch: run.taskScratch,
      pool: run.pool)
    activated?.activate(activation, of: argument, kernels: forward.layer.kernels, pool: run.pool)
  }

  func backward(
    _ gradient: FeatureMap, to input: InputGradient, state: UnsafeMutablePointer<Float>, in run: Run
  ) {
    layer(
      gradient, residual: input.residual, below: input.below, into: input.target, scratch: run.taskScratch,
      pool: run.pool)
  }
}
