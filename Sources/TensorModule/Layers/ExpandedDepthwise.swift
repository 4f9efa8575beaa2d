import KernelInterface
package import SystemModule

/// A depthwise convolution, after a 1x1 convolution where there is one, with the sums that squeeze-excite needs.
///
/// The expanded tensor is several times larger than its neighbours and would leave the cache, so it is never whole in
/// memory: each task takes some channels of some output rows, expands the rows under the window into a ring that stays
/// in the second-level cache, and filters them from there.
package struct ExpandedDepthwise: Sendable {
  /// The 1x1 convolution before, or nil.
  package let expansion: Convolution2D?
  package let depthwise: DepthwiseConvolution2D

  /// - Precondition: The expansion's output channels are the depthwise convolution's.
  package init(expansion: Convolution2D?, depthwise: DepthwiseConvolution2D) {
    if let expansion {
      precondition(
        expansion.matrix.columnCount == depthwise.channels,
        "expansion to \(expansion.matrix.columnCount) channels before a depthwise of \(depthwise.channels)")
    }
    self.expansion = expansion
    self.depthwise = depthwise
  }

  /// Cuts the work on an input of the given shape.
  package func plan(_ input: FeatureShape, threadCount: Int) -> DepthwisePlan {
    DepthwisePlan(depthwise, expansion: expansion, input: input, threadCount: threadCount)
  }

  /// The shape of what the depthwise convolution filters.
  package func expandedShape(_ input: FeatureShape) -> FeatureShape {
    FeatureShape(height: input.height, width: input.width, channels: depthwise.channels)
  }

  /// The masks that a run writes for the backward pass; nil for an activation without one.
  package struct Masks {
    let output: GradientMask?
    package let expanded: GradientMask?
  }

  /// Views memory as the mask of the output, followed by that of the expansion.
  package func masks(_ input: FeatureShape, at pointer: UnsafeMutablePointer<Float>) -> Masks {
    func mask(
      _ activation: Activation?, _ pointer: UnsafeMutablePointer<Float>, _ shape: FeatureShape
    ) -> GradientMask? {
      guard let activation, activation.hasMask else { return nil }
      return GradientMask(activation, pointer, shape, kernels: depthwise.kernels)
    }
    let output = depthwise.window.outputShape(input, channels: depthwise.channels)
    return Masks(
      output: mask(depthwise.activation, pointer, output),
      expanded: mask(
        expansion?.activation, pointer + GradientMask.count(output, kernels: depthwise.kernels),
        expandedShape(input)))
  }

  /// Words of the packed input: as many floats; 0 where the rows are expanded from floats, or not at all.
  package func packedCount(_ input: FeatureShape) -> Int {
    guard let matrix = expansion?.matrix, matrix.type != .float32 else { return 0 }
    return PackedMap.count(input, matrix.type, kernels: matrix.kernels)
  }

  /// Computes the output and, for each run of rows, the sum of every channel over its pixels.
  ///
  /// - Parameters:
  ///   - packed: ``packedCount(_:)`` floats.
  ///   - sums: `[sumCount, padded channels]`, overwritten; nil when they are not wanted.
  ///   - masks: Overwritten; nil when they are not wanted.
  ///   - scratch: The plan's `scratchCount` floats.
  package func callAsFunction(
    _ input: FeatureMap, packed: UnsafeMutablePointer<Float>? = nil, into output: FeatureMap,
    sums: UnsafeMutablePointer<Float>?, masks: Masks? = nil, plan: DepthwisePlan,
    scratch: UnsafeMutablePointer<Float>, pool: ThreadPool
  ) {
    precondition(output.shape == plan.output, "output \(output.shape) where \(plan.output) was planned")
    let source = source(input, packed: packed, plan: plan, pool: pool)
    plan.run(
      depthwise, over: source, sums: sums, expandedMask: masks?.expanded, scratch: scratch, pool: pool
    ) { y, channels, _, compute in
      let pixels = y * output.shape.width..<(y + 1) * output.shape.width
      let place = output.pointer + pixels.lowerBound * output.pixelStride + channels.lowerBound
      compute(place, output.pixelStride)
      masks?.output?.write(place, stride: output.pixelStride, pixels: pixels, channels: channels)
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
      return matrix.rows(
        of: UnsafeRawPointer(input.pointer), pixelStride: input.pixelStride, activation: expansion.activation)
    }
    let words = PackedMap(packed!, input.shape, matrix.type, kernels: matrix.kernels)
    words.write(input, factors: nil, pool: pool)
    return matrix.rows(of: words, activation: expansion.activation)
  }
}

extension PackedMatrix {
  /// Rows of what the matrix makes of a map.
  ///
  /// - Parameter words: The map's first pixel, in words of the matrix's type, `pixelStride` from one to the next.
  func rows(
    of words: UnsafeRawPointer, pixelStride: Int, activation: Activation, levels: MatrixProduct.Levels? = nil
  ) -> RowSource {
    .expanded(layout, vectorWidth: kernels.vectorWidth) { rows in
      multiply(
        a: words + 4 * rows.first * pixelStride, aStride: pixelStride, rowCount: rows.pixelCount,
        runCount: rows.runCount, into: rows.output, cStride: rows.pixelStride, runStride: rows.runStride,
        panelRange: rows.panels, activation: activation, levels: levels)
    }
  }

  func rows(
    of words: PackedMap, activation: Activation, levels: MatrixProduct.Levels? = nil
  ) -> RowSource {
    rows(
      of: UnsafeRawPointer(words.words), pixelStride: words.pixelStride, activation: activation,
      levels: levels)
  }
}
