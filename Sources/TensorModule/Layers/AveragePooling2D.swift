/// The mean over a window that slides over the input; zeros of the padding are not counted, as in TensorFlow and in
/// PyTorch with `count_include_pad=False`.
package struct AveragePooling2D: Sendable {
  /// The window.
  package let window: Window

  /// A pooling with the given window.
  package init(window: Window) { self.window = window }

  /// Computes the output, of the input's channels.
  package func callAsFunction(_ input: FeatureMap, into output: FeatureMap) {
    precondition(
      output.shape == window.outputShape(input.shape, channels: input.shape.channels),
      "average pooling from \(input.shape) to \(output.shape)")
    let resolved = window.resolve(height: input.shape.height, width: input.shape.width)
    for y in 0..<output.shape.height {
      let rows = inside(y, before: resolved.top, extent: input.shape.height)
      for x in 0..<output.shape.width {
        let columns = inside(x, before: resolved.left, extent: input.shape.width)
        let target = output.pointer + (y * output.shape.width + x) * output.pixelStride
        target.update(repeating: 0, count: input.shape.channels)
        for row in rows {
          for column in columns {
            let pixel = input.pointer + (row * input.shape.width + column) * input.pixelStride
            for channel in 0..<input.shape.channels { target[channel] += pixel[channel] }
          }
        }
        let count = Float(rows.count * columns.count)
        for channel in 0..<input.shape.channels { target[channel] /= count }
      }
    }
  }

  private func inside(_ output: Int, before: Int, extent: Int) -> [Int] {
    (0..<window.kernelSize).map { output * window.stride - before + $0 * window.dilation }
      .filter { (0..<extent).contains($0) }
  }
}
