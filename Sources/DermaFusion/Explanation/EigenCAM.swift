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
    let means = activations.channelSums().map { $0 / Double(pixels) }
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
      weight: matrix, columnCount: rowCount, depth: columnCount, bias: nil, kernels: kernels,
      lasts: false)
    let stride = kernels.padded(rowCount)
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

/// A symmetric matrix, `[count, count]`, of which the largest eigenvalue is wanted.
struct SymmetricMatrix {
  let count: Int
  /// Row-major, and column-major as well.
  let values: [Double]

  init(_ values: [Double], count: Int) {
    precondition(values.count == count * count, "\(values.count) values for a square of \(count)")
    self.values = values
    self.count = count
  }

  /// Dimensions of the space that is searched before the search begins again at the best vector in it.
  private static let dimensions = 24
  /// Enough to tell the greater of two eigenvalues that differ by one part in a million.
  private static let maximumRestarts = 400
  /// The most by which the matrix may move the vector from a multiple of itself, of its eigenvalue.
  private static let tolerance = 1e-12

  /// The unit eigenvector of the eigenvalue that is largest, and that eigenvalue, by Lanczos' method with full
  /// orthogonalisation, begun again. Zeros when the matrix is zero.
  func leadingEigenvector() -> (vector: [Double], value: Double) {
    // A start that no symmetry of an image makes orthogonal to the answer.
    var vector = (0..<count).map { (index: Int) -> Double in 1 + Double(index * 7919 % 101) / 101 }
    Self.scale(&vector, by: 1 / Mathematics.dot(vector, vector).squareRoot())
    var value = 0.0
    for _ in 0..<Self.maximumRestarts {
      var basis = [vector]
      var diagonal: [Double] = []
      var offDiagonal: [Double] = []
      var rest = 0.0
      while true {
        var next = times(basis[basis.count - 1])
        diagonal.append(Mathematics.dot(next, basis[basis.count - 1]))
        // Twice: what the first time leaves over is of the size of its rounding.
        for _ in 0..<2 {
          for other in basis { Mathematics.add(other, times: -Mathematics.dot(next, other), to: &next) }
        }
        rest = Mathematics.dot(next, next).squareRoot()
        let scale = diagonal.reduce(0) { max($0, abs($1)) }
        if rest <= Self.tolerance * scale || basis.count == min(Self.dimensions, count) { break }
        Self.scale(&next, by: 1 / rest)
        offDiagonal.append(rest)
        basis.append(next)
      }
      let best = Self.leadingEigenvector(diagonal: diagonal, offDiagonal: offDiagonal)
      value = best.value
      if value == 0 { return ([Double](repeating: 0, count: count), 0) }
      vector = [Double](repeating: 0, count: count)
      for (share, direction) in zip(best.vector, basis) {
        Mathematics.add(direction, times: share, to: &vector)
      }
      Self.scale(&vector, by: 1 / Mathematics.dot(vector, vector).squareRoot())
      if rest * abs(best.vector[best.vector.count - 1]) <= Self.tolerance * value { break }
    }
    return (vector, value)
  }

  private func times(_ vector: [Double]) -> [Double] {
    var result = [Double](repeating: 0, count: count)
    unsafe values.withUnsafeBufferPointer { values in
      unsafe result.withUnsafeMutableBufferPointer { result in
        // Column by column: sums of one row would wait for each other.
        for column in 0..<count {
          let factor = vector[column]
          for row in 0..<count { unsafe result[row] += factor * values[column * count + row] }
        }
      }
    }
    return result
  }

  /// The same of a small tridiagonal matrix, by Jacobi's rotations.
  private static func leadingEigenvector(
    diagonal: [Double], offDiagonal: [Double]
  ) -> (vector: [Double], value: Double) {
    let count = diagonal.count
    var matrix = [Double](repeating: 0, count: count * count)
    var vectors = matrix
    for i in 0..<count {
      matrix[i * count + i] = diagonal[i]
      vectors[i * count + i] = 1
    }
    for i in offDiagonal.indices {
      matrix[i * count + i + 1] = offDiagonal[i]
      matrix[(i + 1) * count + i] = offDiagonal[i]
    }
    let scale = diagonal.reduce(0) { max($0, abs($1)) }
    // Few sweeps do; each makes the rest quadratically smaller.
    for _ in 0..<30 {
      var rest = 0.0
      for p in 0..<count {
        for q in 0..<p {
          let coupling = matrix[p * count + q]
          rest = max(rest, abs(coupling))
          if coupling == 0 { continue }
          let slope = (matrix[q * count + q] - matrix[p * count + p]) / (2 * coupling)
          let tangent = (slope < 0 ? -1 : 1) / (abs(slope) + (slope * slope + 1).squareRoot())
          let cosine = 1 / (tangent * tangent + 1).squareRoot()
          let sine = tangent * cosine
          for k in 0..<count { rotate(&matrix, p * count + k, q * count + k, cosine, sine) }
          for k in 0..<count { rotate(&matrix, k * count + p, k * count + q, cosine, sine) }
          for k in 0..<count { rotate(&vectors, k * count + p, k * count + q, cosine, sine) }
        }
      }
      if rest <= 1e-15 * scale { break }
    }
    let best = (0..<count).max { matrix[$0 * count + $0] < matrix[$1 * count + $1] } ?? 0
    return ((0..<count).map { vectors[$0 * count + best] }, matrix[best * count + best])
  }

  private static func rotate(_ values: inout [Double], _ p: Int, _ q: Int, _ cosine: Double, _ sine: Double) {
    (values[p], values[q]) = (
      cosine * values[p] - sine * values[q], sine * values[p] + cosine * values[q]
    )
  }

  private static func scale(_ vector: inout [Double], by factor: Double) {
    for i in vector.indices { vector[i] *= factor }
  }
}
