import KernelInterface
package import SystemModule

/// The cuts of a depthwise convolution, mostly over an expanded tensor, into tasks that stay in the second-level cache.
///
/// They depend on the number of threads; what they compute does not.
package struct DepthwisePlan: Sendable, Equatable {
  /// The shape of what the rows are made of.
  package let input: FeatureShape
  /// The depthwise convolution's output.
  package let output: FeatureShape
  /// Runs of output rows of which each has a sum of every channel.
  package let sumCount: Int
  private let rowsPerSum: Int
  /// The zeros beside the rows of expanded pixels.
  let ringSides: RowRing.Sides
  /// For a thread that does all tasks.
  let alone: Cut
  /// For threads that share them.
  let shared: Cut
  /// Threads that share the tasks.
  package let threadCount: Int
  /// Floats of scratch memory for each task.
  package let scratchCount: Int
  /// Floats of an output row of the widest block of channels.
  package let widestRowCount: Int

  /// The most sums of a channel, and so the most bands.
  private static let mostSums = 16

  /// The sum that an output row belongs to.
  func sum(ofRow row: Int) -> Int { row / rowsPerSum }

  /// The input rows from the first on that the windows of the first output rows reach.
  ///
  /// - Parameter rows: Nil: all.
  func readRowCount(_ window: Window, rows: Int? = nil) -> Int {
    let top = window.resolve(height: input.height, width: input.width).top
    return min(((rows ?? output.height) - 1) * window.stride - top + window.kernelSize, input.height)
  }

  /// Cuts the work on an input of the given shape.
  ///
  /// - Parameters:
  ///   - expansion: The 1x1 convolution that makes the rows, or nil if they are the input's own.
  ///   - threadCount: Threads that share the tasks.
  init(
    _ depthwise: DepthwiseConvolution2D, expansion: Convolution2D?, input: FeatureShape, threadCount: Int
  ) {
    // A comparison with nil does not do: in the embedded form of this module, Swift 6.3.1 finds every expansion equal to nil.
    let depth = expansion?.matrix.depth ?? 0
    let window = depthwise.window
    let output = window.outputShape(input, channels: depthwise.channels)
    let sides =
      depth > 0 ? RowRing.Sides(input, window: window, isRequired: depthwise.windows != nil) : .none
    let rowsPerSum = (output.height + Self.mostSums - 1) / Self.mostSums
    self.input = input
    self.output = output
    self.threadCount = threadCount
    sumCount = (output.height + rowsPerSum - 1) / rowsPerSum
    self.rowsPerSum = rowsPerSum
    ringSides = sides
    func cut(_ threadCount: Int) -> Cut {
      Cut(
        depthwise, input: input, output: output, depth: depth, sides: sides, rowsPerSum: rowsPerSum,
        threadCount: threadCount)
    }
    alone = cut(1)
    shared = threadCount == 1 ? alone : cut(threadCount)
    widestRowCount = output.width * max(alone.widestBlock, shared.widestBlock)
    let ringWidth = sides.before + input.width + sides.after
    scratchCount = depth > 0 ? ringWidth * max(alone.ringCount, shared.ringCount) : 0
  }

  /// Computes all output rows, some channels at a time.
  ///
  /// - Parameters:
  ///   - source: The source of the rows under the windows, of the plan's input shape.
  ///   - sums: `[sumCount, padded channels]`, overwritten by the sum of every channel over the pixels of some rows; nil when
  ///     they are not wanted.
  ///   - look: Sees the rows that were expanded, before a window reads them: the pixels, the channels, and the first value,
  ///     the next pixel's `channels.count` floats on. Bands expand some rows twice; to one of them they belong.
  ///   - scratch: `scratchCount` floats and as many more as `extraScratchCount` says.
  ///   - write: Is called for each row and block of channels, with the extra scratch memory. It calls `compute` with the place
  ///     of the row's first pixel and the floats from one pixel to the next. Where the argument of the activation is wanted
  ///     too, `arguments` is the same of its memory.
  package func run(
    _ depthwise: DepthwiseConvolution2D, over source: RowSource, sums: UnsafeMutablePointer<Float>? = nil,
    look: (
      (_ pixels: Range<Int>, _ channels: Range<Int>, _ values: UnsafeMutablePointer<Float>, _ isOwn: Bool) ->
        Void
    )? = nil, scratch: UnsafeMutablePointer<Float>, extraScratchCount: Int = 0,
    pool: ThreadPool,
    write: (
      _ row: Int, _ channels: Range<Int>, _ extra: UnsafeMutablePointer<Float>,
      _ compute: (
        _ output: UnsafeMutablePointer<Float>, _ pixelStride: Int,
        _ arguments: (UnsafeMutablePointer<Float>, Int)?
      ) -> Void
    ) -> Void
  ) {
    let padded = depthwise.paddedChannels
    let window = depthwise.window
    let resolved = window.resolve(height: input.height, width: input.width)
    let cut = pool.sharerCount == 1 ? alone : shared
    pool.run(taskCount: cut.taskCount, scratch: scratch, scratchCount: scratchCount + extraScratchCount) {
      task, scratch in
      let (block, band) = task.quotientAndRemainder(dividingBy: cut.bandCount)
      let channels = cut.channelBlocks[block]
      let rows = band * cut.rowsPerBand..<min((band + 1) * cut.rowsPerBand, output.height)
      var ring = RowRing(
        source, width: input.width, channels: channels, rowCount: cut.ringRowCount, sides: ringSides,
        scratch: scratch)
      let (rowStride, rowWidth) = (ring.pixelStride, ring.width)
      let padLeft = resolved.left - ring.sides.before
      let end = readRowCount(window, rows: rows.upperBound)
      // The next band expands the rows from its first on again.
      let ownEnd = band == cut.bandCount - 1 ? end : rows.upperBound * window.stride - resolved.top
      withUnsafeTemporaryAllocation(of: UnsafePointer<Float>?.self, capacity: window.kernelSize) { pointers in
        for y in rows {
          let top = y * window.stride - resolved.top
          ring.hold(
            from: max(top, 0), through: min(top + window.kernelSize, input.height) - 1, end: end
          ) { row, values in
            look?(row * input.width..<(row + 1) * input.width, channels, values, row < ownEnd)
          }
          for ky in 0..<window.kernelSize {
            let row = top + ky
            pointers[ky] = (0..<input.height).contains(row) ? ring.row(row) : nil
          }
          let rowSums = sums.map { $0 + sum(ofRow: y) * padded + channels.lowerBound }
          if y.isMultiple(of: rowsPerSum) { rowSums?.update(repeating: 0, count: channels.count) }
          write(y, channels, scratch + scratchCount) { place, pixelStride, arguments in
            depthwise.computeRow(
              rows: pointers.baseAddress!, inputPixelStride: rowStride, inputWidth: rowWidth,
              padLeft: padLeft, channelRange: channels, output: place,
              outputPixelStride: pixelStride, outputWidth: output.width, sums: rowSums,
              arguments: arguments)
          }
        }
      }
    }
  }
}

