import KernelInterface

/// The kernels of an instruction set: those of this module, and the products that are handed over. Even to collect them
/// needs a CPU that has the instructions.
package func makeKernelSet(
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
    activateKeepingSlopes: { activateKeepingSlopes($0) }, addProducts: { addProducts($0) },
    writeMask: { writeMask($0) }, applyMask: { applyMask($0) },
    normalizeRows: { normalizeRows($0) }, softmaxRows: { softmaxRows($0) },
    peakProbe: { peakProbe($0) })
}

/// See ``KernelInterface/ElementType/float32``.
enum Float32Elements: ProductElements {
  static var areWholeNumbers: Bool { false }

  static var areStepsUnrolled: Bool {
    #if arch(wasm32) || KERNEL_AVX512
      // Compilers of WebAssembly know no fence for loads. With 24 sums the fence does not always help, and a loop's own
      // instructions are few beside 24 multiplications.
      false
    #else
      true
    #endif
  }

  @inline(__always)
  static func accumulate(_ sums: inout Vector, _ a: Float, _ b: Vector) {
    sums.accumulate(b, Vector(repeating: a))
  }

  @inline(__always)
  static func floats(_ sums: Vector) -> Vector { sums }
}

/// The same for two groups of columns, see ``KernelInterface/MatrixProduct/isPair``.
enum Float32Pair: ProductElements {
  static var areWholeNumbers: Bool { false }
  static var areStepsUnrolled: Bool { Float32Elements.areStepsUnrolled }

  @inline(__always)
  static func accumulate(_ sums: inout Vector, _ a: Float, _ b: Vector) {
    Float32Elements.accumulate(&sums, a, b)
  }

  @inline(__always)
  static func floats(_ sums: Vector) -> Vector { sums }

  @inline(__always)
  static func accumulate<let vectors: Int>(
    _ sums: inout InlineArray<vectors, Vector>, _ a: UnsafePointer<Float>, _ b: InlineArray<vectors, Vector>
  ) {
    let (first, second) = (Vector(repeating: a[0]), Vector(repeating: a[3 * Vector.scalarCount / 2]))
    sums[0].accumulate(b[0], first)
    sums[1].accumulate(b[1], first.firstHalf(then: second))
    sums[2].accumulate(b[2], second)
  }
}

/// The kernels of Float32 products.
package func float32Product() -> ProductKernels {
  ProductKernels(
    valuesPerWord: 1,
    multiply: {
      $0.isPair ? multiplyPair($0, Float32Pair.self) : multiply($0, Float32Elements.self)
    }, pack: nil)
}
