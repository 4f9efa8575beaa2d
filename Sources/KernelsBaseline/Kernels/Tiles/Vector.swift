#if KERNEL_AVX512
  typealias Vector = SIMD16<Float>
  typealias VectorBits = SIMD16<UInt32>
#elseif KERNEL_AVX2
  typealias Vector = SIMD8<Float>
  typealias VectorBits = SIMD8<UInt32>
#else
  typealias Vector = SIMD4<Float>
  typealias VectorBits = SIMD4<UInt32>
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
