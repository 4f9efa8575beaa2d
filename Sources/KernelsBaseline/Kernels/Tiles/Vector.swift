import CBuiltins

#if KERNEL_AVX512
  typealias Vector = SIMD16<Float>
  typealias VectorBits = SIMD16<UInt32>
  typealias Words = SIMD16<Int32>
#elseif KERNEL_AVX2
  typealias Vector = SIMD8<Float>
  typealias VectorBits = SIMD8<UInt32>
  typealias Words = SIMD8<Int32>
#else
  typealias Vector = SIMD4<Float>
  typealias VectorBits = SIMD4<UInt32>
  typealias Words = SIMD4<Int32>
#endif

@inline(__always)
func load(_ pointer: UnsafePointer<Float>) -> Vector {
  UnsafeRawPointer(pointer).loadUnaligned(as: Vector.self)
}

@inline(__always)
func store(_ vector: Vector, _ pointer: UnsafeMutablePointer<Float>) {
  UnsafeMutableRawPointer(pointer).storeBytes(of: vector, as: Vector.self)
}

/// Steps through whole vectors.
@inline(__always)
func forEachVector(_ count: Int, _ body: (Int) -> Void) {
  var i = 0
  while i < count {
    body(i)
    i &+= Vector.scalarCount
  }
}

extension Vector {
  @inline(__always)
  static func += (_ a: inout Vector, _ b: Vector) { a = a + b }

  @inline(__always)
  static func *= (_ a: inout Vector, _ b: Vector) { a = a * b }
}

/// True if the compiler was given the flags of this module's instruction set. Unlike everything else here it runs on
/// any CPU: it returns a constant. Never inlined, because for WebAssembly one core is linked with either form of a module.
@inline(never)
package func isBuiltForInstructionSet() -> Bool {
  #if KERNEL_DOT_PRODUCT && KERNEL_AVX512
    caller_is_built_for_avx512vnni()
  #elseif KERNEL_DOT_PRODUCT && KERNEL_AVX2
    caller_is_built_for_avxvnni()
  #elseif KERNEL_DOT_PRODUCT
    caller_is_built_for_dotprod()
  #elseif KERNEL_AVX512
    caller_is_built_for_avx512()
  #elseif KERNEL_AVX2
    caller_is_built_for_avx2_fma()
  #else
    true
  #endif
}
