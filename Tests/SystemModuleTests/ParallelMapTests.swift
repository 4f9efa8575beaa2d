import Foundation
import Synchronization
import SystemModule
import Testing

@Suite struct ParallelMapTests {
  @Test func noInputsGiveNoOutputs() {
    ParallelMap.forEach([Int](), workerCount: 3, { $0 }, consume: { _ in Issue.record("an output") })
  }

  /// The system lends a program a few hundred threads, and those of a pool stay in use.
  @Test(.timeLimit(.minutes(1))) func aPoolOfManyThreadsLeavesSomeForImages() {
    let pool = ThreadPool(threadCount: 256)
    let sum = Atomic<Int>(0)
    pool.run(taskCount: 1000) { task, _ in sum.add(task, ordering: .relaxed) }
    var taken: [Int] = []
    ParallelMap.forEach(Array(0..<600), workerCount: 256, { -$0 }, consume: { taken.append($0) })
    #expect(taken == (0..<600).map { -$0 })
    pool.run(taskCount: 1000) { task, _ in sum.add(task, ordering: .relaxed) }
    #expect(sum.load(ordering: .relaxed) == 999_000)
  }

  /// Early inputs take longest, so that results are made out of order.
  @Test(arguments: [1, 2, 5])
  func resultsComeInOrderAndFewAreBegunAhead(workerCount: Int) {
    let begun = Atomic<Int>(0)
    var taken: [Int] = []
    var furthestAhead = 0
    ParallelMap.forEach(
      Array(0..<60), workerCount: workerCount,
      { input in
        begun.add(1, ordering: .relaxed)
        usleep(input % workerCount == 0 ? 2000 : 0)
        return input
      },
      consume: { output in
        taken.append(output)
        furthestAhead = max(furthestAhead, begun.load(ordering: .relaxed) - taken.count)
      })
    #expect(taken == Array(0..<60))
    #expect(furthestAhead <= 4 * workerCount, "\(furthestAhead) inputs were begun ahead")
  }

  private struct Refusal: Error {}

  @Test func anErrorOfTheConsumerEndsTheWork() {
    let begun = Atomic<Int>(0)
    var taken: [Int] = []
    #expect(throws: Refusal.self) {
      try ParallelMap.forEach(
        Array(0..<1000), workerCount: 2,
        { input in
          begun.add(1, ordering: .relaxed)
          return input
        },
        consume: { output throws(Refusal) in
          if output == 3 { throw Refusal() }
          taken.append(output)
        })
    }
    #expect(taken == [0, 1, 2])
    #expect(begun.load(ordering: .relaxed) <= 4 + 2 * 4)
  }
}
