import KernelInterface
import TensorModule

/// Where everything of a run lies in its arena.
///
/// Step 0 is the stem, block `i` filters in step `2i + 1` and projects in step `2i + 2`; the head follows.
struct NetworkPlan: Sendable {
  /// A block's buffers, in floats from the start of the arena.
  struct Block: Sendable {
    let filter: ExpandedDepthwise.Plan
    let filtered: Int
    let sums: Int
    let gate: Int
    let hidden: Int
    let scaledPanels: Int
    let output: Int
    let outputShape: FeatureShape
  }

  let inputShape: FeatureShape
  let stemShape: FeatureShape
  let headShape: FeatureShape
  /// `[height, width, 3]`, dense.
  let input: Int
  let stem: Int
  let blocks: [Block]
  let head: Int
  let pooled: Int
  let poolingScratch: Int
  let taskScratch: Int
  /// Floats in the arena.
  let count: Int

  init(
    inputSize: Int, stem: Convolution2D, blocks: [MBConvBlock], headConvolution: PointwiseConvolution,
    kernels: KernelSet
  ) {
    var lifetimes: [ArenaPlan.Lifetime] = []
    func reserve(_ count: Int, _ steps: ClosedRange<Int>) -> Int {
      lifetimes.append(ArenaPlan.Lifetime(count: count, steps: steps))
      return lifetimes.count - 1
    }
    let width = kernels.vectorWidth
    let lastStep = 2 * blocks.count + 2
    let inputShape = FeatureShape(height: inputSize, width: inputSize, channels: 3)
    let stemShape = stem.window.outputShape(inputShape, channels: stem.outputChannels)
    let input = reserve(inputShape.pixelCount * 3, 0...0)
    let stemIndex = reserve(
      FeatureMap.count(stemShape, kernels: kernels), 0...(blocks[0].hasSkip ? 2 : 1))
    var scratchPerTask = stem.scratchCount(inputShape)
    var shape = stemShape
    var reserved: [Block] = []
    for (index, block) in blocks.enumerated() {
      let filter = block.filter.plan(shape)
      let channels = block.filter.depthwise.paddedChannels
      let (filterStep, projectStep) = (2 * index + 1, 2 * index + 2)
      let isReadLast = index + 1 == blocks.count || !blocks[index + 1].hasSkip
      let outputShape = FeatureShape(
        height: filter.output.height, width: filter.output.width, channels: block.outputChannels)
      let gated = block.squeezeExcite == nil ? 0 : 1
      reserved.append(
        Block(
          filter: filter,
          filtered: reserve(FeatureMap.count(filter.output, kernels: kernels), filterStep...projectStep),
          sums: reserve(gated * filter.bandCount * channels, filterStep...projectStep),
          gate: reserve(gated * channels, projectStep...projectStep),
          hidden: reserve(block.squeezeExcite?.scratchCount ?? 0, projectStep...projectStep),
          scaledPanels: reserve(
            gated * block.projection.scratchCount(pixelCount: outputShape.pixelCount),
            projectStep...projectStep),
          output: reserve(
            FeatureMap.count(outputShape, kernels: kernels),
            projectStep...(projectStep + (isReadLast ? 1 : 2))),
          outputShape: outputShape))
      scratchPerTask = max(scratchPerTask, filter.scratchCount)
      shape = outputShape
    }
    let headShape = FeatureShape(
      height: shape.height, width: shape.width, channels: headConvolution.matrix.columnCount)
    let headIndex = reserve(FeatureMap.count(headShape, kernels: kernels), (lastStep - 1)...lastStep)
    let headChannels = headShape.channels.roundedUp(toMultipleOf: width)
    // A map in the middle may be pooled too, whose channels are fewer.
    let pooled = reserve(headChannels, 0...lastStep)
    let poolingScratch = reserve(headChannels, 0...lastStep)
    let taskScratch = reserve(scratchPerTask, 0...lastStep)

    let arena = ArenaPlan(lifetimes)
    let offsets = arena.offsets
    self.inputShape = inputShape
    self.stemShape = stemShape
    self.headShape = headShape
    self.input = offsets[input]
    self.stem = offsets[stemIndex]
    self.blocks = reserved.map {
      Block(
        filter: $0.filter, filtered: offsets[$0.filtered], sums: offsets[$0.sums], gate: offsets[$0.gate],
        hidden: offsets[$0.hidden], scaledPanels: offsets[$0.scaledPanels], output: offsets[$0.output],
        outputShape: $0.outputShape)
    }
    head = offsets[headIndex]
    self.pooled = offsets[pooled]
    self.poolingScratch = offsets[poolingScratch]
    self.taskScratch = offsets[taskScratch]
    count = arena.count
  }
}

/// The memory of one run at a time.
final class Workspace: Sendable {
  private let arena: AlignedBuffer

  init(_ plan: NetworkPlan) { arena = AlignedBuffer(count: plan.count) }

  func pointer(_ offset: Int) -> UnsafeMutablePointer<Float> { arena.pointer + offset }
}
