package import KernelInterface
package import SystemModule

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
