package import KernelInterface
package import SystemModule

/// The gate of squeeze-excite: `gate(expand(activation(reduce(mean of each channel))))`, one factor per channel.
package struct SqueezeExcite: Sendable {
  /// `[channels, reduced]`
  package let reduce: PackedMatrix
  /// `[reduced, channels]`
  package let expand: PackedMatrix
  /// Applied after the reduction.
  package let activation: Activation
  /// Makes the factors: `sigmoid`, or `hardSigmoid` in MobileNetV3.
  package let gate: Activation

  /// - Parameters:
  ///   - reduce: `[channels, reduced]`, packed.
  ///   - expand: `[reduced, channels]`, packed.
  package init(
    reduce: PackedMatrix, expand: PackedMatrix, activation: Activation, gate: Activation = .sigmoid
  ) {
    precondition(gate == .sigmoid || gate == .hardSigmoid, "\(gate) makes no factors of 0...1")
    self.reduce = reduce
    self.expand = expand
    self.activation = activation
    self.gate = gate
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
    scratch: UnsafeMutablePointer<Float>, pool: ThreadPool
  ) {
    let channels = expand.columnCount.roundedUp(toMultipleOf: expand.kernels.vectorWidth)
    reduce.kernels.addRows(
      RowSum(
        sums: sums, matrix: sums + channels, rowCount: bandCount - 1, columnCount: channels,
        rowStride: channels))
    let factor = 1 / Float(pixelCount)
    for channel in 0..<channels { sums[channel] *= factor }
    multiply(reduce, a: sums, into: scratch, activation: activation, pool: pool)
    multiply(expand, a: scratch, into: gate, activation: self.gate, pool: pool)
  }

  /// One row of a product. The weights of a late block come from memory, which one thread alone cannot keep busy.
  private func multiply(
    _ matrix: PackedMatrix, a: UnsafePointer<Float>, into c: UnsafeMutablePointer<Float>,
    activation: Activation, pool: ThreadPool
  ) {
    let panelCount = matrix.layout.panelCount
    let pieceCount = matrix.depth * matrix.columnCount < 1 << 15 ? 1 : min(panelCount, 8)
    pool.run(taskCount: pieceCount) { piece, _ in
      matrix.multiply(
        a: a, aStride: matrix.depth, rowCount: 1, into: c, cStride: matrix.columnCount,
        panelRange: panelCount * piece / pieceCount..<panelCount * (piece + 1) / pieceCount,
        activation: activation)
    }
  }
}