extension DepthwisePlan {
  /// Blocks of channels and bands of rows: a task for each pair.
  struct Cut: Sendable, Equatable {
    /// Whole panels of the expansion.
    let channelBlocks: [Range<Int>]
    /// Channels of the widest of them.
    let widestBlock: Int
    let rowsPerBand: Int
    /// The next band expands the rows at the seam again.
    let bandCount: Int
    /// Rows of expanded pixels that a task holds.
    let ringRowCount: Int

    var taskCount: Int { channelBlocks.count * bandCount }
    /// Floats of a ring that is one pixel wide.
    var ringCount: Int { ringRowCount * widestBlock }

    /// The most that a ring takes, in floats: 256 KiB, half of the second-level cache of the CPUs that it was tuned on.
    private static let cachedFloats = 65_536
    /// The most panels of a block.
    private static let mostPanels = 6

    /// The cut that takes the least time by ``TaskCost``.
    init(
      _ depthwise: DepthwiseConvolution2D, input: FeatureShape, output: FeatureShape, depth: Int,
      sides: RowRing.Sides, rowsPerSum: Int, threadCount: Int
    ) {
      let window = depthwise.window
      let width = depthwise.kernels.vectorWidth
      let layout = PanelLayout(columnCount: depthwise.channels, vectorWidth: width)
      let ringWidth = sides.before + input.width + sides.after
      // A ring of the window and two more steps, as wide in channels as the cache allows.
      let leastRows = min(window.kernelSize + 2 * window.stride, input.height)
      let mostPanels = min(Self.cachedFloats / (leastRows * ringWidth * 2 * width), Self.mostPanels)
      let cost = TaskCost(window: window, input: input, output: output, depth: depth)
      var best = (time: Int.max, blockCount: 1, rowsPerBand: output.height)
      for panels in (1...max(mostPanels, 1)).reversed() {
        let blockCount = (layout.panelCount + panels - 1) / panels
        let widest = 2 * panels + layout.vectorCount % 2
        // Rows between windows belong to no band.
        let least = window.stride > window.kernelSize ? output.height : rowsPerSum
        for rows in stride(from: least, to: output.height + rowsPerSum, by: rowsPerSum).reversed() {
          let bandCount = (output.height + rows - 1) / rows
          let time = cost.time(
            taskCount: blockCount * bandCount, threadCount: threadCount,
            all: cost(rowCount: output.height, bandCount: bandCount, vectorCount: layout.vectorCount),
            largest: cost(rowCount: min(rows, output.height), vectorCount: widest))
          if time < best.time { best = (time, blockCount, rows) }
        }
      }
      let (blockCount, rows) = (best.blockCount, best.rowsPerBand)
      channelBlocks = (0..<blockCount).map { block in
        let start = layout.panelCount * block / blockCount * 2
        let isLast = block == blockCount - 1
        let end = isLast ? layout.vectorCount : layout.panelCount * (block + 1) / blockCount * 2
        return start * width..<end * width
      }
      widestBlock = channelBlocks.map { $0.count }.max() ?? 0
      ringRowCount = min(
        max(Self.cachedFloats / (widestBlock * ringWidth), window.kernelSize + window.stride), input.height)
      rowsPerBand = rows
      bandCount = (output.height + rows - 1) / rows
    }
  }

