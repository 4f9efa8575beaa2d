import CCPUFeatures
import KernelInterface

/// The kernels as this module was compiled.
public func makeKernelSet() -> KernelSet {
  #if KERNEL_AVX512
    let instructionSet = InstructionSet.avx512
    let isBuilt = caller_is_built_for_avx512()
  #elseif KERNEL_AVX2
    let instructionSet = InstructionSet.avx2
    let isBuilt = caller_is_built_for_avx2_fma()
  #else
    let instructionSet = InstructionSet.baseline
    let isBuilt = true
  #endif
  return KernelSet(
    instructionSet: instructionSet, isBuiltForInstructionSet: isBuilt,
    vectorWidth: Vector.scalarCount, rowTile: TwoVectorTile.rowCount,
    multiply: { multiply($0) }, depthwiseRow: { depthwiseRow($0) },
    scaleColumns: { scaleColumns($0, $1, $2, $3, $4) }, scaleRows: { scaleRows($0, $1, $2, $3, $4) },
    addRows: { addRows($0, $1, $2, $3, $4) }, activate: { activate($0, $1, $2) },
    peakProbe: { peakProbe($0) })
}
