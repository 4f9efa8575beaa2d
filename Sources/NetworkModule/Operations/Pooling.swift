import Files
import KernelInterface
import SystemModule
import TensorModule

/// The greatest value of each channel under a window.
final class MaxPooling: Operation {
  private let slidingWindow: Window

  init(_ window: Window) { slidingWindow = window }

  var title: String { slidingWindow.title("max pooling") }
  var window: Window? { slidingWindow }
  var precisions: [Precision] { [.float32, .bfloat16] }

  func outputShape(_ inputs: [FeatureShape]) -> FeatureShape {
    slidingWindow.outputShape(inputs[0], channels: inputs[0].channels)
  }

  func prepare(
    _ inputs: [FeatureShape], _ weights: NetworkWeights, pool: ThreadPool
  ) throws(DermaFusionError) -> any PreparedOperation {
    let layer = MaxPooling2D(window: slidingWindow, kernels: weights.kernels)
    let (kernels, input) = (weights.kernels, Layout(inputs[0], kernels: weights.kernels))
    return PlainOperation(Layout(outputShape(inputs), kernels: kernels), kernels, stateCount: input.count) {
      inputs, output, run in
      layer(inputs[0], into: output, pool: run.pool)
    } backward: { gradient, target, state, run in
      let values = target.activated(state: state, input, kernels: kernels, pool: run.pool)
      layer.inputGradient(gradient, at: values, into: target.target)
    }
  }
}

/// The mean of each channel under a window.
final class AveragePooling: Operation {
  private let slidingWindow: Window

  init(_ window: Window) { slidingWindow = window }

  var title: String { slidingWindow.title("average pooling") }
  var window: Window? { slidingWindow }
  var precisions: [Precision] { [.float32, .bfloat16] }

  func outputShape(_ inputs: [FeatureShape]) -> FeatureShape {
    slidingWindow.outputShape(inputs[0], channels: inputs[0].channels)
  }

  func prepare(
    _ inputs: [FeatureShape], _ weights: NetworkWeights, pool: ThreadPool
  ) throws(DermaFusionError) -> any PreparedOperation {
    let layer = AveragePooling2D(window: slidingWindow, kernels: weights.kernels)
    return PlainOperation(Layout(outputShape(inputs), kernels: weights.kernels), weights.kernels) {
      inputs, output, run in
      layer(inputs[0], into: output, pool: run.pool)
    } backward: { gradient, input, _, _ in
      layer.inputGradient(gradient, into: input.target)
    }
  }
}

/// The mean of each channel over all pixels, or over some rows: the tokens of an image, or the class token alone.
final class Mean: Operation {
  /// Nil: all.
  let rows: Range<Int>?

  init(rows: Range<Int>? = nil) { self.rows = rows }

  var title: String {
    guard let rows else { return "average pooling" }
    return rows.count == 1
      ? "token \(rows.lowerBound)" : "mean of tokens \(rows.lowerBound)-\(rows.upperBound - 1)"
  }

  func outputShape(_ inputs: [FeatureShape]) -> FeatureShape {
    FeatureShape(height: 1, width: 1, channels: inputs[0].channels)
  }

  func prepare(
    _ inputs: [FeatureShape], _ weights: NetworkWeights, pool: ThreadPool
  ) throws(DermaFusionError) -> any PreparedOperation {
    let (rows, kernels) = (rows, weights.kernels)
    let output = Layout(outputShape(inputs), kernels: kernels)
    return PlainOperation(output, kernels, scratchCount: output.count) { inputs, output, run in
      GlobalAveragePooling.compute(
        rows.map { inputs[0].rows($0) } ?? inputs[0], into: output.pointer, scratch: run.scratch,
        kernels: kernels)
    } backward: { gradient, input, _, _ in
      let target = input.target
      if let rows {
        target.pointer.update(repeating: 0, count: rows.lowerBound * target.pixelStride)
        let behind = target.shape.pixelCount - rows.upperBound
        (target.pointer + rows.upperBound * target.pixelStride).update(
          repeating: 0, count: behind * target.pixelStride)
      }
      GlobalAveragePooling.inputGradient(
        gradient.dense(), into: rows.map { target.rows($0) } ?? target)
    }
  }
}

extension FeatureMap {
  /// Some of the rows, as tokens without a grid.
  func rows(_ rows: Range<Int>) -> FeatureMap {
    FeatureMap(
      pointer + rows.lowerBound * pixelStride,
      shape: FeatureShape(height: rows.count, width: 1, channels: shape.channels), pixelStride: pixelStride)
  }
}
