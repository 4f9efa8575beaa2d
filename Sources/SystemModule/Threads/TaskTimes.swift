/// The time of every task of a pass, each done alone, and from it a forecast for threads that share them. It knows the work,
/// what does not lie in regions, and the imbalance; it does not know what threads cost each other: the beginning and end of a
/// region, and the memory that they share.
package final class TaskTimes: Sendable {
  private struct State {
    /// The least milliseconds of each task, region by region.
    var regions: [[Double]] = []
    /// The least milliseconds of a pass outside of regions.
    var serial = Double.infinity
    /// The region that comes next in a pass; nil outside of one.
    var next: Int?
    /// The beginning of this pass, and its milliseconds in regions.
    var start = 0.0
    var shared = 0.0
  }

  private let state = Locked(State())

  package init() {}

  /// Begins a pass. All passes have the same regions.
  package func begin() {
    state.withLock { ($0.next, $0.shared, $0.start) = (0, 0, MonotonicClock.milliseconds) }
  }

  package func end() {
    state.withLock { state in
      state.serial = min(state.serial, MonotonicClock.milliseconds - state.start - state.shared)
      state.next = nil
    }
  }

  func run(taskCount: Int, _ body: (_ task: Int, _ thread: Int) -> Void) {
    var times: [Double] = []
    times.reserveCapacity(taskCount)
    let start = MonotonicClock.milliseconds
    var last = start
    for task in 0..<taskCount {
      body(task, 0)
      let now = MonotonicClock.milliseconds
      times.append(now - last)
      last = now
    }
    state.withLock { state in
      guard let next = state.next else { return }
      if next == state.regions.count { state.regions.append(times) }
      let known = state.regions[next]
      precondition(known.count == taskCount, "a region of \(taskCount) tasks where \(known.count) were")
      state.regions[next] = zip(known, times).map { min($0, $1) }
      state.next = next + 1
      // With what it took to write the times down.
      state.shared += MonotonicClock.milliseconds - start
    }
  }

  /// Milliseconds of a pass, and the regions in it.
  package func forecast(threadCount: Int) -> (milliseconds: Double, regionCount: Int) {
    state.withLock { state in
      let shared = state.regions.reduce(0) { $0 + Self.makespan($1, threadCount: threadCount) }
      return (state.serial + shared, state.regions.count)
    }
  }

  /// The time until the last of a region's tasks ends, shared as ``ThreadPool`` does it.
  static func makespan(_ times: [Double], threadCount: Int) -> Double {
    var own = (0..<threadCount).map {
      ThreadPool.ownTasks($0, of: threadCount, taskCount: times.count)
    }
    var ends = [Double](repeating: 0, count: threadCount)
    for _ in times {
      let thread = ends.indices.min { ends[$0] < ends[$1] }!
      if let task = own[thread].first {
        own[thread].removeFirst()
        ends[thread] += times[task]
      } else {
        let other = (1..<threadCount).map { (thread + $0) % threadCount }.first { !own[$0].isEmpty }!
        ends[thread] += times[own[other].upperBound - 1]
        own[other].removeLast()
      }
    }
    return ends.max() ?? 0
  }
}
