import KernelInterface

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

/// The kernels of Float32 products.
public func float32Product() -> ProductKernels {
  ProductKernels(valuesPerWord: 1, multiply: { multiply($0, Float32Elements.self) }, pack: nil)
}
