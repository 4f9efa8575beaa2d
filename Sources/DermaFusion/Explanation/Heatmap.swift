/// The steps from a signed map to one that can be shown, each as the PyPI package `grad-cam` does it.
package enum Heatmap {
  /// Cuts off the negative part, scales, resizes, and scales once more.
  ///
  /// - Parameter values: `[height, width]`, finite.
  /// - Returns: `[side, side]`, 0...1.
  package static func normalized(_ values: [Float], height: Int, width: Int, side: Int) -> [Float] {
    var positive = values.map { max($0, 0) }
    scale(&positive)
    var map = resized(positive, height: height, width: width, side: side)
    scale(&map)
    return map
  }

  /// `(v - minimum) / (1e-7 + maximum of that)`: 0...1, a little below 1 at the most.
  static func scale(_ values: inout [Float]) {
    let (minimum, maximum) = extremes(values)
    let range = 1e-7 + (maximum - minimum)
    unsafe values.withUnsafeMutableBufferPointer { values in
      for index in values.indices { unsafe values[index] = unsafe (values[index] - minimum) / range }
    }
  }

  /// The least and the greatest of finite values. In lanes, since one comparison would wait for the one before.
  private static func extremes(_ values: [Float]) -> (minimum: Float, maximum: Float) {
    guard let first = values.first else { return (0, 0) }
    var least = SIMD16<Float>(repeating: first)
    var greatest = least
    unsafe values.withUnsafeBytes { bytes in
      let step = MemoryLayout<SIMD16<Float>>.size
      for offset in stride(from: 0, through: bytes.count - step, by: step) {
        let lanes = unsafe bytes.loadUnaligned(fromByteOffset: offset, as: SIMD16<Float>.self)
        least.replace(with: lanes, where: lanes .< least)
        greatest.replace(with: lanes, where: lanes .> greatest)
      }
    }
    let rest = values.suffix(values.count % 16)
    return (min(least.min(), rest.min() ?? first), max(greatest.max(), rest.max() ?? first))
  }

  /// Bilinear, between the centres of pixels, without antialiasing: OpenCV's `resize` with `INTER_LINEAR`.
  package static func resized(_ values: [Float], height: Int, width: Int, side: Int) -> [Float] {
    let columns = taps(from: width, to: side)
    let wide = unsafe [Float](unsafeUninitializedCapacity: height * side) { target, count in
      count = height * side
      for y in 0..<height {
        for (x, tap) in columns.enumerated() {
          unsafe target[y * side + x] =
            values[y * width + tap.first] * (1 - tap.weight) + values[y * width + tap.second] * tap.weight
        }
      }
    }
    let rows = taps(from: height, to: side)
    return unsafe [Float](unsafeUninitializedCapacity: side * side) { target, count in
      count = side * side
      unsafe wide.withUnsafeBufferPointer { wide in
        for (y, tap) in rows.enumerated() {
          let (upper, lower) = (tap.first * side, tap.second * side)
          for x in 0..<side {
            unsafe target[y * side + x] =
              unsafe wide[upper + x] * (1 - tap.weight) + wide[lower + x] * tap.weight
          }
        }
      }
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