  /// The cost of a task, in multiply-adds of whole vectors.
  private struct TaskCost {
    /// For each row that is expanded, and for each that is filtered.
    private let expanded: Int
    private let filtered: Int
    private let window: Window
    private let inputHeight: Int

    /// An activation takes as long as so many multiply-adds.
    private static let activation = 12
    /// Taking a task takes as long as so many: a microsecond.
    private static let task = 8192

    init(window: Window, input: FeatureShape, output: FeatureShape, depth: Int) {
      expanded = depth > 0 ? input.width * (depth + Self.activation) : 0
      filtered = output.width * (window.kernelSize * window.kernelSize + Self.activation)
      self.window = window
      inputHeight = input.height
    }

    /// - Parameters:
    ///   - rowCount: Output rows, in so many bands.
    ///   - vectorCount: Vectors of channels.
    func callAsFunction(rowCount: Int, bandCount: Int = 1, vectorCount: Int) -> Int {
      let seams = bandCount * (window.kernelSize - window.stride)
      let rows = min(rowCount * window.stride + seams, bandCount * inputHeight)
      return vectorCount * (rows * expanded + rowCount * filtered)
    }

    /// The time that threads take to share tasks.
    ///
    /// - Parameters:
    ///   - all: The cost of all tasks.
    ///   - largest: The cost of the largest.
    func time(taskCount: Int, threadCount: Int, all: Int, largest: Int) -> Int {
      if threadCount == 1 { return all + taskCount * Self.task }
      let mean = all / taskCount
      let rounds = (taskCount + threadCount - 1) / threadCount
      return rounds * (mean + Self.task) + (largest - mean) + largest / 16
    }
  }
}
