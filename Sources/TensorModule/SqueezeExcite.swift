package import KernelInterface

/// The gate of squeeze-excite: `sigmoid(expand(activation(reduce(mean of each channel))))`, one factor per channel.
package struct SqueezeExcite: Sendable {
  /// `[channels, reduced]`
  package let reduce: PackedMatrix
  /// `[reduced, channels]`
  package let expand: PackedMatrix
  /// Applied after the reduction.
  package let activation: Activation

  /// - Parameters:
  ///   - reduceWeight: `[reduced, channels]`, row-major (PyTorch's `[reduced, channels, 1, 1]`).
  ///   - expandWeight: `[channels, reduced]`.
  package init(
    reduceWeight: [Float], reduceBias: [Float], expandWeight: [Float], expandBias: [Float],
    activation: Activation, kernels: KernelSet
  ) {
    self.init(
      reduce: PackedMatrix(
        weight: reduceWeight, columnCount: reduceBias.count, depth: expandBias.count, bias: reduceBias,
        kernels: kernels),
      expand: PackedMatrix(
        weight: expandWeight, columnCount: expandBias.count, depth: reduceBias.count, bias: expandBias,
        kernels: kernels), activation: activation)
  }

  /// - Parameters:
  ///   - reduce: `[channels, reduced]`, packed.
  ///   - expand: `[reduced, channels]`, packed.
  package init(reduce: PackedMatrix, expand: PackedMatrix, activation: Activation) {
    self.reduce = reduce
    self.expand = expand
    self.activation = activation
  }

  /// Floats of scratch memory.
  package var scratchCount: Int { reduce.layout.vectorCount * reduce.kernels.vectorWidth }

  /// Turns sums over pixels into the gate.
  ///
  /// - Parameters:
  ///   - sums: `[bandCount, padded channels]`; the first row is overwritten by the means.
  ///   - gate: Padded channels.
  package func callAsFunction(
    sums: UnsafeMutablePointer<Float>, bandCount: Int, pixelCount: Int, gate: UnsafeMutablePointer<Float>,
    scratch: UnsafeMutablePointer<Float>
  ) {
    let channels = expand.columnCount.roundedUp(toMultipleOf: expand.kernels.vectorWidth)
    reduce.kernels.addRows(sums, sums + channels, bandCount - 1, channels, channels)
    let factor = 1 / Float(pixelCount)
    for channel in 0..<channels { sums[channel] *= factor }
    reduce.multiply(
      a: sums, aStride: channels, rowCount: 1, into: scratch, cStride: scratchCount, activation: activation)
    expand.multiply(
      a: scratch, aStride: scratchCount, rowCount: 1, into: gate, cStride: channels, activation: .sigmoid)
  }
}
