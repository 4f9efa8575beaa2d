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

  /// The cut of one input shape into tasks. It does not depend on the number of threads, so neither do the sums.
  package struct Plan: Sendable, Equatable {
    /// The depthwise convolution's output.
    package let output: FeatureShape
    /// The channels of each block: whole panels of the expansion. The widest first, so that threads end together.
    let channelBlocks: [Range<Int>]
    let rowsPerBand: Int
    /// Bands of output rows; each gives sums of its own.
    package let bandCount: Int
    /// Rows of expanded pixels that a task holds, and the zeros beside them.
    let ringRowCount: Int
    let ringSides: RowRing.Sides
    /// Floats of scratch memory for each task.
    package let scratchCount: Int

    var taskCount: Int { channelBlocks.count * bandCount }
  }

  /// What a ring takes at most, in floats: 256 KiB, half of the second-level cache of the CPUs that it was tuned on.
  private static let cachedFloats = 65_536

  /// Cuts the work on an input of the given shape.
  package func plan(_ input: FeatureShape) -> Plan {
    let window = depthwise.window
    let output = window.outputShape(input, channels: depthwise.channels)
    let width = depthwise.kernels.vectorWidth
    let layout = PanelLayout(columnCount: depthwise.channels, vectorWidth: width)
    let sides =
      expansion.map { RowRing.Sides(input, window: window, rowTile: $0.matrix.kernels.rowTile) } ?? .none
    let ringWidth = sides.before + input.width + sides.after
    // A ring of the window and two more steps, as wide in channels as the cache allows.
    let leastRows = min(window.kernelSize + 2 * window.stride, input.height)
    let wantedPanels = Self.cachedFloats / (leastRows * ringWidth * 2 * width)
    let widestPanels = max(min(wantedPanels, 6), 1)
    let fewestBlocks = (layout.panelCount + widestPanels - 1) / widestPanels
    // Too few blocks to share out: cut the rows too, in bands high enough that the rows expanded twice cost little. Where
    // there is no room for that, more blocks, an even number where the cache allows: of an odd one, one of two threads would
    // have none left.
    let bands = max(min(8 / fewestBlocks, output.height * window.stride / (8 * window.kernelSize)), 1)
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
    return Plan(
      output: output, channelBlocks: blocks.sorted { $0.count > $1.count }, rowsPerBand: rowsPerBand,
      bandCount: (output.height + rowsPerBand - 1) / rowsPerBand, ringRowCount: ringRows,
      ringSides: sides, scratchCount: expansion == nil ? 0 : ringRows * ringWidth * widest)
  }

  /// Computes the output and, for each band, the sum of every channel over the band's pixels.
  ///
  /// - Parameters:
  ///   - sums: `[bandCount, padded channels]`, overwritten; nil when they are not wanted.
  ///   - scratch: The plan's `scratchCount` floats.
  package func callAsFunction(
    _ input: FeatureMap, into output: FeatureMap, sums: UnsafeMutablePointer<Float>?, plan: Plan,
    scratch: UnsafeMutablePointer<Float>, pool: ThreadPool
  ) {
    precondition(output.shape == plan.output, "output \(output.shape) where \(plan.output) was planned")
    precondition(
      input.shape.channels == expansion?.matrix.depth ?? depthwise.channels,
      "input \(input.shape) to a depthwise of \(depthwise.channels) channels")
    let padded = depthwise.paddedChannels
    pool.run(taskCount: plan.taskCount, scratch: scratch, scratchCount: plan.scratchCount) { task, scratch in
      let (block, band) = task.quotientAndRemainder(dividingBy: plan.bandCount)
      let channels = plan.channelBlocks[block]
      let rows = band * plan.rowsPerBand..<min((band + 1) * plan.rowsPerBand, plan.output.height)
      let bandSums = sums.map { $0 + band * padded + channels.lowerBound }
      bandSums?.update(repeating: 0, count: channels.count)
      var ring = RowRing(
        expansion: expansion, input: input, channels: channels, rowCount: plan.ringRowCount,
        sides: plan.ringSides, scratch: scratch)
      compute(rows: rows, channels: channels, ring: &ring, input: input, output: output, sums: bandSums)
    }
  }

  private func compute(
    rows: Range<Int>, channels: Range<Int>, ring: inout RowRing, input: FeatureMap, output: FeatureMap,
    sums: UnsafeMutablePointer<Float>?
  ) {
    let window = depthwise.window
    let resolved = window.resolve(height: input.shape.height, width: input.shape.width)
    let end = min(
      (rows.upperBound - 1) * window.stride - resolved.top + window.kernelSize, input.shape.height)
    withUnsafeTemporaryAllocation(of: UnsafePointer<Float>?.self, capacity: window.kernelSize) { pointers in
      for y in rows {
        let top = y * window.stride - resolved.top
        ring.hold(from: max(top, 0), through: min(top + window.kernelSize, input.shape.height) - 1, end: end)
        for ky in 0..<window.kernelSize {
          let row = top + ky
          pointers[ky] = (0..<input.shape.height).contains(row) ? ring.row(row) : nil
        }
        depthwise.computeRow(
          rows: pointers.baseAddress!, inputPixelStride: ring.pixelStride, inputWidth: ring.width,
          padLeft: resolved.left - ring.sides.before, channelRange: channels,
          output: output.pointer + (y * output.shape.width * output.pixelStride + channels.lowerBound),
          outputPixelStride: output.pixelStride, outputWidth: output.shape.width, sums: sums)
      }
    }
  }
}
