import Files
import KernelInterface
import SystemModule
import TensorModule

/// The channels of two maps of the same pixels, one after the other.
final class Concatenation: Operation {
  var title: String { "concatenate" }
  var precisions: [Precision] { [.float32, .bfloat16] }

  func outputShape(_ inputs: [FeatureShape]) -> FeatureShape {
    precondition(
      inputs[0].height == inputs[1].height && inputs[0].width == inputs[1].width,
      "channels of \(inputs[0]) and of \(inputs[1])")
    var shape = inputs[0]
    shape.channels += inputs[1].channels
    return shape
  }

  func prepare(
    _ inputs: [FeatureShape], _ weights: NetworkWeights, pool: ThreadPool
  ) throws(DermaFusionError) -> any PreparedOperation {
    let first = inputs[0].channels
    return PlainOperation(Layout(outputShape(inputs), kernels: weights.kernels), weights.kernels) {
      inputs, output, run in
      output.copyChannels(0..<first, of: inputs[0], to: 0, pool: run.pool)
      output.copyChannels(0..<inputs[1].shape.channels, of: inputs[1], to: first, pool: run.pool)
    } backward: { gradient, input, _, run in
      input.target.copyChannels(0..<first, of: gradient, to: 0, pool: run.pool)
    } backwardToLast: { gradient, input, run in
      input.target.copyChannels(first..<gradient.shape.channels, of: gradient, to: 0, pool: run.pool)
    }
  }
}
