import CBuiltins
import KernelInterface

/// Whether the compiler was given the flags of this module's instruction set. Unlike everything else here it runs on
/// any CPU: it returns a constant.
public func isBuiltForInstructionSet() -> Bool {
  #if KERNEL_VNNI
    caller_is_built_for_avx512vnni()
  #elseif KERNEL_AVX512
    caller_is_built_for_avx512()
  #elseif KERNEL_AVX2
    caller_is_built_for_avx2_fma()
  #else
    true
  #endif
}

/// The kernels as this module was compiled. Even to collect them needs a CPU that has the instructions.
public func makeKernelSet() -> KernelSet {
  #if KERNEL_VNNI
    let instructionSet = InstructionSet.avx512vnni
  #elseif KERNEL_AVX512
    let instructionSet = InstructionSet.avx512
  #elseif KERNEL_AVX2
    let instructionSet = InstructionSet.avx2
  #else
    let instructionSet = InstructionSet.baseline
  #endif
  return KernelSet(
    instructionSet: instructionSet, isBuiltForInstructionSet: isBuiltForInstructionSet(),
    vectorWidth: Vector.scalarCount, rowTile: TwoVectorTile.rowCount,
    valuesPerWord: valuesPerWord,
    multiply: { multiply($0) }, depthwiseRow: { depthwiseRow($0) }, maxPoolingRow: { maxPoolingRow($0) },
    winogradInput: { winogradInput($0) }, winogradOutput: { winogradOutput($0) },
    scaleColumns: { scaleColumns($0) }, scaleRows: { scaleRows($0) }, addRows: { addRows($0) },
    activate: { activate($0) }, applyDerivative: { applyDerivative($0) }, addProducts: { addProducts($0) },
    multiplyQuantized: { multiply($0) }, quantize: { quantize($0) }, peakProbe: { peakProbe($0) })
}
