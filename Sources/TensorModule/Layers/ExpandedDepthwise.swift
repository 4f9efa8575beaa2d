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
  package func plan(_ input: FeatureShape) -> DepthwisePlan {
    // A comparison with nil does not do: in the embedded form of this module, Swift 6.3.1 finds every expansion equal to nil.
    let isExpanded = (expansion?.matrix.depth ?? 0) > 0
    return DepthwisePlan(depthwise, input: input, isExpanded: isExpanded)
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

  /// Computes the output and, for each band, the sum of every channel over the band's pixels.
  ///
  /// - Parameters:
  ///   - packed: ``packedCount(_:)`` floats.
  ///   - sums: `[bandCount, padded channels]`, overwritten; nil when they are not wanted.
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

/// The cut of a depthwise convolution, mostly over an expanded tensor, into tasks that stay in the second-level cache.
///
/// It does not depend on the number of threads, so neither do the sums.
package struct DepthwisePlan: Sendable, Equatable {
  /// The shape of what the rows are made of.
  package let input: FeatureShape
  /// The depthwise convolution's output.
  package let output: FeatureShape
  /// The channels of each block: whole panels of the expansion.
  let channelBlocks: [Range<Int>]
  let rowsPerBand: Int
  /// Bands of output rows; each gives sums of its own.
  package let bandCount: Int
  /// Rows of expanded pixels that a task holds, and the zeros beside them.
  let ringRowCount: Int
  let ringSides: RowRing.Sides
  /// Floats of scratch memory for each task.
  package let scratchCount: Int
  /// Floats of an output row of the widest block of channels.
  package let widestRowCount: Int

  var taskCount: Int { channelBlocks.count * bandCount }

  /// The band that an output row lies in.
  func band(ofRow row: Int) -> Int { row / rowsPerBand }

  /// The most that a ring takes, in floats: 256 KiB, half of the second-level cache of the CPUs that it was tuned on.
  private static let cachedFloats = 65_536

  /// Cuts the work on an input of the given shape, which is expanded first or not.
  package init(_ depthwise: DepthwiseConvolution2D, input: FeatureShape, isExpanded: Bool) {
    let window = depthwise.window
    let output = window.outputShape(input, channels: depthwise.channels)
    let width = depthwise.kernels.vectorWidth
    let layout = PanelLayout(columnCount: depthwise.channels, vectorWidth: width)
    let sides =
      isExpanded
      ? RowRing.Sides(input, window: window, isRequired: depthwise.windows != nil)
      : .none
    let ringWidth = sides.before + input.width + sides.after
    // A ring of the window and two more steps, as wide in channels as the cache allows.
    let leastRows = min(window.kernelSize + 2 * window.stride, input.height)
    let wantedPanels = Self.cachedFloats / (leastRows * ringWidth * 2 * width)
    let widestPanels = max(min(wantedPanels, 6), 1)
    let fewestBlocks = (layout.panelCount + widestPanels - 1) / widestPanels
    // Too few blocks to share out: cut the rows too, in an even number of bands, high enough that the rows expanded twice
    // cost little. Their sums have the same bits for vectors of any width, so their number follows from channels: a block
    // has those of one to six panels of the widest vectors.
    let widestBlock = min(max(Self.cachedFloats / (leastRows * input.width), 32), 192)
    let wantedBands = 8 * widestBlock / max(depthwise.channels, widestBlock)
    let room = min(wantedBands, output.height * window.stride / (8 * window.kernelSize))
    let bands = room < 2 ? 1 : room.roundedUp(toMultipleOf: 2)
    // If there is no room for that: more blocks, an even number if the cache allows. Of an odd one, one of two threads would
    // have none left.
    let sharedBlocks = max(fewestBlocks, 8).roundedUp(toMultipleOf: 4)
    let evenBlocks = max(layout.panelCount / 4 * 2, 1)
    let blockCount = bands > 1 ? fewestBlocks : max(fewestBlocks, min(sharedBlocks, evenBlocks))
    let blocks = (0..<blockCount).map { block in
      let start = layout.panelCount * block / blockCount * 2
      let isLast = block == blockCount - 1
      let end = isLast ? layout.vectorCount : layout.panelCount * (block + 1) / blockCount * 2
      return start * width..<end * width
    }
    let widest = blocks.map { $0.count }.max() ?? 0
    let ringRows = min(
      max(Self.cachedFloats / (widest * ringWidth), window.kernelSize + window.stride), input.height)
    let rowsPerBand = (output.height + bands - 1) / bands
    self.input = input
    self.output = output
    channelBlocks = blocks
    self.rowsPerBand = rowsPerBand
    bandCount = (output.height + rowsPerBand - 1) / rowsPerBand
    ringRowCount = ringRows
    ringSides = sides
    scratchCount = isExpanded ? ringRows * ringWidth * widest : 0
    widestRowCount = output.width * widest
  }

  /// Computes all output rows, some channels at a time.
  ///
  /// - Parameters:
  ///   - source: The source of the rows under the windows, of the plan's input shape.
  ///   - sums: `[bandCount, padded channels]`, overwritten by the sum of every channel over a band's pixels; nil when they
  ///     are not wanted.
  ///   - expandedMask: Overwritten by the bits of the rows that a window reads; nil when they are not wanted.
  ///   - scratch: `scratchCount` floats and as many more as `extraScratchCount` says.
  ///   - write: Is called for each row and block of channels, with the extra scratch memory, and calls what it is handed
  ///     with the place of the row's first pixel and the floats from one pixel to the next.
  package func run(
    _ depthwise: DepthwiseConvolution2D, over source: RowSource, sums: UnsafeMutablePointer<Float>? = nil,
    expandedMask: GradientMask? = nil, scratch: UnsafeMutablePointer<Float>, extraScratchCount: Int = 0,
    pool: ThreadPool,
    write: (
      _ row: Int, _ channels: Range<Int>, _ extra: UnsafeMutablePointer<Float>,
      _ compute: (_ output: UnsafeMutablePointer<Float>, _ pixelStride: Int) -> Void
    ) -> Void
  ) {
    let padded = depthwise.paddedChannels
    let window = depthwise.window
    let resolved = window.resolve(height: input.height, width: input.width)
    pool.run(taskCount: taskCount, scratch: scratch, scratchCount: scratchCount + extraScratchCount) {
      task, scratch in
      let (block, band) = task.quotientAndRemainder(dividingBy: bandCount)
      let channels = channelBlocks[block]
      let rows = band * rowsPerBand..<min((band + 1) * rowsPerBand, output.height)
      let bandSums = sums.map { $0 + band * padded + channels.lowerBound }
      bandSums?.update(repeating: 0, count: channels.count)
      var ring = RowRing(
        source, width: input.width, channels: channels, rowCount: ringRowCount, sides: ringSides,
        scratch: scratch)
      let (rowStride, rowWidth) = (ring.pixelStride, ring.width)
      let padLeft = resolved.left - ring.sides.before
      let end = min((rows.upperBound - 1) * window.stride - resolved.top + window.kernelSize, input.height)
      // The next band expands the rows from its first on again.
      let ownEnd = band == bandCount - 1 ? end : rows.upperBound * window.stride - resolved.top
      withUnsafeTemporaryAllocation(of: UnsafePointer<Float>?.self, capacity: window.kernelSize) { pointers in
        for y in rows {
          let top = y * window.stride - resolved.top
          ring.hold(
            from: max(top, 0), through: min(top + window.kernelSize, input.height) - 1, end: end
          ) { row, values in
            guard row < ownEnd else { return }
            expandedMask?.write(
              values, stride: rowStride, pixels: row * input.width..<(row + 1) * input.width,
              channels: channels)
          }
          for ky in 0..<window.kernelSize {
            let row = top + ky
            pointers[ky] = (0..<input.height).contains(row) ? ring.row(row) : nil
          }
          write(y, channels, scratch + scratchCount) { place, pixelStride in
            depthwise.computeRow(
              rows: pointers.baseAddress!, inputPixelStride: rowStride, inputWidth: rowWidth,
              padLeft: padLeft, channelRange: channels, output: place,
              outputPixelStride: pixelStride, outputWidth: output.width, sums: bandSums)
          }
        }
      }
    }
  }
}
