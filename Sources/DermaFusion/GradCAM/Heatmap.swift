/// The steps from a signed map to one that can be shown, each as the PyPI package `grad-cam` does it.
enum Heatmap {
  /// Cuts off the negative part, scales, resizes, and scales once more.
  ///
  /// - Parameter values: `[height, width]`, finite.
  /// - Returns: `[side, side]`, 0...1.
  static func normalized(_ values: [Float], height: Int, width: Int, side: Int) -> [Float] {
    let positive = scaled(values.map { max($0, 0) })
    return scaled(resized(positive, height: height, width: width, side: side))
  }

  /// `(v - minimum) / (1e-7 + maximum of that)`: 0...1, a little below 1 at the most.
  static func scaled(_ values: [Float]) -> [Float] {
    let minimum = values.min() ?? 0
    let range = (values.max() ?? 0) - minimum
    return values.map { ($0 - minimum) / (1e-7 + range) }
  }

  /// Bilinear, between the centres of pixels, without antialiasing: OpenCV's `resize` with `INTER_LINEAR`.
  static func resized(_ values: [Float], height: Int, width: Int, side: Int) -> [Float] {
    let rows = taps(from: height, to: side)
    let columns = taps(from: width, to: side)
    return [Float](unsafeUninitializedCapacity: side * side) { target, count in
      values.withUnsafeBufferPointer { values in
        for y in 0..<side {
          let (top, bottom) = (rows[y].first * width, rows[y].second * width)
          let down = rows[y].weight
          for x in 0..<side {
            let (left, right, across) = (columns[x].first, columns[x].second, columns[x].weight)
            let upper = values[top + left] * (1 - across) + values[top + right] * across
            let lower = values[bottom + left] * (1 - across) + values[bottom + right] * across
            target[y * side + x] = upper * (1 - down) + lower * down
          }
        }
      }
      count = side * side
    }
  }

  /// For each output, the two inputs it lies between and the second one's weight.
  private static func taps(from input: Int, to output: Int) -> [(first: Int, second: Int, weight: Float)] {
    let scale = Double(input) / Double(output)
    return (0..<output).map { index in
      let position = min(max((Double(index) + 0.5) * scale - 0.5, 0), Double(input - 1))
      let first = Int(position)
      return (first, min(first + 1, input - 1), Float(position - Double(first)))
    }
  }
}
