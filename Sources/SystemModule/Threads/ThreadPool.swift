import CBuiltins

/// Threads that share the tasks of a region. A region costs microseconds: idle threads spin for a moment before they
/// sleep.
///
/// Each thread begins with a run of neighbouring tasks of its own: in region after region it works on the same rows of a
/// map, which its cache holds. A thread that has none left takes the last one of another's, so uneven tasks balance.
package final class ThreadPool: Sendable {
  /// Threads that work on a region, the caller's included.
  package let threadCount: Int

  private let shared: Shared
  private let workers: [Worker]
  private let times: TaskTimes?
  private let isBusy = Atomic<Bool>(false)
  /// The threads that are in ``withoutSharing(_:)``, with the number of its calls that each is in.
  private let solo = Locked<[UInt: Int]>([:])
  /// The calls that all threads are in. Looking at the table costs a lock.
  private let soloCount = Atomic<Int>(0)

  /// - Parameter times: If given, the work is cut for so many threads, but the caller does it alone and each task is timed.
  package init(threadCount: Int, times: TaskTimes? = nil) {
    precondition(threadCount >= 1, "a pool of \(threadCount) threads")
    self.threadCount = threadCount
    self.times = times
    shared = Shared(threadCount: threadCount)
    workers = times == nil ? (1..<threadCount).map { Worker(index: $0) } : []
    for worker in workers {
      // One that the system does not allow takes no tasks, which the others then do.
      BackgroundThread.start { [shared] in ThreadPool.withDenormalsFlushed { worker.loop(shared) } }
    }
  }

  deinit {
    shared.isStopping.store(true, ordering: .sequentiallyConsistent)
    for worker in workers { worker.wake() }
  }

  /// Calls `body` once for each task in `0..<taskCount`, with the index of the thread (0 is the caller's), and returns
  /// when all are done. While another region runs, the caller does its tasks alone.
  package func run(taskCount: Int, _ body: (_ task: Int, _ thread: Int) -> Void) {
    if let times {
      times.run(taskCount: taskCount, body)
      return
    }
    let isAlone = workers.isEmpty || taskCount <= 1 || isCallerSolo
    if isAlone || !isBusy.compareExchange(expected: false, desired: true, ordering: .acquiring).exchanged {
      for task in 0..<taskCount { body(task, 0) }
      return
    }
    withoutActuallyEscaping(body) { body in
      shared.body = body
      shared.completed.store(0, ordering: .relaxed)
      shared.share(taskCount)
      for worker in workers.prefix(taskCount - 1) { worker.wake() }
      shared.takeTasks(thread: 0)
      // The last task may lie with a worker that the system has taken from its processor. After a budget the caller yields
      // its own, which that worker may be waiting for.
      var spin = 0
      while shared.completed.load(ordering: .acquiring) < taskCount {
        if spin < Worker.spins {
          cpu_relax()
          spin += 1
        } else {
          BackgroundThread.yield()
        }
      }
      shared.body = nil
    }
    isBusy.store(false, ordering: .releasing)
  }

  /// ``run(taskCount:_:)`` whose tasks need memory to work in: each call of `body` is handed `scratchCount` floats that no
  /// other task uses meanwhile. The caller brings those of its own tasks; the other threads have theirs, once for all who
  /// use the pool.
  package func run(
    taskCount: Int, scratch: UnsafeMutablePointer<Float>, scratchCount: Int,
    _ body: (_ task: Int, _ scratch: UnsafeMutablePointer<Float>) -> Void
  ) {
    run(taskCount: taskCount) { task, thread in
      unsafe body(task, thread == 0 ? scratch : workers[thread - 1].scratch(count: scratchCount))
    }
  }

  /// The result of `body` for each element, in their order, with denormals flushed to zero, or the first error. The threads share
  /// the calls.
  ///
  /// - Parameter order: The places of all elements in the order in which their calls begin; nil: as they stand.
  package func map<Element, Value, Failure: Error>(
    _ elements: [Element], order: [Int]? = nil, _ body: (Element) throws(Failure) -> Value
  ) throws(Failure) -> [Value] {
    precondition(
      order == nil || order?.count == elements.count,
      "\(order?.count ?? 0) places of \(elements.count) elements")
    var results = [Result<Value, Failure>?](repeating: nil, count: elements.count)
    unsafe results.withUnsafeMutableBufferPointer { results in
      // As the workers do, or a result would depend on who came to make it.
      Self.withDenormalsFlushed {
        run(taskCount: elements.count) { task, _ in
          let index = order?[task] ?? task
          do throws(Failure) {
            unsafe results[index] = .success(try body(elements[index]))
          } catch {
            unsafe results[index] = .failure(error)
          }
        }
      }
    }
    var values: [Value] = []
    for result in results { values.append(try result!.get()) }
    return values
  }

  /// Runs `body`; regions that the calling thread begins in it are done by that thread alone. For work that keeps all
  /// processors busy by itself.
  package func withoutSharing<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let thread = BackgroundThread.identity
    solo.withLock { $0[thread, default: 0] += 1 }
    soloCount.add(1, ordering: .relaxed)
    defer {
      soloCount.subtract(1, ordering: .relaxed)
      solo.withLock { $0[thread] = $0[thread] == 1 ? nil : $0[thread, default: 1] - 1 }
    }
    return try body()
  }

  /// The tasks that a thread begins with.
  static func ownTasks(_ thread: Int, of threadCount: Int, taskCount: Int) -> Range<Int> {
    let sharers = max(min(threadCount, taskCount), 1)
    return min(thread, sharers) * taskCount / sharers..<min(thread + 1, sharers) * taskCount / sharers
  }

  /// The threads that share a region which the calling thread begins.
  package var sharerCount: Int { isCallerSolo ? 1 : threadCount }

  private var isCallerSolo: Bool {
    guard soloCount.load(ordering: .relaxed) > 0 else { return false }
    let thread = BackgroundThread.identity
    return solo.withLock { $0[thread] != nil }
  }
}

