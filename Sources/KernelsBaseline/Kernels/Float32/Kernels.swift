import KernelInterface

/// The kernels of an instruction set: those of this module, and the products that are handed over. Even to collect them
/// needs a CPU that has the instructions.
public func makeKernelSet(
  _ instructionSet: InstructionSet, isBuilt: Bool, products: KernelSet.Products
) -> KernelSet {
  KernelSet(
    instructionSet: instructionSet, isBuiltForInstructionSet: isBuilt, vectorWidth: Vector.scalarCount,
    rowTile: rowTile, products: products,
    depthwiseRow: { depthwiseRow($0) }, maxPoolingRow: { maxPoolingRow($0) },
    winogradInput: { winogradInput($0) }, winogradOutput: { winogradOutput($0) },
    scaleColumns: { scaleColumns($0) }, scaleRows: { scaleRows($0) }, addRows: { addRows($0) },
    activate: { activate($0) }, activateExactly: { activateExactly($0) }, round: { round($0) },
    applyDerivative: { applyDerivative($0) },
    addProducts: { addProducts($0) },
    peakProbe: { peakProbe($0) })
}
