import CBuiltins
import KernelInterface

#if KERNEL_HAS_ITS_INSTRUCTIONS && KERNEL_AVX512
  /// See ``KernelInterface/ElementType/bfloat16``.
  enum BFloat16Elements: ProductElements {
    static var areWholeNumbers: Bool { false }
    static var areStepsUnrolled: Bool { false }

    @inline(__always)
    static func accumulate(_ sums: inout Vector, _ a: Int32, _ b: SIMD16<Int32>) {
      sums = bf16_add_products(sums, SIMD16(repeating: a), b)
    }

    @inline(__always)
    static func floats(_ sums: Vector) -> Vector { sums }
  }

  /// See ``PackingPass``.
  private func packBFloat16(_ pass: PackingPass) {
    let width = Vector.scalarCount
    for row in 0..<pass.rowCount {
      let values = pass.values + row &* pass.valueStride
      let words = UnsafeMutableRawPointer(pass.words + row &* pass.wordStride)
      var column = 0
      while column &+ 2 &* width <= pass.columnCount {
        let pairs = bf16_rounded(pass.scaled(values, column), pass.scaled(values, column &+ width))
        (words + 2 &* column).storeBytes(of: pairs, as: SIMD16<Int32>.self)
        column &+= 2 &* width
      }
      if column < pass.columnCount {
        let last = pass.scaled(values, column)
        (words + 2 &* column).storeBytes(of: bf16_rounded(last, last).lowHalf, as: SIMD8<Int32>.self)
      }
    }
  }

  extension PackingPass {
    @inline(__always)
    fileprivate func scaled(_ values: UnsafePointer<Float>, _ column: Int) -> Vector {
      let value = load(values + column)
      guard let factors else { return value }
      return value * load(factors + column)
    }
  }
#endif

/// The kernels of bfloat16 products; nil where the module was compiled without its instructions.
package func bfloat16Product() -> ProductKernels? {
  #if KERNEL_HAS_ITS_INSTRUCTIONS && KERNEL_AVX512
    ProductKernels(
      valuesPerWord: 2, multiply: { multiply($0, BFloat16Elements.self) }, pack: { packBFloat16($0) })
  #else
    nil
  #endif
}
