import ReferenceLayers
import SystemModule
import Testing

@testable import NetworkModule

@Suite struct ArenaPlanTests {
  typealias Lifetime = ArenaPlan.Lifetime

  @Test func nothingTakesNothing() {
    #expect(ArenaPlan([]).count == 0)
    #expect(ArenaPlan([]).offsets == [])
  }

  @Test func oneBufferIsRoundedUpToACacheLine() {
    let plan = ArenaPlan([Lifetime(count: 17, steps: 3...9)])
    #expect(plan.offsets == [0])
    #expect(plan.count == 32)
  }

  @Test func aChainOfLayersNeedsTwoNeighbours() {
    // Each buffer lives from the layer that writes it to the next, which reads it.
    let plan = ArenaPlan((0..<10).map { Lifetime(count: 64, steps: $0...$0 + 1) })
    #expect(plan.count == 128)
  }

  @Test func aResidualIsKeptWhileTheBranchRuns() {
    let plan = ArenaPlan([
      Lifetime(count: 160, steps: 0...3), Lifetime(count: 960, steps: 1...2),
      Lifetime(count: 160, steps: 2...3), Lifetime(count: 160, steps: 3...4),
      Lifetime(count: 640, steps: 4...5),
    ])
    #expect(plan.count == 960 + 160 + 160)
    #expect(plan.offsets[1] == 0)
    #expect(plan.offsets[4] == 160 || plan.offsets[4] == 0)
  }

  @Test func buffersThatMeetInOneStepDoNotShare() {
    #expect(ArenaPlan([Lifetime(count: 16, steps: 0...1), Lifetime(count: 16, steps: 1...2)]).count == 32)
    #expect(ArenaPlan([Lifetime(count: 16, steps: 0...1), Lifetime(count: 16, steps: 2...2)]).count == 16)
  }

  @Test func emptyBuffersTakeNoRoom() {
    let plan = ArenaPlan([Lifetime(count: 0, steps: 0...5), Lifetime(count: 16, steps: 0...5)])
    #expect(plan.count == 16)
  }

  /// Whatever the lifetimes: aligned, inside, no two alive at once overlap, no more than all side by side, and no less
  /// than the fullest step.
  @Test(arguments: 0..<200)
  func randomLifetimesNeverOverlapInMemory(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let lifetimes = (0..<Int.random(in: 1...40, using: &generator)).map { _ in
      let first = Int.random(in: 0...30, using: &generator)
      return Lifetime(
        count: Int.random(in: 1...1000, using: &generator),
        steps: first...first + Int.random(in: 0...8, using: &generator))
    }
    let sizes = lifetimes.map { $0.count.roundedUp(toMultipleOf: 16) }
    let plan = ArenaPlan(lifetimes)
    for i in lifetimes.indices {
      #expect(plan.offsets[i] >= 0 && plan.offsets[i] % 16 == 0, "buffer \(i)")
      #expect(plan.offsets[i] + sizes[i] <= plan.count, "buffer \(i)")
      for j in 0..<i where lifetimes[i].steps.overlaps(lifetimes[j].steps) {
        #expect(
          plan.offsets[i] + sizes[i] <= plan.offsets[j] || plan.offsets[j] + sizes[j] <= plan.offsets[i],
          "buffers \(j) and \(i)")
      }
    }
    let fullest = (0...40).map { step in
      lifetimes.indices.filter { lifetimes[$0].steps.contains(step) }.map { sizes[$0] }.reduce(0, +)
    }.max()!
    #expect(plan.count >= fullest && plan.count <= sizes.reduce(0, +))
  }
}
