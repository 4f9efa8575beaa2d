package import KernelInterface
package import SystemModule

/// The multiples of a power of two. Where a layer's inputs lie on one grid and its weights on another, and both are short
/// enough, every sum of products is a number that Float holds: the order of the terms and fused products change no bit, and
/// every machine gives the same.
package struct ExactGrid: Sendable, Equatable {
  /// The largest magnitude of a value.
  package let limit: Float
  /// A power of two.
  package let step: Float

  /// Steps from 0 to the limit, at most. The more, the coarser the weights that the sums leave room for.
  private static let stepLimit = 4096.0
  /// Whole numbers below it are exact in Float.
  private static let sumLimit = 16_777_216.0

  /// The finest grid for values up to a limit.
  package init(limit: Float) {
    precondition(limit > 0 && limit.isFinite, "a grid up to \(limit)")
    var step = 1.0
    while Double(limit) / step > Self.stepLimit { step *= 2 }
    while Double(limit) / (step / 2) <= Self.stepLimit { step /= 2 }
    self.limit = limit
    self.step = Float(step)
  }

  /// The grid of ReLU6's outputs.
  package static let relu6 = ExactGrid(limit: 6)

  /// The weights and biases of a layer on the finest grids that keep its sums exact, each output on its own, rounded to the
  /// nearest, halves to the even number.
  ///
  /// - Parameter weight: `[outputs, ...]`, the same number of values for each output.
  package func fitted(weight: [Float], bias: [Float]) -> (weight: [Float], bias: [Float]) {
    let count = weight.count / bias.count
    let inputStep = Double(step)
    let inputSteps = Double(limit) / inputStep + 1
    var (weight, bias) = (weight, bias)
    for output in bias.indices {
      let place = output * count..<(output + 1) * count
      let total = weight[place].reduce(0) { $0 + abs(Double($1)) }
      var weightStep = 0x1p-24
      // Rounding makes each weight larger by half a step at most.
      while (total / weightStep + Double(count) / 2) * inputSteps
        + abs(Double(bias[output])) / (weightStep * inputStep) + 1 > Self.sumLimit
      { weightStep *= 2 }
      for index in place { weight[index] = Self.rounded(weight[index], weightStep) }
      bias[output] = Self.rounded(bias[output], weightStep * inputStep)
    }
    return (weight, bias)
  }

  private static func rounded(_ value: Float, _ step: Double) -> Float {
    Float((Double(value) / step).rounded(.toNearestOrEven) * step)
  }
}

extension FeatureMap {
  private static let floatsPerTask = 16_384

  /// Rounds all values, which the grid's limit bounds.
  package func round(to grid: ExactGrid, kernels: KernelSet, pool: ThreadPool) {
    let count = shape.pixelCount * pixelStride
    pool.run(taskCount: (count + Self.floatsPerTask - 1) / Self.floatsPerTask) { task, _ in
      let first = task * Self.floatsPerTask
      kernels.round(
        RoundingPass(
          values: pointer + first, count: min(Self.floatsPerTask, count - first),
          magic: 12_582_912 * grid.step))
    }
  }
}

extension FeatureMap {
  /// Applies an activation in a fixed order, where the values lie.
  package func activateExactly(_ activation: Activation, kernels: KernelSet, pool: ThreadPool) {
    exactPass(into: self, activation: activation, levels: nil, kernels: kernels, pool: pool)
  }

  /// Writes the values' fine levels, `scale` apart.
  package func writeFineLevels(
    scale: Float, into levels: FeatureMap, kernels: KernelSet, pool: ThreadPool
  ) {
    requireSameLayout(levels)
    exactPass(
      into: levels, activation: .identity, levels: .fine(scale: scale), kernels: kernels, pool: pool)
  }

  private func exactPass(
    into output: FeatureMap, activation: Activation, levels: MatrixProduct.Levels?, kernels: KernelSet,
    pool: ThreadPool
  ) {
    pool.run(taskCount: shape.height) { y, _ in
      kernels.activateExactly(
        ExactPass(
          values: pointer + y * rowStride, valueStride: pixelStride, output: output.pointer + y * rowStride,
          outputStride: pixelStride, rowCount: shape.width, columnCount: pixelStride, scales: nil,
          activation: activation, levels: levels))
    }
  }
}

extension MatrixProduct.Levels {
  /// The levels of 8 bits without a zero point.
  static let bytes = Self(factor: 1, least: 0, greatest: 255)

  /// Fine levels.
  static func fine(scale: Float) -> Self {
    Self(factor: 1 / scale, least: -Float(Quantization.fineLimit), greatest: Float(Quantization.fineLimit))
  }
}
