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
      let choice = KernelChoice.choose(
        forced: kernels.instructionSet.rawValue, among: KernelChoice.available)
      #expect(choice.kernels.instructionSet == kernels.instructionSet)
      #expect(choice.unavailable == nil)
    }
  }

  @Test(arguments: [nil, ""]) func theBestIsChosenWhenNothingIsForced(forced: String?) {
    let choice = KernelChoice.choose(forced: forced, among: KernelChoice.available)
    #expect(choice.kernels.instructionSet == KernelChoice.available.last?.instructionSet)
    #expect(choice.unavailable == nil)
  }

  /// As on a machine that runs the first of the sets only: the others' names are known, and still cannot be had.
  @Test(arguments: ["avx2", "avx512", "AVX2", "avx-2", " baseline", "sse2"])
  func whatCannotBeForcedIsToldWithWhatCan(forced: String) throws {
    let first = Array(KernelChoice.runnable.prefix(1))
    let choice = KernelChoice.choose(forced: forced, among: first)
    #expect(choice.kernels.instructionSet == .baseline)
    let unavailable = try #require(choice.unavailable)
    #expect(unavailable == UnavailableInstructionSet(value: forced, available: ["baseline"]))
    #expect(
      unavailable.description
        == "the environment variable DERMAFUSION_INSTRUCTION_SET is '\(forced)', and must be one of those that "
        + "this machine runs: baseline")
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
