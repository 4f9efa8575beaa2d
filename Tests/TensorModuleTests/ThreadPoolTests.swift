import CBuiltins
import Dispatch
import Synchronization
import Testing

@testable import SystemModule
@testable import TensorModule

@Suite struct ThreadPoolTests {
  /// Runs a region and counts how often each task ran.
  private func counts(_ pool: ThreadPool, taskCount: Int) -> [Int] {
    let counters = UnsafeMutableBufferPointer<Atomic<Int>>.allocate(capacity: max(taskCount, 1))
    for i in 0..<taskCount { (counters.baseAddress! + i).initialize(to: Atomic(0)) }
    defer { counters.deallocate() }
    pool.run(taskCount: taskCount) { task, thread in
      precondition((0..<pool.threadCount).contains(thread), "thread \(thread) of \(pool.threadCount)")
      counters[task].add(1, ordering: .relaxed)
    }
    return (0..<taskCount).map { counters[$0].load(ordering: .relaxed) }
  }

  @Test(arguments: [1, 2, 3, 7], [0, 1, 2, 3, 6, 7, 8, 1000])
  func everyTaskRunsOnce(threadCount: Int, taskCount: Int) {
    let pool = ThreadPool(threadCount: threadCount)
    #expect(counts(pool, taskCount: taskCount) == [Int](repeating: 1, count: taskCount))
  }

  private struct Refusal: Error, Equatable { let element: Int }

