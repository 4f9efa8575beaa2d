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
  ///   - sums: `[sumCount, padded channels]`; the first row is overwritten by the means.
  ///   - gate: Padded channels.
  package func callAsFunction(
    sums: UnsafeMutablePointer<Float>, sumCount: Int, pixelCount: Int, gate: UnsafeMutablePointer<Float>,
    scratch: UnsafeMutablePointer<Float>, pool: ThreadPool
  ) {
    let channels = expand.kernels.padded(expand.columnCount)
    reduce.kernels.addRows(
      RowSum(
        sums: sums, matrix: sums + channels, rowCount: sumCount - 1, columnCount: channels,
        rowStride: channels))
    let factor = 1 / Float(pixelCount)
    for channel in 0..<channels { sums[channel] *= factor }
    reduce.multiply(row: sums, into: scratch, activation: activation, pool: pool)
    expand.multiply(row: scratch, into: gate, activation: self.gate, pool: pool)
  }
}

extension PackedMatrix {
  /// One row of a product. The weights of a late block come from memory, which one thread alone cannot keep busy.
  fileprivate func multiply(
    row: UnsafePointer<Float>, into c: UnsafeMutablePointer<Float>, activation: Activation = .identity,
    pool: ThreadPool
  ) {
    let panelCount = layout.panelCount
    let pieceCount = depth * columnCount < 1 << 15 ? 1 : min(panelCount, 8)
    pool.run(taskCount: pieceCount) { piece, _ in
      multiply(
        a: row, aStride: depth, rowCount: 1, into: c, cStride: columnCount,
        panelRange: panelCount * piece / pieceCount..<panelCount * (piece + 1) / pieceCount,
        activation: activation)
    }
  }
}

extension SqueezeExcite {
  /// The values of a run that the gradient needs.
  package struct State: Sendable {
    /// Before the hidden activation, `[padded reduced]`.
    let hidden: [Float]
    /// `[padded channels]`
    package let gate: [Float]
  }

  /// Computes the gate from the channels' means.
  ///
  /// - Parameter means: Padded channels.
  package func state(means: [Float], pool: ThreadPool) -> State {
    let kernels = expand.kernels
    let channels = kernels.padded(expand.columnCount)
    precondition(means.count == channels, "\(means.count) means for \(expand.columnCount) channels")
    var hidden = [Float](repeating: 0, count: scratchCount)
    var gate = [Float](repeating: 0, count: channels)
    hidden.withUnsafeMutableBufferPointer {
      reduce.multiply(row: means, into: $0.baseAddress!, pool: pool)
    }
    var activated = hidden
    activated.withUnsafeMutableBufferPointer {
      kernels.activate(ActivationPass(values: $0.baseAddress!, count: scratchCount, activation: activation))
    }
    gate.withUnsafeMutableBufferPointer {
      expand.multiply(row: activated, into: $0.baseAddress!, activation: self.gate, pool: pool)
    }
    return State(hidden: hidden, gate: gate)
  }
}

/// The gradient of ``SqueezeExcite``'s gate with respect to the channels' means.
package struct SqueezeExciteGradient: Sendable {
  /// `[reduced, channels]`
  private let reduce: PackedMatrix
  /// `[channels, reduced]`
  private let expand: PackedMatrix
  private let activation: Activation
  private let gate: Activation

  /// Packs the transposed weights.
  package init(_ layer: SqueezeExcite) {
    reduce = layer.reduce.transposed()
    expand = layer.expand.transposed()
    activation = layer.activation
    gate = layer.gate
  }

  /// - Parameter gateGradient: Padded channels.
  /// - Returns: The gradient with respect to the means, padded channels.
  package func meansGradient(
    _ gateGradient: [Float], state: SqueezeExcite.State, pool: ThreadPool
  ) -> [Float] {
    precondition(
      gateGradient.count == state.gate.count,
      "a gradient of \(gateGradient.count) factors for \(state.gate.count) channels")
    let kernels = reduce.kernels
    let channels = gateGradient.count
    let sums = gateGradient.indices.map { gateGradient[$0] * slope(atFactor: state.gate[$0]) }
    var hidden = [Float](repeating: 0, count: state.hidden.count)
    var means = [Float](repeating: 0, count: channels)
    hidden.withUnsafeMutableBufferPointer { hidden in
      expand.multiply(row: sums, into: hidden.baseAddress!, pool: pool)
      state.hidden.withUnsafeBufferPointer {
        kernels.applyDerivative(
          DerivativePass(
            gradient: hidden.baseAddress!, preActivation: $0.baseAddress!, rowCount: 1,
            columnCount: hidden.count, rowStride: hidden.count, activation: activation))
      }
    }
    means.withUnsafeMutableBufferPointer {
      reduce.multiply(row: hidden, into: $0.baseAddress!, pool: pool)
    }
    return means
  }

  /// The derivative of the gate's activation, from what it gave.
  private func slope(atFactor factor: Float) -> Float {
    gate == .sigmoid ? factor * (1 - factor) : factor > 0 && factor < 1 ? 1 / 6 : 0
  }
}
