import TensorModule

/// The first principal component of the pixels.
enum EigenCAM: ActivationMapRule {
  static func signedMap(activations: FeatureValues, gradient: FeatureValues) -> [Float] {
    let (pixels, channels) = (activations.pixelCount, activations.channels)
    var means = [Double](repeating: 0, count: channels)
    activations.forEachPixel { _, row in
      for channel in 0..<channels { means[channel] += Double(row[channel]) / Double(pixels) }
    }
    var centred = [Float](repeating: 0, count: pixels * channels)
    activations.forEachPixel { pixel, row in
      for channel in 0..<channels {
        centred[pixel * channels + channel] = Float(Double(row[channel]) - means[channel])
      }
    }
    // The components come from the smaller of the two products of the matrix with its own transpose.
    var map: [Double]
    if pixels <= channels {
      let (vector, value) = leadingEigenvector(
        gram(centred, rowCount: pixels, columnCount: channels), count: pixels)
      map = vector.map { $0 * value.squareRoot() }
    } else {
      var transposed = [Float](repeating: 0, count: pixels * channels)
      for pixel in 0..<pixels {
        for channel in 0..<channels {
          transposed[channel * pixels + pixel] = centred[pixel * channels + channel]
        }
      }
      let (direction, _) = leadingEigenvector(
        gram(transposed, rowCount: channels, columnCount: pixels), count: channels)
      map = (0..<pixels).map { pixel in
        (0..<channels).reduce(0) { $0 + Double(centred[pixel * channels + $1]) * direction[$1] }
      }
    }
    if -(map.min() ?? 0) > map.max() ?? 0 { map = map.map { -$0 } }
    return map.map { Float($0) }
  }

  /// `matrix * transpose(matrix)`, `[rowCount, rowCount]`.
  private static func gram(_ matrix: [Float], rowCount: Int, columnCount: Int) -> [Double] {
    let kernels = KernelChoice.current
    let packed = PackedMatrix(
      weight: matrix, columnCount: rowCount, depth: columnCount, bias: nil, kernels: kernels)
    let stride = rowCount.roundedUp(toMultipleOf: kernels.vectorWidth)
    let product = AlignedBuffer(count: rowCount * stride)
    packed.multiply(
      a: matrix, aStride: columnCount, rowCount: rowCount, into: product.pointer, cStride: stride)
    return withExtendedLifetime(product) {
      (0..<rowCount * rowCount).map { Double(product.pointer[$0 / rowCount * stride + $0 % rowCount]) }
    }
  }

  /// The unit eigenvector of the largest eigenvalue of a positive semidefinite matrix, by repeated multiplication; and
  /// that eigenvalue. Zeros when the matrix is zero.
  static func leadingEigenvector(_ matrix: [Double], count: Int) -> (vector: [Double], value: Double) {
    // A start that no symmetry of an image makes orthogonal to the answer.
    var vector = (0..<count).map { 1 + Double($0 * 7919 % 101) / 101 }
    var value = 0.0
    for _ in 0..<maximumIterations {
      var next = [Double](repeating: 0, count: count)
      matrix.withUnsafeBufferPointer { matrix in
        for row in 0..<count {
          var sum = 0.0
          for column in 0..<count { sum += matrix[row * count + column] * vector[column] }
          next[row] = sum
        }
      }
      let length = next.reduce(0) { $0 + $1 * $1 }.squareRoot()
      if length == 0 { return ([Double](repeating: 0, count: count), 0) }
      var change = 0.0
      for i in 0..<count {
        next[i] /= length
        change = max(change, abs(next[i] - vector[i]))
      }
      vector = next
      value = length
      if change < 1e-10 { break }
    }
    return (vector, value)
  }

  /// Enough for components whose strengths differ by one part in a thousand.
  private static let maximumIterations = 20_000
}
