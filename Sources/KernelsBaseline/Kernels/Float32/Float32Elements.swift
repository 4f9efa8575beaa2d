import KernelInterface

/// See ``KernelInterface/ElementType/float32``.
enum Float32Elements: ProductElements {
  static var areWholeNumbers: Bool { false }

  static var areStepsUnrolled: Bool {
    #if arch(wasm32)
      // Compilers of WebAssembly know no fence for loads.
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
