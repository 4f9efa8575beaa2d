import KernelInterface
import SystemModule

extension SqueezeExcite {
  /// What the gradient needs to know of a run.
  package struct State: Sendable {
    /// Before the hidden activation, `[padded reduced]`.
    let hidden: [Float]
    /// `[padded channels]`
    package let gate: [Float]
  }

  /// Computes the gate from the channels' means.
  ///
  /// - Parameter means: Padded channels.
  package func state(means: [Float]) -> State {
    let kernels = expand.kernels
    let channels = expand.columnCount.roundedUp(toMultipleOf: kernels.vectorWidth)
    precondition(means.count == channels, "\(means.count) means for \(expand.columnCount) channels")
    var hidden = [Float](repeating: 0, count: scratchCount)
    var gate = [Float](repeating: 0, count: channels)
    hidden.withUnsafeMutableBufferPointer {
      reduce.multiply(
        a: means, aStride: channels, rowCount: 1, into: $0.baseAddress!, cStride: scratchCount)
    }
    var activated = hidden
    activated.withUnsafeMutableBufferPointer {
      kernels.activate(ActivationPass(values: $0.baseAddress!, count: scratchCount, activation: activation))
    }
    gate.withUnsafeMutableBufferPointer {
      expand.multiply(
        a: activated, aStride: scratchCount, rowCount: 1, into: $0.baseAddress!, cStride: channels,
        activation: self.gate)
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
  package func meansGradient(_ gateGradient: [Float], state: SqueezeExcite.State) -> [Float] {
    precondition(
      gateGradient.count == state.gate.count,
      "a gradient of \(gateGradient.count) factors for \(state.gate.count) channels")
    let kernels = reduce.kernels
    let channels = gateGradient.count
    let sums = gateGradient.indices.map { gateGradient[$0] * slope(atFactor: state.gate[$0]) }
    var hidden = [Float](repeating: 0, count: state.hidden.count)
    var means = [Float](repeating: 0, count: channels)
    hidden.withUnsafeMutableBufferPointer {
      expand.multiply(a: sums, aStride: channels, rowCount: 1, into: $0.baseAddress!, cStride: $0.count)
      kernels.applyDerivative(
        DerivativePass(
          gradient: $0.baseAddress!, preActivation: state.hidden, rowCount: 1, columnCount: $0.count,
          rowStride: $0.count, activation: activation))
    }
    means.withUnsafeMutableBufferPointer {
      reduce.multiply(a: hidden, aStride: hidden.count, rowCount: 1, into: $0.baseAddress!, cStride: channels)
    }
    return means
  }

  /// The derivative of the gate's activation, from what it gave.
  private func slope(atFactor factor: Float) -> Float {
    gate == .sigmoid ? factor * (1 - factor) : factor > 0 && factor < 1 ? 1 / 6 : 0
  }
}
