import KernelInterface
import SystemModule
import TensorModule

/// The first principal component of the pixels.
enum EigenCAM {
  static func signedMap(_ activations: FeatureValues) -> [Float] {
    let (pixels, channels) = (activations.pixelCount, activations.channels)
    let centred = centred(activations)
    // The components come from the smaller of the two products of the matrix with its own transpose.
    var map: [Double]
    if pixels <= channels {
      let (vector, value) = gram(centred, rowCount: pixels, columnCount: channels).leadingEigenvector()
      map = vector.map { $0 * value.squareRoot() }
    } else {
      let transposed = transposed(centred, rowCount: pixels, columnCount: channels)
      let (direction, _) = gram(transposed, rowCount: channels, columnCount: pixels).leadingEigenvector()
      map = products(of: centred, with: direction)
    }
    if -(map.min() ?? 0) > map.max() ?? 0 { map = map.map { -$0 } }
    return map.map { Float($0) }
  }

  /// The values less the mean of their channel, `[pixels, channels]`.
  private static func centred(_ activations: FeatureValues) -> [Float] {
    let (pixels, channels) = (activations.pixelCount, activations.channels)
    var means = [Double](repeating: 0, count: channels)
    unsafe activations.forEachPixel { _, row in
      for channel in 0..<channels { unsafe means[channel] += Double(row[channel]) }
    }
    for channel in 0..<channels { means[channel] /= Double(pixels) }
    return unsafe [Float](unsafeUninitializedCapacity: pixels * channels) { target, count in
      unsafe activations.forEachPixel { pixel, row in
        let target = unsafe target.baseAddress! + pixel * channels
        for channel in 0..<channels {
          unsafe target[channel] = unsafe Float(Double(row[channel]) - means[channel])
        }
      }
      count = pixels * channels
    }
  }

  private static func transposed(_ matrix: [Float], rowCount: Int, columnCount: Int) -> [Float] {
    unsafe [Float](unsafeUninitializedCapacity: rowCount * columnCount) { target, count in
      unsafe matrix.withUnsafeBufferPointer { matrix in
        // As many rows at a time as one cache line of the target holds.
        for start in stride(from: 0, to: rowCount, by: 16) {
          for column in 0..<columnCount {
            for row in start..<min(start + 16, rowCount) {
              unsafe target[column * rowCount + row] = unsafe matrix[row * columnCount + column]
            }
          }
        }
      }
      count = rowCount * columnCount
    }
  }

  /// `matrix * vector`
  private static func products(of matrix: [Float], with vector: [Double]) -> [Double] {
    unsafe matrix.withUnsafeBufferPointer { matrix in
      (0..<matrix.count / vector.count).map { row in
        var sum = 0.0
        for column in vector.indices {
          unsafe sum += Double(matrix[row * vector.count + column]) * vector[column]
        }
        return sum
      }
    }
  }

  /// `matrix * transpose(matrix)`, `[rowCount, rowCount]`.
  private static func gram(_ matrix: [Float], rowCount: Int, columnCount: Int) -> SymmetricMatrix {
    let kernels = KernelChoice.current
    let packed = PackedMatrix(
      weight: matrix, columnCount: rowCount, depth: columnCount, bias: nil, kernels: kernels)
    let stride = rowCount.roundedUp(toMultipleOf: kernels.vectorWidth)
    let product = AlignedBuffer(count: rowCount * stride)
    unsafe packed.multiply(
      a: matrix, aStride: columnCount, rowCount: rowCount, into: product.pointer, cStride: stride)
    let values = unsafe [Double](unsafeUninitializedCapacity: rowCount * rowCount) { target, count in
      for row in 0..<rowCount {
        for column in 0..<rowCount {
          unsafe target[row * rowCount + column] = unsafe Double(product.pointer[row * stride + column])
        }
      }
      count = rowCount * rowCount
    }
    return withExtendedLifetime(product) { SymmetricMatrix(values, count: rowCount) }
  }
}
