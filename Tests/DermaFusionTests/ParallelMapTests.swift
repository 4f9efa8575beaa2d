import Foundation
import Synchronization
import Testing

@testable import DermaFusion

@Suite struct ParallelMapTests {
  @Test(arguments: [nil, 1, 2, 5] as [Int?])
  func outputsAreInTheOrderOfInputs(workerCount: Int?) {
    let inputs = Array(-50..<50)
    #expect(ParallelMap.map(inputs, workerCount: workerCount) { $0 * $0 } == inputs.map { $0 * $0 })
    #expect(ParallelMap.map([Int](), workerCount: workerCount) { $0 }.isEmpty)
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
