import SystemModule

/// The places of a run's buffers in one arena, so that buffers whose lifetimes do not meet share memory.
///
/// The largest is placed first, each in the lowest gap that is free while it lives, as XNNPACK's memory planner does.
package struct ArenaPlan: Sendable, Equatable {
  /// A buffer: its size in floats and the first and last step that use it.
  package struct Lifetime: Sendable, Equatable {
    package let count: Int
    package let steps: ClosedRange<Int>
  }

  /// Floats from the start of the arena to each buffer; a multiple of 16.
  package let offsets: [Int]
  /// Floats in the arena.
  package let count: Int

  package init(_ lifetimes: [Lifetime]) {
    var offsets = [Int](repeating: 0, count: lifetimes.count)
    var placed: [Int] = []
    var end = 0
    let order = lifetimes.indices.sorted {
      (lifetimes[$0].count, $1) > (lifetimes[$1].count, $0)
    }
    for index in order {
      let size = lifetimes[index].count.roundedUp(toMultipleOf: 16)
      var offset = 0
      for other in placed.sorted(by: { offsets[$0] < offsets[$1] })
      where lifetimes[other].steps.overlaps(lifetimes[index].steps) {
        if offset + size <= offsets[other] { break }
        offset = max(offset, offsets[other] + lifetimes[other].count.roundedUp(toMultipleOf: 16))
      }
      offsets[index] = offset
      placed.append(index)
      end = max(end, offset + size)
    }
    self.offsets = offsets
    count = end
  }
}
