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
    return PlainOperation(Layout(outputShape(inputs), kernels: weights.kernels), weights.kernels) {
      inputs, output, run in
      Self.merge(inputs[0], output, run.pool)
    } backward: { gradient, input, _, run in
      Self.merge(input.target, gradient, isBackward: true, run.pool)
    }
  }

  /// - Parameter isBackward: Copies from the merged map to the other.
  private static func merge(
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
}
