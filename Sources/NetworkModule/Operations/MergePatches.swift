import Files
import KernelInterface
import SystemModule
import TensorModule

/// Squares of 2x2 pixels side by side in the channels of one, column by column: upper left, lower left, upper right, lower
/// right, as Swin's patch merging has them.
final class MergePatches: Operation {
  var title: String { "merge 2x2 pixels" }
  var window: Window? { Window(kernelSize: 2, stride: 2, padding: .symmetric(0)) }
  var precisions: [Precision] { [.float32, .bfloat16] }

  func outputShape(_ inputs: [FeatureShape]) -> FeatureShape {
    FeatureShape(height: inputs[0].height / 2, width: inputs[0].width / 2, channels: 4 * inputs[0].channels)
  }

  func prepare(
    _ inputs: [FeatureShape], _ weights: NetworkWeights, pool: ThreadPool
  ) throws(DermaFusionError) -> any PreparedOperation {
    precondition(inputs[0].height % 2 == 0 && inputs[0].width % 2 == 0, "2x2 pixels of \(inputs[0])")
    return PreparedMerging(
      output: Layout(outputShape(inputs), kernels: weights.kernels), kernels: weights.kernels)
  }
}

private final class PreparedMerging: PreparedOperation, OperationGradient {
  let output: Layout
  private let kernels: KernelSet

  init(output: Layout, kernels: KernelSet) {
    self.output = output
    self.kernels = kernels
  }

  var scratchCount: Int { 0 }

  func run(_ inputs: [Stored], into output: Stored, in run: Run) {
    merge(inputs[0].map, output.map, run.pool)
  }

  /// - Parameter isBackward: Copies from the merged map to the other.
  private func merge(
    _ map: FeatureMap, _ merged: FeatureMap, isBackward: Bool = false, _ pool: ThreadPool
  ) {
    let (channels, width) = (map.shape.channels, merged.shape.width)
    pool.run(taskCount: merged.shape.height) { y, _ in
      for x in 0..<width {
        let whole = merged.pointer + (y * width + x) * merged.pixelStride
        for place in 0..<4 {
          let pixel = (2 * y + place % 2) * map.shape.width + 2 * x + place / 2
          let part = map.pointer + pixel * map.pixelStride
          if isBackward {
            part.update(from: whole + place * channels, count: channels)
            (part + channels).update(repeating: 0, count: map.pixelStride - channels)
          } else {
            (whole + place * channels).update(from: part, count: channels)
          }
        }
        if !isBackward {
          (whole + 4 * channels).update(repeating: 0, count: merged.pixelStride - 4 * channels)
        }
      }
    }
  }

  func makeGradient(_ producers: [(any PreparedOperation)?]) -> (any OperationGradient)? { self }

  func recompute(
    _ inputs: [FeatureMap], into argument: FeatureMap, activated: FeatureMap?,
    state: UnsafeMutablePointer<Float>, in run: Run
  ) {
    merge(inputs[0], argument, run.pool)
  }

  func backward(
    _ gradient: FeatureMap, to input: InputGradient, state: UnsafeMutablePointer<Float>, in run: Run
  ) {
    merge(input.target, gradient, isBackward: true, run.pool)
    input.finish(kernels: kernels, pool: run.pool)
  }
}
