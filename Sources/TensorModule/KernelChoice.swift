import CCPUFeatures
package import KernelInterface
import KernelsAVX2
import KernelsAVX512
import KernelsBaseline

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Chooses the kernels, once, in this one place.
package enum KernelChoice {
  /// The environment variable that forces an instruction set: `baseline`, `avx2` or `avx512`.
  package static let variable = "DERMAFUSION_INSTRUCTION_SET"

  /// The kernels of this process: those forced by ``variable`` if this CPU can run them, else the best it can.
  package static let current: KernelSet = choose(
    forced: getenv(variable).flatMap { InstructionSet(rawValue: String(cString: $0)) })

  /// The kernels that this CPU can run and that were compiled with the flags of their instruction set, best last.
  package static let available: [KernelSet] = InstructionSet.allCases.filter(isRunnable).map(kernels)
    .filter(\.isBuiltForInstructionSet)

  /// Every variant that this CPU can run, those compiled without their flags included: slow, but the same source.
  package static let runnable: [KernelSet] = InstructionSet.allCases
    .filter { isRunnable($0) || !isBuilt($0) }.map(kernels)

  static func choose(forced: InstructionSet?) -> KernelSet {
    if let forced, let kernels = available.first(where: { $0.instructionSet == forced }) { return kernels }
    return available[available.count - 1]
  }

  private static func isRunnable(_ instructionSet: InstructionSet) -> Bool {
    switch instructionSet {
    case .baseline: true
    case .avx2: cpu_runs_avx2_fma()
    case .avx512: cpu_runs_avx512() && cpu_runs_avx2_fma()
    }
  }

  private static func isBuilt(_ instructionSet: InstructionSet) -> Bool {
    switch instructionSet {
    case .baseline: KernelsBaseline.isBuiltForInstructionSet()
    case .avx2: KernelsAVX2.isBuiltForInstructionSet()
    case .avx512: KernelsAVX512.isBuiltForInstructionSet()
    }
  }

  private static func kernels(_ instructionSet: InstructionSet) -> KernelSet {
    switch instructionSet {
    case .baseline: KernelsBaseline.makeKernelSet()
    case .avx2: KernelsAVX2.makeKernelSet()
    case .avx512: KernelsAVX512.makeKernelSet()
    }
  }
}
