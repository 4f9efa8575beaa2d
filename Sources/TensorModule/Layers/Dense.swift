package import KernelInterface
import SystemModule

/// A dense layer on one vector: `activation(weight * x + bias)`.
package struct Dense: Sendable {
  /// `[inputs, outputs]`, packed.
  package let matrix: PackedMatrix
  /// Applied to each output.
  package let activation: Activation
  /// `[outputs, inputs]`, row-major: gradients run through it the other way.
  package let weight: [Float]
  /// Whether products are added up in Double, where each is exact: then every machine gives the same bits, whether it
  /// fuses products or not.
  package let isExact: Bool
  private let bias: [Float]

  /// - Parameters:
  ///   - weight: `[outputs, inputs]`, row-major: PyTorch's layout.
  ///   - bias: `[outputs]`.
  ///   - isExact: See ``isExact``.
  package init(
    weight: [Float], bias: [Float], activation: Activation = .identity, isExact: Bool = false,
    kernels: KernelSet
  ) {
    matrix = PackedMatrix(
      weight: weight, columnCount: bias.count, depth: weight.count / bias.count, bias: bias, kernels: kernels)
    self.activation = activation
    self.weight = weight
    self.isExact = isExact
    self.bias = bias
  }

  /// - Parameter x: `[inputs]`
  /// - Returns: `[outputs]`
  package func callAsFunction(_ x: [Float]) -> [Float] { compute(x, activation: activation) }

  /// The outputs before the activation.
  ///
  /// - Parameter x: `[inputs]`
  /// - Returns: `[outputs]`
  package func preActivation(_ x: [Float]) -> [Float] { compute(x, activation: .identity) }

  private func compute(_ x: [Float], activation: Activation) -> [Float] {
    precondition(x.count == matrix.depth, "\(x.count) values for a dense layer of \(matrix.depth) inputs")
    let stride = matrix.columnCount.roundedUp(toMultipleOf: matrix.kernels.vectorWidth)
    return [Float](unsafeUninitializedCapacity: stride) { output, count in
      if isExact {
        for index in 0..<stride {
          output.initializeElement(at: index, to: index < bias.count ? exactSum(x, output: index) : 0)
        }
        matrix.kernels.activateExactly(
          ExactPass(
            values: output.baseAddress!, valueStride: stride, output: output.baseAddress!,
            outputStride: stride, rowCount: 1, columnCount: stride, scales: nil, activation: activation))
        count = matrix.columnCount
        return
      }
      matrix.multiply(
        a: x, aStride: x.count, rowCount: 1, into: output.baseAddress!, cStride: stride,
        activation: activation)
      count = matrix.columnCount
    }
  }

  /// Eight sums of every eighth product, then their sum, then the bias, rounded once.
  private func exactSum(_ x: [Float], output: Int) -> Float {
    let count = x.count
    return x.withUnsafeBufferPointer { x in
      weight.withUnsafeBufferPointer { weight in
        let (x, row) = (x.baseAddress!, weight.baseAddress! + output * count)
        var sums = SIMD8<Double>()
        var k = 0
        while k + 8 <= count {
          let values = UnsafeRawPointer(x + k).loadUnaligned(as: SIMD8<Float>.self)
          let weights = UnsafeRawPointer(row + k).loadUnaligned(as: SIMD8<Float>.self)
          sums += SIMD8<Double>(values) * SIMD8<Double>(weights)
          k += 8
        }
        for lane in 0..<count - k { sums[lane] += Double(x[k + lane]) * Double(row[k + lane]) }
        var total = 0.0
        for lane in 0..<8 { total += sums[lane] }
        return Float(total + Double(bias[output]))
      }
    }
  }
}
