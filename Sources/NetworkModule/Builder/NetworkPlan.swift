import SystemModule
import TensorModule

/// An operation of a prepared network.
struct Step: Sendable {
  let operation: any PreparedOperation
  let inputs: [Value]
  let value: Value
}

/// The places of all values of a run in its arena. A value lives from the step that makes it to the last that reads it.
struct NetworkPlan: Sendable {
  /// The place of each value that is left, in floats from the start of the arena.
  let offsets: [Int]
  /// As long as the values; those that are not left have the image's.
  let layouts: [Layout]
  /// The place of each step's scratch memory.
  let scratch: [Int]
  /// Floats in the arena.
  let count: Int

  /// - Parameters:
  ///   - outputs: Values that are read when the run is done.
  ///   - sharing: False gives each buffer memory of its own, for comparison.
  init(_ list: OperationList, _ steps: [Step], outputs: [Value], sharing: Bool = true) {
    var layouts = [Layout](repeating: Layout(image: list.image), count: list.nodes.count)
    var made = [Int](repeating: 0, count: list.nodes.count)
    var read = made
    for (index, step) in steps.enumerated() {
      layouts[step.value.index] = step.operation.output
      made[step.value.index] = index
      for value in step.inputs + [step.value] { read[value.index] = max(read[value.index], index) }
    }
    for value in outputs { read[value.index] = steps.count }

    var lifetimes: [ArenaPlan.Lifetime] = []
    func reserve(_ count: Int, _ steps: ClosedRange<Int>) -> Int {
      lifetimes.append(ArenaPlan.Lifetime(count: count, steps: steps))
      return lifetimes.count - 1
    }
    let all = 0...steps.count
    let values = [Value(index: 0)] + steps.map { $0.value }
    let places = values.map {
      reserve(layouts[$0.index].count, sharing ? made[$0.index]...read[$0.index] : all)
    }
    let scratch = steps.indices.map { reserve(steps[$0].operation.scratchCount, sharing ? $0...$0 : all) }

    let arena = ArenaPlan(lifetimes)
    var offsets = made.map { _ in 0 }
    for (value, place) in zip(values, places) { offsets[value.index] = arena.offsets[place] }
    self.offsets = offsets
    self.layouts = layouts
    self.scratch = scratch.map { arena.offsets[$0] }
    count = arena.count
  }
}

/// The memory of one run at a time.
final class Workspace: Sendable {
  private let arena: AlignedBuffer

  init(_ plan: NetworkPlan) { arena = AlignedBuffer(count: plan.count) }

  func pointer(_ offset: Int) -> UnsafeMutablePointer<Float> { arena.pointer + offset }

  func stored(_ value: Value, _ plan: NetworkPlan) -> Stored {
    Stored(pointer: arena.pointer + plan.offsets[value.index], layout: plan.layouts[value.index])
  }
}
