import Files
import KernelInterface
import SystemModule
import TensorModule

/// A convolution in groups: RegNet's and ResNeXt's.
final class GroupedConvolution: PreparedOperation {
  let output: Layout
  fileprivate let layer: GroupedConvolution2D
  fileprivate let input: FeatureShape

  init(
    _ form: Convolution.Form, _ input: FeatureShape, _ algorithm: Convolution2D.Algorithm,
    _ weights: NetworkWeights
  ) throws(DermaFusionError) {
    let (product, size) = (form.product, form.window.kernelSize)
    let (weight, bias) = try weights.floats(
      product, shape: [product.channels, input.channels / form.groups, size, size])
    self.input = input
    layer = GroupedConvolution2D(
      weight: weight, bias: bias, inputChannels: input.channels, groups: form.groups, window: form.window,
      activation: product.activation, algorithm: algorithm, kernels: weights.kernels)
    let shape = layer.outputShape(input)
    output = Layout(shape, sumRowCount: form.feedsGate ? shape.height : 0, kernels: weights.kernels)
  }

  var scratchCount: Int { layer.scratchCount(input) }

  func run(_ inputs: [Stored], into output: Stored, in run: Run) {
    layer(inputs[0].map, into: output.map, scratch: run.scratch, pool: run.pool)
    if let sums = output.sums {
      output.map.writeSumsOfRows(to: sums, kernels: layer.kernels, pool: run.pool)
    }
  }

  func makeGradient(_ producers: [(any PreparedOperation)?]) -> (any OperationGradient)? {
    GroupedConvolutionGradient(self)
  }
}

private final class GroupedConvolutionGradient: OperationGradient {
  private let forward: GroupedConvolution
  private let layer: GroupedConvolution2DGradient

  init(_ forward: GroupedConvolution) {
    self.forward = forward
    layer = GroupedConvolution2DGradient(forward.layer)
  }

  var activation: Activation { forward.layer.activation }
  var writesMeans: Bool { forward.output.sumRowCount > 0 }
  var scratchCount: Int { max(forward.scratchCount, layer.scratchCount(forward.input)) }

  func recompute(
    _ inputs: [FeatureMap], into argument: FeatureMap, activated: FeatureMap?,
    state: UnsafeMutablePointer<Float>, in run: Run
  ) {
    let kernels = forward.layer.kernels
    forward.layer(
      inputs[0], activation: activation.isIdempotent ? nil : .identity, into: argument, scratch: run.scratch,
      pool: run.pool)
    activated?.activate(activation, of: argument, kernels: kernels, pool: run.pool)
    guard writesMeans else { return }
    precondition(activation.isIdempotent, "means of \(activation), which was not applied")
    let means = argument.means(kernels: kernels, pool: run.pool)
    argument.valuesBehind.update(from: means, count: means.count)
  }

  func backward(
    _ gradient: FeatureMap, to input: InputGradient, state: UnsafeMutablePointer<Float>, in run: Run
  ) {
    layer(gradient, into: input.target, scratch: run.scratch, pool: run.pool)
    input.finish(kernels: forward.layer.kernels, pool: run.pool)
  }
}
