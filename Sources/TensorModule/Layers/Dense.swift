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

  /// - Parameters:
  ///   - weight: `[outputs, inputs]`, row-major: PyTorch's layout.
  ///   - bias: `[outputs]`.
  package init(weight: [Float], bias: [Float], activation: Activation = .identity, kernels: KernelSet) {
    matrix = PackedMatrix(
      weight: weight, columnCount: bias.count, depth: weight.count / bias.count, bias: bias, kernels: kernels)
    self.activation = activation
    self.weight = weight
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
      matrix.multiply(
        a: x, aStride: x.count, rowCount: 1, into: output.baseAddress!, cStride: stride,
        activation: activation)
      count = matrix.columnCount
    }
  }
}