  @Test(arguments: [1, 2, 3, 7])
  func resultsComeInTheOrderOfTheirElements(threadCount: Int) throws {
    let pool = ThreadPool(threadCount: threadCount)
    for count in [0, 1, 2, 50] {
      #expect(pool.map(Array(0..<count)) { $0 * 3 } == (0..<count).map { $0 * 3 })
    }
    #expect(throws: Refusal(element: 20)) {
      try pool.map(Array(0..<50)) { element throws(Refusal) in
        if element % 23 == 20 { throw Refusal(element: element) }
      }
    }
  }

  @Test func withoutSharingTheCallerDoesEveryTaskInOrder() {
    let pool = ThreadPool(threadCount: 3)
    var tasks: [Int] = []
    pool.withoutSharing {
      pool.run(taskCount: 20) { task, thread in
        precondition(thread == 0, "thread \(thread) took a task that was not shared")
        tasks.append(task)
      }
    }
    #expect(tasks == Array(0..<20))
    #expect(counts(pool, taskCount: 20) == [Int](repeating: 1, count: 20))
  }

  /// A task that waits for another, which only another thread can do.
  @Test func oneCallerAloneLeavesTheThreadsToOthers() {
    let pool = ThreadPool(threadCount: 2)
    let (begun, done) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    BackgroundThread.start {
      pool.withoutSharing {
        pool.withoutSharing {}
        begun.signal()
        done.wait()
      }
    }
    begun.wait()
    let first = Locked(-1)
    let second = DispatchSemaphore(value: 0)
    pool.run(taskCount: 2) { task, _ in
      if first.withLock({ first in
        if first < 0 { first = task }
        return first == task
      }) {
        #expect(second.wait(timeout: .now() + 60) == .success, "the other task began after this one")
      } else {
        second.signal()
      }
    }
    done.signal()
  }

  /// Without synchronisation of the test's own: what one region wrote, the next and the caller must see.
  @Test(arguments: [2, 7])
  func manyTinyRegionsSeeEachOthersWrites(threadCount: Int) {
    let pool = ThreadPool(threadCount: threadCount)
    let taskCount = threadCount + 1
    let values = UnsafeMutablePointer<Int>.allocate(capacity: taskCount)
    defer { values.deallocate() }
    values.initialize(repeating: 0, count: taskCount)
    let regionCount = 100_000
    for _ in 0..<regionCount {
      pool.run(taskCount: taskCount) { task, _ in values[task] += 1 }
    }
    let results = Array(UnsafeBufferPointer(start: values, count: taskCount))
    #expect(results == [Int](repeating: regionCount, count: taskCount))
  }

  /// Tasks of one region may each read what the region before wrote elsewhere.
  @Test func regionsFollowEachOther() {
    let count = 16
    let a = UnsafeMutablePointer<Int>.allocate(capacity: count)
    let b = UnsafeMutablePointer<Int>.allocate(capacity: count)
    defer {
      a.deallocate()
      b.deallocate()
    }
    a.initialize(repeating: 1, count: count)
    b.initialize(repeating: 0, count: count)
    for _ in 0..<2000 {
      Pools.three.run(taskCount: count) { task, _ in b[task] = a[(task + 5) % count] + 1 }
      Pools.three.run(taskCount: count) { task, _ in a[task] = b[(task + 11) % count] + 1 }
    }
    #expect(Array(UnsafeBufferPointer(start: a, count: count)) == [Int](repeating: 4001, count: count))
  }

  /// The first task that a thread does, when both do some at the same time.
  @Test func eachThreadBeginsWithARunOfItsOwn() {
    let pool = ThreadPool(threadCount: 2)
    let begun = Atomic<Int>(0)
    let first = Locked<[Int: Int]>([:])
    pool.run(taskCount: 9) { task, thread in
      let isFirst = first.withLock { first in
        if first[thread] != nil { return false }
        first[thread] = task
        return true
      }
      if isFirst { begun.add(1, ordering: .acquiringAndReleasing) }
      while begun.load(ordering: .acquiring) < 2 { BackgroundThread.yield() }
    }
    #expect(first.withLock { $0 } == [0: 0, 1: 4])
  }

  /// A task that ends after all others, those of its own thread too.
  @Test(arguments: [2, 3, 7])
  func othersTakeTheTasksOfAThreadThatIsLate(threadCount: Int) {
    let pool = ThreadPool(threadCount: threadCount)
    let taskCount = 50
    let done = Atomic<Int>(0)
    pool.run(taskCount: taskCount) { task, _ in
      while task == 0, done.load(ordering: .acquiring) < taskCount - 1 { BackgroundThread.yield() }
      done.add(1, ordering: .acquiringAndReleasing)
    }
    let doneAtEnd = done.load(ordering: .relaxed)
    #expect(doneAtEnd == taskCount)
  }

  @Test func forecastSharesTasksAsThePoolDoes() {
    #expect(TaskTimes.makespan([], threadCount: 3) == 0)
    #expect(TaskTimes.makespan([4, 1, 1, 1], threadCount: 1) == 7)
    // Thread 0 has the first two, and thread 1 takes the second when it is done with its own.
    #expect(TaskTimes.makespan([4, 1, 1, 1], threadCount: 2) == 4)
    #expect(TaskTimes.makespan([1, 1, 1, 1, 1], threadCount: 3) == 2)
    #expect(TaskTimes.makespan([1, 2, 3], threadCount: 16) == 3)
  }

  @Test func aPoolThatTimesDoesTheTasksInOrder() {
    let times = TaskTimes()
    let pool = ThreadPool(threadCount: 4, times: times)
    var tasks: [Int] = []
    for _ in 0..<2 {
      times.begin()
      pool.run(taskCount: 3) { task, thread in
        precondition(thread == 0, "thread \(thread) of a pool that only times")
        tasks.append(task)
      }
      pool.run(taskCount: 2) { task, _ in tasks.append(task) }
      times.end()
    }
    #expect(tasks == [0, 1, 2, 0, 1, 0, 1, 2, 0, 1])
    let (one, four) = (times.forecast(threadCount: 1), times.forecast(threadCount: 4))
    #expect(one.regionCount == 2 && four.regionCount == 2)
    #expect(0 < four.milliseconds && four.milliseconds <= one.milliseconds)
  }

  @Test func unevenTasksAllEnd() {
    let sum = Atomic<Int>(0)
    Pools.seven.run(taskCount: 40) { task, _ in
      var x = 0
      for i in 0..<(task % 10 == 0 ? 20_000 : 10) { x &+= i & 1 }
      sum.add(x, ordering: .relaxed)
    }
    let sumAtEnd = sum.load(ordering: .relaxed)
    #expect(sumAtEnd == 4 * 10_000 + 36 * 5)
  }

  /// No two tasks that run at the same time have the same thread index, so scratch memory of its own is safe.
  @Test func aThreadIndexIsHeldByOneTaskAtATime() {
    let pool = Pools.seven
    let isTaken = UnsafeMutablePointer<Atomic<Int>>.allocate(capacity: pool.threadCount)
    for i in 0..<pool.threadCount { (isTaken + i).initialize(to: Atomic(0)) }
    defer { isTaken.deallocate() }
    let clashes = Atomic<Int>(0)
    for _ in 0..<200 {
      pool.run(taskCount: 30) { task, thread in
        if isTaken[thread].add(1, ordering: .acquiringAndReleasing).oldValue != 0 {
          clashes.add(1, ordering: .relaxed)
        }
        for _ in 0..<task { cpu_relax() }
        isTaken[thread].subtract(1, ordering: .acquiringAndReleasing)
      }
    }
    let clashesAtEnd = clashes.load(ordering: .relaxed)
    #expect(clashesAtEnd == 0)
  }

  @Test func aRegionWithinARegionRunsAlone() {
    let sum = Atomic<Int>(0)
    let isAlone = Atomic<Bool>(true)
    Pools.three.run(taskCount: 9) { outer, _ in
      Pools.three.run(taskCount: 5) { inner, thread in
        if thread != 0 { isAlone.store(false, ordering: .relaxed) }
        sum.add(outer * 5 + inner, ordering: .relaxed)
      }
    }
    let sumAtEnd = sum.load(ordering: .relaxed)
    #expect(sumAtEnd == (0..<45).reduce(0, +))
    let isAloneAtEnd = isAlone.load(ordering: .relaxed)
    #expect(isAloneAtEnd)
  }

  @Test func manyThreadsMayUseOnePool() {
    let pool = ThreadPool(threadCount: 3)
    let sum = Atomic<Int>(0)
    DispatchQueue.concurrentPerform(iterations: 8) { caller in
      for region in 0..<500 {
        pool.run(taskCount: 4) { task, _ in sum.add(caller + region + task, ordering: .relaxed) }
      }
    }
    let callers = 28 * 500 * 4
    let regions = 8 * (0..<500).reduce(0, +) * 4
    let sumAtEnd = sum.load(ordering: .relaxed)
    #expect(sumAtEnd == callers + regions + 8 * 500 * 6)
  }

  /// Workers that never ran, that spin, and that sleep: all of them end, and what they hold is freed.
  @Test(arguments: [0, 1, 20])
  func aPoolEndsWhateverItsWorkersDo(idleMilliseconds: UInt32) {
    for round in 0..<20 {
      let pool = ThreadPool(threadCount: 4)
      if round % 4 != 0 { pool.run(taskCount: 8) { _, _ in } }
      if idleMilliseconds > 0 && round < 4 {
        DispatchSemaphore(value: 0).wait(milliseconds: Int(idleMilliseconds))
      }
    }
  }

  @Test func workersWakeAfterTheyFellAsleep() {
    let pool = ThreadPool(threadCount: 3)
    for _ in 0..<5 {
      DispatchSemaphore(value: 0).wait(milliseconds: 5)
      #expect(counts(pool, taskCount: 100) == [Int](repeating: 1, count: 100))
    }
  }
}

extension DispatchSemaphore {
  fileprivate func wait(milliseconds: Int) {
    _ = wait(timeout: .now() + .milliseconds(milliseconds))
  }
}
