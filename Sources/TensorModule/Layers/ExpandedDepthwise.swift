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

  /// The values of a run that the backward pass looks at.
  package struct KeptValues {
    /// The argument of the output's activation, or what that gives if it is idempotent.
    let arguments: FeatureMap
    /// True if the means of the output's channels follow its arguments.
    let hasMeans: Bool
    /// The derivative of the expansion's activation; nil without an expansion.
    package let slopes: FeatureMap?

    package init(arguments: FeatureMap, hasMeans: Bool, slopes: FeatureMap?) {
      self.arguments = arguments
      self.hasMeans = hasMeans
      self.slopes = slopes
    }
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
    let source = source(input, packed: packed, activation: expansion?.activation, plan: plan, pool: pool)
    let mask = masks?.expanded
    plan.run(
      depthwise, over: source, sums: sums,
      look: mask.map { mask in
        { pixels, channels, values, isOwn in
          if isOwn { mask.write(values, stride: channels.count, pixels: pixels, channels: channels) }
        }
      }, scratch: scratch, pool: pool
    ) { y, channels, _, compute in
      let pixels = y * output.shape.width..<(y + 1) * output.shape.width
      let place = output.place(pixels.lowerBound, channels)
      compute(place, output.pixelStride, nil)
      masks?.output?.write(place, stride: output.pixelStride, pixels: pixels, channels: channels)
    }
  }

  /// The same with what the backward pass looks at.
  ///
  /// - Parameters:
  ///   - output: Nil when it is not wanted.
  ///   - sums: As above; needed for the means.
  ///   - kept: Overwritten.
  ///   - scratch: The plan's `scratchCount` and `widestRowCount` floats.
  package func callAsFunction(
    _ input: FeatureMap, packed: UnsafeMutablePointer<Float>? = nil, into output: FeatureMap?,
    sums: UnsafeMutablePointer<Float>?, keeping kept: KeptValues, plan: DepthwisePlan,
    scratch: UnsafeMutablePointer<Float>, pool: ThreadPool
  ) {
    let arguments = kept.arguments
    output?.requireSameLayout(arguments)
    precondition(arguments.shape == plan.output, "\(arguments.shape) for \(plan.output)")
    let kernels = depthwise.kernels
    let activation = expansion?.activation ?? .identity
    if let slopes = kept.slopes {
      // Behind the last window, no row is expanded.
      let count = max(slopes.shape.height - plan.readRowCount(depthwise.window), 0) * slopes.rowStride
      (slopes.valuesBehind - count).update(repeating: 0, count: count)
    }
    func look(
      _ pixels: Range<Int>, _ channels: Range<Int>, _ values: UnsafeMutablePointer<Float>, _ isOwn: Bool
    ) {
      guard let slopes = kept.slopes, isOwn else {
        return kernels.activate(
          ActivationPass(values: values, count: pixels.count * channels.count, activation: activation))
      }
      kernels.activateKeepingSlopes(
        SlopePass(
          values: values, rowCount: pixels.count, columnCount: channels.count,
          slopes: slopes.place(pixels.lowerBound, channels), slopeStride: slopes.pixelStride,
          activation: activation))
    }
    plan.run(
      depthwise, over: source(input, packed: packed, activation: .identity, plan: plan, pool: pool),
      sums: sums, look: look, scratch: scratch, extraScratchCount: plan.widestRowCount, pool: pool
    ) { y, channels, row, compute in
      let pixel = y * plan.output.width
      let argument = (arguments.place(pixel, channels), arguments.pixelStride)
      if !depthwise.activation.isIdempotent {
        let stride = output?.pixelStride ?? channels.count
        return compute(output?.place(pixel, channels) ?? row, stride, argument)
      }
      compute(argument.0, argument.1, nil)
      guard let output else { return }
      for i in 0..<plan.output.width {
        output.place(pixel + i, channels).update(from: argument.0 + i * argument.1, count: channels.count)
      }
    }
    guard kept.hasMeans, let sums else { return }
    let (means, stride) = (arguments.valuesBehind, arguments.pixelStride)
    means.update(repeating: 0, count: stride)
    kernels.addRows(
      RowSum(sums: means, matrix: sums, rowCount: plan.sumCount, columnCount: stride, rowStride: stride))
    let share = 1 / Float(plan.output.pixelCount)
    for channel in 0..<stride { means[channel] *= share }
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
    let source = source(input, packed: packed, activation: expansion?.activation, plan: plan, pool: pool)
    plan.run(
      depthwise, over: source, scratch: scratch, extraScratchCount: plan.widestRowCount, pool: pool
    ) { y, channels, row, compute in
      compute(row, channels.count, nil)
      output.write(
        pixel: y * output.shape.width, count: output.shape.width, channels: channels, values: row,
        valueStride: channels.count, factors: nil)
    }
  }

  /// - Parameter activation: The activation of the expanded rows; nil without an expansion.
  private func source(
    _ input: FeatureMap, packed: UnsafeMutablePointer<Float>?, activation: Activation?, plan: DepthwisePlan,
    pool: ThreadPool
  ) -> RowSource {
    precondition(
      input.shape.channels == expansion?.matrix.depth ?? depthwise.channels && input.shape == plan.input,
      "input \(input.shape) where \(plan.input) was planned, to a depthwise of \(depthwise.channels) channels"
    )
    guard let expansion, let activation else { return .map(input) }
    let matrix = expansion.matrix
    if matrix.type == .float32 {
      return matrix.rows(
        of: UnsafeRawPointer(input.pointer), pixelStride: input.pixelStride, activation: activation)
    }
    let words = PackedMap(packed!, input.shape, matrix.type, kernels: matrix.kernels)
    words.write(input, factors: nil, pool: pool)
    return matrix.rows(of: words, activation: activation)
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
