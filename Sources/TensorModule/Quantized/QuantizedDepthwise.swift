import KernelInterface
package import SystemModule

/// A 1x1 convolution and the depthwise convolution after it in 8 bits, both with ReLU6.
///
/// Both activations are clamps to the levels 0...255. The depthwise sums are those of floats that are whole numbers below
/// 2^24, which are exact: the same kernels as without quantisation give them, in whatever order.
package struct QuantizedDepthwise: Sendable {
  /// The 1x1 convolution, which makes levels.
  package let expansion: QuantizedPointwise
  /// Of levels by levels.
  private let depthwise: DepthwiseConvolution2D
  /// From the depthwise sums to the output's levels, for each channel, padded.
  private let factors: AlignedBuffer
  /// What it was made from.
  package let weight: QuantizedWeight
  /// How the expanded map is kept.
  package let expanded: Quantization

  /// The greatest magnitude of a depthwise sum.
  package static let sumLimit = 16_777_216.0

  /// - Parameters:
  ///   - expansion: Its matrix makes levels of `expanded`.
  ///   - weight: `[channels, kernelSize * kernelSize]`.
  ///   - expanded: How the depthwise convolution's input is kept; its zero point is 0.
  ///   - outputScale: A step of the output's levels, whose zero point is 0.
  /// - Returns: nil where a sum could leave the integers that a float holds.
  package init?(
    expansion: QuantizedPointwise, weight: QuantizedWeight, expanded: Quantization, outputScale: Float,
    window: Window
  ) {
    precondition(expanded.zeroPoint == 0, "levels after ReLU6 with 0 at \(expanded.zeroPoint)")
    guard let biases = weight.integerBias(of: expanded, limit: Self.sumLimit) else { return nil }
    self.expansion = expansion
    self.weight = weight
    self.expanded = expanded
    depthwise = DepthwiseConvolution2D(
      weight: weight.levels.map { Float($0) }, bias: biases.map { Float($0) }, window: window,
      activation: .identity, kernels: expansion.matrix.kernels)
    factors = AlignedBuffer(count: depthwise.paddedChannels)
    for (channel, scale) in weight.sumScale(of: expanded).enumerated() {
      factors.pointer[channel] = Float(Double(scale) / Double(outputScale))
    }
  }

  /// Cuts the work on an input of the given shape.
  package func plan(_ input: FeatureShape) -> DepthwisePlan {
    DepthwisePlan(depthwise, input: input, isExpanded: true)
  }

  /// Floats of scratch memory for each task.
  package func scratchCount(_ plan: DepthwisePlan) -> Int { plan.scratchCount + plan.widestRowCount }

  /// Computes the output's levels.
  ///
  /// - Parameter scratch: ``scratchCount(_:)`` floats.
  package func callAsFunction(
    _ input: PackedMap, into output: PackedMap, plan: DepthwisePlan,
    scratch: UnsafeMutablePointer<Float>, pool: ThreadPool
  ) {
    precondition(
      input.shape == plan.input && output.shape == plan.output,
      "from \(input.shape) to \(output.shape) where \(plan.input) to \(plan.output) was planned")
    plan.run(
      depthwise, over: expansion.matrix.rows(of: input), scratch: scratch,
      extraScratchCount: plan.widestRowCount, pool: pool
    ) { y, channels, row, compute in
      compute(row, channels.count)
      output.write(
        pixel: y * output.shape.width, count: output.shape.width, channels: channels, values: row,
        valueStride: channels.count, factors: factors.pointer, zeroPoint: 0)
    }
  }
}

extension QuantizedMatrix {
  /// Rows of levels that the matrix makes of a map.
  fileprivate func rows(of input: PackedMap) -> RowSource {
    .expanded(layout, vectorWidth: kernels.vectorWidth) { rows in
      multiply(
        a: input.words + rows.first * input.pixelStride, aStride: input.pixelStride,
        rowCount: rows.pixelCount, runCount: rows.runCount, into: rows.output, cStride: rows.pixelStride,
        runStride: rows.runStride, panelRange: rows.panels,
        levels: MatrixProduct.Levels(factor: 1, zeroPoint: 0))
    }
  }
}
