import KernelInterface
package import SystemModule

/// The cut of a depthwise convolution, mostly over an expanded tensor, into tasks that stay in the second-level cache.
///
/// It does not depend on the number of threads, so neither do the sums.
package struct DepthwisePlan: Sendable, Equatable {
  /// The shape of what the rows are made of.
  package let input: FeatureShape
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
  /// Floats of an output row of the widest block of channels.
  package let widestRowCount: Int

  var taskCount: Int { channelBlocks.count * bandCount }

  /// The band that an output row lies in.
  func band(ofRow row: Int) -> Int { row / rowsPerBand }

  /// What a ring takes at most, in floats: 256 KiB, half of the second-level cache of the CPUs that it was tuned on.
  private static let cachedFloats = 65_536

  /// Cuts the work on an input of the given shape, which is expanded first or not.
  package init(_ depthwise: DepthwiseConvolution2D, input: FeatureShape, isExpanded: Bool) {
    let window = depthwise.window
    let output = window.outputShape(input, channels: depthwise.channels)
    let width = depthwise.kernels.vectorWidth
    let layout = PanelLayout(columnCount: depthwise.channels, vectorWidth: width)
    let sides =
      isExpanded ? RowRing.Sides(input, window: window, rowTile: depthwise.kernels.rowTile) : .none
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
    self.input = input
    self.output = output
    channelBlocks = blocks.sorted { $0.count > $1.count }
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
  ///   - source: What the rows under the windows are made of, of the plan's input shape.
  ///   - sums: `[bandCount, padded channels]`, overwritten by the sum of every channel over a band's pixels; nil when they
  ///     are not wanted.
  ///   - scratch: `scratchCount` floats and as many more as `extraScratchCount` says.
  ///   - write: Is called for each row and block of channels, with the extra scratch memory, and calls what it is handed
  ///     with the place of the row's first pixel and the floats from one pixel to the next.
  package func run(
    _ depthwise: DepthwiseConvolution2D, over source: RowSource, sums: UnsafeMutablePointer<Float>? = nil,
    scratch: UnsafeMutablePointer<Float>, extraScratchCount: Int = 0, pool: ThreadPool,
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
      withUnsafeTemporaryAllocation(of: UnsafePointer<Float>?.self, capacity: window.kernelSize) { pointers in
        for y in rows {
          let top = y * window.stride - resolved.top
          ring.hold(from: max(top, 0), through: min(top + window.kernelSize, input.height) - 1, end: end)
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
