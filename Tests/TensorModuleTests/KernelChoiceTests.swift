import Foundation
import KernelInterface
import Testing

@testable import TensorModule

@Suite struct KernelChoiceTests {
  #if arch(x86_64) && os(Linux)
    /// The kernel's list of what the CPU has is read apart from the compiler's functions that the choice asks.
    @Test func theSetsAreThoseThatTheSystemListsForThisCPU() throws {
      let list = try String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)
      let line = try #require(list.split(separator: "\n").first { $0.hasPrefix("flags") })
      let flags = Set(line.split(separator: " "))
      var expected = [InstructionSet.baseline]
      if flags.isSuperset(of: ["avx2", "fma"]) {
        expected.append(.avx2)
        if flags.contains("avx_vnni") { expected.append(.avxvnni) }
      }
      if flags.isSuperset(of: ["avx2", "fma", "avx512f", "avx512vl", "avx512bw", "avx512dq"]) {
        expected.append(.avx512)
        if flags.contains("avx512_vnni") { expected.append(.avx512vnni) }
      }
      #expect(KernelChoice.available.map(\.instructionSet) == expected)
      #expect(KernelChoice.runnable.map(\.instructionSet) == expected)
    }
  #endif

  @Test(arguments: [
    ("baseline", InstructionSet.baseline), ("avx2", .avx2), ("avxvnni", .avxvnni),
    ("avx512", .avx512), ("avx512vnni", .avx512vnni), ("dotprod", .dotprod), ("relaxedsimd", .relaxedsimd),
  ])
  func anAvailableSetCanBeForced(name: String, instructionSet: InstructionSet) {
    let choice = KernelChoice.choose(forced: name, among: InstructionSet.allCases)
    #expect(choice.instructionSet == instructionSet)
    #expect(choice.unavailable == nil)
  }

  @Test(
    arguments: [nil, ""],
    [[InstructionSet.baseline], [.baseline, .avx2], [.baseline, .avx2, .avx512], InstructionSet.allCases])
  func theBestIsChosenWhenNothingIsForced(forced: String?, available: [InstructionSet]) {
    let choice = KernelChoice.choose(forced: forced, among: available)
    #expect(choice.instructionSet == available.last)
    #expect(choice.unavailable == nil)
  }

  @Test(arguments: ["avx512", "AVX2", "avx-2", " baseline", "sse2"])
  func whatCannotBeForcedIsToldWithWhatCan(forced: String) throws {
    let choice = KernelChoice.choose(forced: forced, among: [.baseline, .avx2])
    #expect(choice.instructionSet == .avx2)
    let unavailable = try #require(choice.unavailable)
    #expect(unavailable.code == .unavailableInstructionSet)
    #expect(
      unavailable.message
        == "the environment variable DERMAFUSION_INSTRUCTION_SET is '\(forced)', and must be one of those that "
        + "this machine runs: baseline, avx2")
  }

  @Test func widthsAndTilesAreThoseOfTheInstructionSet() {
    for kernels in KernelChoice.runnable {
      let width =
        switch kernels.instructionSet {
        case .baseline, .dotprod, .relaxedsimd: 4
        case .avx2, .avxvnni: 8
        case .avx512, .avx512vnni: 16
        }
      #expect(kernels.vectorWidth == width)
      #expect(kernels.rowTile > 1)
    }
  }
}
