import KernelInterface

// The register budget of each instruction set. A tile of R rows by W vectors takes R * W accumulators, W registers for
// the panel's row and one or two for the broadcast element and, where there is no fused multiply-add, the product.
#if KERNEL_AVX512
  typealias Vector = SIMD16<Float>
  typealias VectorBits = SIMD16<UInt32>
  /// 32 registers: 24 accumulators.
  typealias TwoVectorTile = Tile<12, 2>
  typealias ThreeVectorTile = Tile<8, 3>
  typealias OneVectorTile = Tile<12, 1>
#elseif KERNEL_AVX2
  typealias Vector = SIMD8<Float>
  typealias VectorBits = SIMD8<UInt32>
  /// 16 registers: 12 accumulators in the wide tile, 9 in the other, for with 12 the compiler spills one.
  typealias TwoVectorTile = Tile<6, 2>
  typealias ThreeVectorTile = Tile<3, 3>
  typealias OneVectorTile = Tile<6, 1>
#else
  typealias Vector = SIMD4<Float>
  typealias VectorBits = SIMD4<UInt32>
  #if arch(arm64)
    /// 32 registers: 24 accumulators.
    typealias TwoVectorTile = Tile<12, 2>
    typealias ThreeVectorTile = Tile<8, 3>
    typealias OneVectorTile = Tile<12, 1>
  #else
    /// 16 registers, one of them for products.
    typealias TwoVectorTile = Tile<6, 2>
    typealias ThreeVectorTile = Tile<3, 3>
    typealias OneVectorTile = Tile<6, 1>
  #endif
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
