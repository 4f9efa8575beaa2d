import CBuiltins
package import KernelInterface
import KernelsBaseline
import KernelsDotProduct
package import SystemModule

#if arch(x86_64)
  import KernelsAVX2
  import KernelsAVX512
  import KernelsAVXVNNI
#endif

/// Chooses the kernels, once, in this one place.
package enum KernelChoice {
  /// The environment variable that forces an instruction set: `baseline`, and `avx2`, `avx512` and
  /// `avx512vnni`, or on ARM `dotprod`.
  package static let variable = "DERMAFUSION_INSTRUCTION_SET"

  /// True if the kernels were built with optimisation; without, an image takes a minute.
  package static var isOptimized: Bool { BuildOptimization.isOptimized }

  /// The kernels of this process: those that ``variable`` names if they are available, otherwise the best that this CPU can run.
  package static var current: KernelSet { ofThisProcess.kernels }

  /// Why ``variable`` is not obeyed; nil when it is, or when it forces nothing.
  package static var unavailable: DermaFusionError? { ofThisProcess.unavailable }

  private static let ofThisProcess: (kernels: KernelSet, unavailable: DermaFusionError?) = {
    let choice = choose(forced: Environment.value(variable), among: available.map { $0.instructionSet })
    return (kernels(choice.instructionSet), choice.unavailable)
  }()

  /// The kernels that this CPU can run and that were compiled with the flags of their instruction set, best last.
  package static let available: [KernelSet] =
    architectureInstructionSets
    .filter { isRunnable($0) }.map { kernels($0) }.filter { $0.isBuiltForInstructionSet }

  /// Those that a CPU of this architecture may have.
  private static var architectureInstructionSets: [InstructionSet] {
    #if arch(x86_64)
      [.baseline, .avx2, .avxvnni, .avx512, .avx512vnni]
    #elseif arch(arm64)
      [.baseline, .dotprod]
    #elseif arch(wasm32)
      [.baseline, .relaxedsimd]
    #else
      [.baseline]
    #endif
  }

  /// Every variant that this CPU can run, those compiled without their flags included: slow, but the same source.
  package static let runnable: [KernelSet] =
    architectureInstructionSets
    .filter { isRunnable($0) || !isBuilt($0) }.map { kernels($0) }

  /// - Parameters:
  ///   - forced: The name of an instruction set; nil or empty: none is forced.
  ///   - available: At least one, best last.
  static func choose(
    forced: String?, among available: [InstructionSet]
  ) -> (instructionSet: InstructionSet, unavailable: DermaFusionError?) {
    let best = available[available.count - 1]
    guard let forced, !forced.isEmpty else { return (best, nil) }
    if let instructionSet = available.first(where: { $0.rawValue == forced }) {
      return (instructionSet, nil)
    }
    return (best, .unavailableInstructionSet(forced, available: available))
  }

  private static func isRunnable(_ instructionSet: InstructionSet) -> Bool {
    switch instructionSet {
    case .baseline: true
    case .avx2: cpu_runs_avx2_fma()
    case .avxvnni: cpu_runs_avxvnni()
    case .avx512: cpu_runs_avx512() && cpu_runs_avx2_fma()
    case .avx512vnni: cpu_runs_avx512vnni() && cpu_runs_avx2_fma()
    case .dotprod: cpu_runs_dotprod()
    // The module holds these instructions only if its host runs them.
    case .relaxedsimd: isBuilt(instructionSet)
    }
  }

  private static func isBuilt(_ instructionSet: InstructionSet) -> Bool {
    switch instructionSet {
    case .baseline: KernelsBaseline.isBuiltForInstructionSet()
    #if arch(x86_64)
      case .avx2: KernelsAVX2.isBuiltForInstructionSet()
      case .avxvnni: KernelsAVX2.isBuiltForInstructionSet() && KernelsAVXVNNI.isBuiltForInstructionSet()
      case .avx512: KernelsAVX512.isBuiltForInstructionSet()
      case .avx512vnni:
        KernelsAVX512.isBuiltForInstructionSet() && KernelsDotProduct.isBuiltForInstructionSet()
    #elseif arch(arm64) || arch(wasm32)
      case .dotprod, .relaxedsimd: KernelsDotProduct.isBuiltForInstructionSet()
    #endif
    default: false
    }
  }

  private static func kernels(_ set: InstructionSet) -> KernelSet {
    let products = KernelSet.Products(
      float32: product(.float32, set)!, int8: product(.int8, set)!, bfloat16: product(.bfloat16, set))
    let isBuilt = isBuilt(set)
    switch set {
    case .baseline, .dotprod, .relaxedsimd:
      return KernelsBaseline.makeKernelSet(set, isBuilt: isBuilt, products: products)
    #if arch(x86_64)
      case .avx2, .avxvnni: return KernelsAVX2.makeKernelSet(set, isBuilt: isBuilt, products: products)
      case .avx512, .avx512vnni:
        return KernelsAVX512.makeKernelSet(set, isBuilt: isBuilt, products: products)
    #else
      case .avx2, .avxvnni, .avx512, .avx512vnni: isNotHere(set)
    #endif
    }
  }

  /// The table of products: for each type of values the kernels of each instruction set, those of a smaller one where it
  /// adds none of its own.
  private static func product(_ type: ElementType, _ set: InstructionSet) -> ProductKernels? {
    switch (type, set) {
    case (.float32, .baseline): KernelsBaseline.float32Product()
    case (.int8, .baseline): KernelsBaseline.int8Product()
    #if arch(x86_64)
      case (.float32, .avx2), (.float32, .avxvnni): KernelsAVX2.float32Product()
      case (.float32, .avx512), (.float32, .avx512vnni): KernelsAVX512.float32Product()
      case (.int8, .avx2): KernelsAVX2.int8Product()
      case (.int8, .avxvnni): KernelsAVXVNNI.int8Product()
      case (.int8, .avx512): KernelsAVX512.int8Product()
      case (.int8, .avx512vnni): KernelsDotProduct.int8Product()
      case (.bfloat16, .avx512vnni) where cpu_runs_avx512bf16(): KernelsDotProduct.bfloat16Product()
    #elseif arch(arm64) || arch(wasm32)
      case (.float32, .dotprod), (.float32, .relaxedsimd): KernelsBaseline.float32Product()
      case (.int8, .dotprod), (.int8, .relaxedsimd): KernelsDotProduct.int8Product()
    #endif
    case (.float32, _), (.int8, _): isNotHere(set)
    case (.bfloat16, _): nil
    }
  }

  private static func isNotHere(_ set: InstructionSet) -> Never {
    preconditionFailure("\(set.rawValue) on a machine of another architecture")
  }
}

extension DermaFusionError.Code {
  /// ``KernelChoice/variable`` names no instruction set, or one that cannot be used here.
  package static let unavailableInstructionSet = Self("unavailableInstructionSet")
}

extension DermaFusionError {
  /// - Parameters:
  ///   - value: The variable's value.
  ///   - available: The values that it may have on this machine.
  package static func unavailableInstructionSet(
    _ value: String, available: [InstructionSet]
  ) -> DermaFusionError {
    let names = available.map { $0.rawValue }.joined(separator: ", ")
    return DermaFusionError(
      .unavailableInstructionSet,
      message:
        "the environment variable \(KernelChoice.variable) is '\(value)', and must be one of those that this "
        + "machine runs: \(names)",
      remedy: "Unset the environment variable \(KernelChoice.variable).")
  }
}
