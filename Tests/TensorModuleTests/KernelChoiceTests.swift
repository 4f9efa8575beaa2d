import KernelInterface
import Testing

@testable import TensorModule

@Suite struct KernelChoiceTests {
  @Test func theBaselineIsAlwaysThere() {
    #expect(KernelChoice.available.first?.instructionSet == .baseline)
    #expect(KernelChoice.runnable.first?.instructionSet == .baseline)
  }

  @Test func availableKernelsWereBuiltForTheirInstructionSet() {
    for kernels in KernelChoice.available { #expect(kernels.isBuiltForInstructionSet) }
    let order = KernelChoice.available.map { InstructionSet.allCases.firstIndex(of: $0.instructionSet)! }
    #expect(order == order.sorted())
  }

  @Test func everyAvailableSetIsRunnable() {
    let runnable = KernelChoice.runnable.map(\.instructionSet)
    #expect(Set(runnable).count == runnable.count)
    for kernels in KernelChoice.available { #expect(runnable.contains(kernels.instructionSet)) }
  }

  @Test func anAvailableSetCanBeForced() {
    for kernels in KernelChoice.available {
      #expect(
        KernelChoice.choose(forced: kernels.instructionSet).instructionSet == kernels.instructionSet)
    }
  }

  @Test func theBestIsChosenWhenNothingOrWhatThisCPULacksIsForced() {
    let best = KernelChoice.available.last?.instructionSet
    #expect(KernelChoice.choose(forced: nil).instructionSet == best)
    for instructionSet in InstructionSet.allCases
    where !KernelChoice.available.contains(where: { $0.instructionSet == instructionSet }) {
      #expect(KernelChoice.choose(forced: instructionSet).instructionSet == best)
    }
  }

  @Test func widthsAndTilesAreThoseOfTheInstructionSet() {
    for kernels in KernelChoice.runnable {
      let width =
        switch kernels.instructionSet {
        case .baseline: 4
        case .avx2: 8
        case .avx512: 16
        }
      #expect(kernels.vectorWidth == width)
      #expect(kernels.rowTile > 1)
    }
  }
}