/// The tasks that one thread begins with, of which it takes the first and the others the last. It fills a cache line: the
/// others rarely look at it.
private final class OwnTasks: Sendable {
  private let bits = Atomic<UInt64>(0)
  private let neighbours: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (
    0, 0, 0, 0, 0, 0, 0, 0
  )

  func set(_ tasks: Range<Int>) {
    bits.store(UInt64(tasks.lowerBound) << 32 | UInt64(tasks.upperBound), ordering: .releasing)
  }

  /// Removes the first or the last task; nil if there is none.
  func take(first: Bool) -> Int? {
    var bits = bits.load(ordering: .relaxed)
    while true {
      let (begin, end) = (bits >> 32, bits & 0xFFFF_FFFF)
      if begin >= end { return nil }
      let (exchanged, original) = self.bits.compareExchange(
        expected: bits, desired: first ? bits + 1 << 32 : bits - 1, ordering: .acquiring)
      if exchanged { return Int(first ? begin : end - 1) }
      bits = original
    }
  }
}

/// `@unchecked Sendable`: `body` is written only by the thread that holds `isBusy`, before ``share(_:)`` publishes tasks, and read
/// only by threads that took one of them. Their region cannot end before they are done; a thread that is late for it finds no
/// tasks, or those of the next.
private final class Shared: @unchecked Sendable {
  /// Counts the regions.
  let region = Atomic<Int>(0)
  let completed = Atomic<Int>(0)
  let isStopping = Atomic<Bool>(false)
  var body: ((Int, Int) -> Void)?
  private let ownTasks: [OwnTasks]

  init(threadCount: Int) {
    ownTasks = (0..<threadCount).map { _ in OwnTasks() }
  }

  /// Begins a region.
  func share(_ taskCount: Int) {
    for (thread, tasks) in ownTasks.enumerated() {
      tasks.set(ThreadPool.ownTasks(thread, of: ownTasks.count, taskCount: taskCount))
    }
    region.add(1, ordering: .sequentiallyConsistent)
  }

  /// A task that nobody has taken yet.
  private func next(for thread: Int) -> Int? {
    if let task = ownTasks[thread].take(first: true) { return task }
    for offset in 1..<ownTasks.count {
      if let task = ownTasks[(thread + offset) % ownTasks.count].take(first: false) { return task }
    }
    return nil
  }

  /// Kept apart, so that the reference taken to call the closure is given back before the task counts as completed:
  /// the region's caller then holds the only one.
  @inline(never)
  private func run(task: Int, thread: Int) {
    body!(task, thread)
  }

  /// Does tasks until there are none. They are counted at the end: what all threads write to costs a tenth of a microsecond.
  func takeTasks(thread: Int) {
    var count = 0
    while let task = next(for: thread) {
      run(task: task, thread: thread)
      count += 1
    }
    completed.add(count, ordering: .releasing)
  }
}

/// `@unchecked Sendable`: its memory is used by its own thread only.
private final class Worker: @unchecked Sendable {
  /// Rounds of waiting before sleeping, a few hundred microseconds: longer than another thread takes over the last task
  /// of a layer, shorter than the gap between two images. Waking a sleeper costs some 70 microseconds.
  static let spins = 20_000

  let index: Int
  private let isSleeping = Atomic<Bool>(false)
  private let semaphore = Semaphore()
  private var scratch = AlignedBuffer(count: 0)

  init(index: Int) { self.index = index }

  /// At least `count` floats, for the task that its thread is at.
  func scratch(count: Int) -> UnsafeMutablePointer<Float> {
    if scratch.count < count { scratch = AlignedBuffer(count: count) }
    return unsafe scratch.pointer
  }

  func wake() {
    // Mostly it is awake, and looking leaves the word in the caches of all.
    guard isSleeping.load(ordering: .sequentiallyConsistent) else { return }
    if isSleeping.exchange(false, ordering: .sequentiallyConsistent) { semaphore.signal() }
  }

  func loop(_ shared: Shared) {
    var region = 0
    while true {
      var spin = 0
      while !shared.hasWork(after: region) {
        if spin < Self.spins {
          cpu_relax()
          spin += 1
          continue
        }
        isSleeping.store(true, ordering: .sequentiallyConsistent)
        // Work published before the flag was seen would otherwise be slept through.
        if shared.hasWork(after: region), isSleeping.exchange(false, ordering: .acquiringAndReleasing) {
          break
        }
        semaphore.wait()
        spin = 0
      }
      if shared.isStopping.load(ordering: .acquiring) { return }
      region = shared.region.load(ordering: .acquiring)
      shared.takeTasks(thread: index)
    }
  }
}

extension Shared {
  fileprivate func hasWork(after region: Int) -> Bool {
    self.region.load(ordering: .sequentiallyConsistent) != region
      || isStopping.load(ordering: .sequentiallyConsistent)
  }
}

extension ThreadPool {
  /// Runs `body` with denormals flushed to zero on this thread, and puts the thread's state back.
  package static func withDenormalsFlushed<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let state = get_float_state()
    flush_denormals_to_zero()
    defer { set_float_state(state) }
    return try body()
  }
}
