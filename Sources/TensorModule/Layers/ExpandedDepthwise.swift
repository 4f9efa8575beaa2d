import KernelInterface
package import SystemModule

/// A depthwise convolution, after a 1x1 convolution where there is one, with the sums that squeeze-excite needs.
///
/// The expanded tensor is several times larger than its neighbours and would leave the cache, so it is never whole in
/// memory: each task takes some channels of some output rows, expands the rows under the window into a ring that stays
/// in the second-level cache, and filters them from there.
package struct ExpandedDepthwise: Sendable {
  /// The 1x1 convolution before, or nil.
  package let expansion: PointwiseConvolution?
  /// The depthwise convolution.
  package let depthwise: DepthwiseConvolution2D

  /// - Precondition: The expansion's output channels are the depthwise convolution's.
  package init(expansion: PointwiseConvolution?, depthwise: DepthwiseConvolution2D) {
    if let expansion {
      precondition(
        expansion.matrix.columnCount == depthwise.channels,
        "expansion to \(expansion.matrix.columnCount) channels before a depthwise of \(depthwise.channels)")
    }
    self.expansion = expansion
    self.depthwise = depthwise
  }

  /// Cuts the work on an input of the given shape.
  package func plan(_ input: FeatureShape) -> DepthwisePlan {
    // In the embedded form of this module Swift 6.3.1 takes any expansion for nil, unless its content is asked for.
    let isExpanded = (expansion?.matrix.depth ?? 0) > 0
    return DepthwisePlan(depthwise, input: input, isExpanded: isExpanded)
  }

  /// Words of the packed input: as many floats; 0 where the rows are expanded from floats, or not at all.
  package func packedCount(_ input: FeatureShape) -> Int {
    guard let matrix = expansion?.matrix, matrix.type != .float32 else { return 0 }
    return PackedMap.count(input, matrix.type, kernels: matrix.kernels)
  }

  /// Computes the output and, for each band, the sum of every channel over the band's pixels.
  ///
  /// - Parameters:
  ///   - packed: ``packedCount(_:)`` floats.
  ///   - sums: `[bandCount, padded channels]`, overwritten; nil when they are not wanted.
  ///   - scratch: The plan's `scratchCount` floats.
  package func callAsFunction(
    _ input: FeatureMap, packed: UnsafeMutablePointer<Float>? = nil, into output: FeatureMap,
    sums: UnsafeMutablePointer<Float>?, plan: DepthwisePlan, scratch: UnsafeMutablePointer<Float>,
    pool: ThreadPool
  ) {
    precondition(output.shape == plan.output, "output \(output.shape) where \(plan.output) was planned")
    let source = source(input, packed: packed, plan: plan, pool: pool)
    plan.run(depthwise, over: source, sums: sums, scratch: scratch, pool: pool) { y, channels, _, compute in
      let start = y * output.shape.width * output.pixelStride + channels.lowerBound
      compute(output.pointer + start, output.pixelStride)
    }
  }

  /// Computes the output as the words of the layer after it.
  ///
  /// - Parameters:
  ///   - packed: ``packedCount(_:)`` floats.
  ///   - scratch: The plan's `scratchCount` and `widestRowCount` floats.
  package func callAsFunction(
    _ input: FeatureMap, packed: UnsafeMutablePointer<Float>?, into output: PackedMap, plan: DepthwisePlan,
    scratch: UnsafeMutablePointer<Float>, pool: ThreadPool
  ) {
    precondition(output.shape == plan.output, "output \(output.shape) where \(plan.output) was planned")
    let source = source(input, packed: packed, plan: plan, pool: pool)
    plan.run(
      depthwise, over: source, scratch: scratch, extraScratchCount: plan.widestRowCount, pool: pool
    ) { y, channels, row, compute in
      compute(row, channels.count)
      output.write(
        pixel: y * output.shape.width, count: output.shape.width, channels: channels, values: row,
        valueStride: channels.count, factors: nil)
    }
  }

  private func source(
    _ input: FeatureMap, packed: UnsafeMutablePointer<Float>?, plan: DepthwisePlan, pool: ThreadPool
  ) -> RowSource {
    precondition(
      input.shape.channels == expansion?.matrix.depth ?? depthwise.channels && input.shape == plan.input,
      "input \(input.shape) where \(plan.input) was planned, to a depthwise of \(depthwise.channels) channels"
    )
    guard let expansion else { return .map(input) }
    let matrix = expansion.matrix
    if matrix.type == .float32 {
      return expansion.rows(of: UnsafeRawPointer(input.pointer), pixelStride: input.pixelStride)
    }
    let words = PackedMap(packed!, input.shape, matrix.type, kernels: matrix.kernels)
    words.write(input, factors: nil, pool: pool)
    return expansion.rows(of: UnsafeRawPointer(words.words), pixelStride: words.pixelStride)
  }
}

extension PointwiseConvolution {
  /// Rows of what the layer makes of a map.
  ///
  /// - Parameter words: The map's first pixel, in words of the matrix's type, `pixelStride` from one to the next.
  fileprivate func rows(of words: UnsafeRawPointer, pixelStride: Int) -> RowSource {
    .expanded(matrix.layout, vectorWidth: matrix.kernels.vectorWidth) { rows in
      matrix.multiply(
        a: words + 4 * rows.first * pixelStride, aStride: pixelStride, rowCount: rows.pixelCount,
        runCount: rows.runCount, into: rows.output, cStride: rows.pixelStride, runStride: rows.runStride,
        panelRange: rows.panels, activation: activation)
    }
  }
}
