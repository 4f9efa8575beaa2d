import KernelInterface
import SystemModule
import TensorModule

/// Where everything of a run lies in its arena, from the lifetimes that the blocks declare.
///
/// The blocks' steps are counted through the network; the pooling is the last step.
struct NetworkPlan: Sendable {
  /// The image, `[height, width, 3]`, dense, in floats from the start of the arena.
  let input: Int
  /// Of each block, in floats from the start of the arena: its output and its own buffers.
  let blocks: [(output: Int, buffers: [Int])]
  let pooled: Int
  let poolingScratch: Int
  let taskScratch: Int
  /// Floats in the arena.
  let count: Int

  init(_ blocks: [any Block], kernels: KernelSet) {
    var lifetimes: [ArenaPlan.Lifetime] = []
    func reserve(_ count: Int, _ steps: ClosedRange<Int>) -> Int {
      lifetimes.append(ArenaPlan.Lifetime(count: count, steps: steps))
      return lifetimes.count - 1
    }
    let memories = blocks.map { $0.memory }
    let stepCount = memories.reduce(0) { $0 + $1.stepCount }
    let image = blocks[0].input
    let input = reserve(image.pixelCount * image.channels, 0...memories[0].lastInputStep)
    var reserved: [(output: Int, buffers: [Int])] = []
    var first = 0
    for (index, memory) in memories.enumerated() {
      let next = first + memory.stepCount
      let lastRead = index + 1 < blocks.count ? next + memories[index + 1].lastInputStep : stepCount
      let output = reserve(
        FeatureMap.count(blocks[index].output, kernels: kernels), first + memory.firstOutputStep...lastRead)
      let buffers = memory.buffers.map {
        reserve($0.count, first + $0.steps.lowerBound...first + $0.steps.upperBound)
      }
      reserved.append((output, buffers))
      first = next
    }
    // A map in the middle may be pooled too, whose channels are not the last one's.
    let channels = blocks.reduce(0) { max($0, $1.output.channels) }
      .roundedUp(toMultipleOf: kernels.vectorWidth)
    let pooled = reserve(channels, 0...stepCount)
    let poolingScratch = reserve(channels, 0...stepCount)
    let taskScratch = reserve(memories.reduce(0) { max($0, $1.taskScratchCount) }, 0...stepCount)

    let arena = ArenaPlan(lifetimes)
    self.input = arena.offsets[input]
    self.blocks = reserved.map { (arena.offsets[$0.output], $0.buffers.map { arena.offsets[$0] }) }
    self.pooled = arena.offsets[pooled]
    self.poolingScratch = arena.offsets[poolingScratch]
    self.taskScratch = arena.offsets[taskScratch]
    count = arena.count
  }
}

/// The memory of one run at a time.
final class Workspace: Sendable {
  private let arena: AlignedBuffer

  init(_ plan: NetworkPlan) { arena = AlignedBuffer(count: plan.count) }

  func pointer(_ offset: Int) -> UnsafeMutablePointer<Float> { arena.pointer + offset }
}
