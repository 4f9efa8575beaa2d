// The register budget of each instruction set. A tile of R rows by W vectors takes R * W accumulators, W registers for
// the panel's row and one or two for the broadcast element and, where there is no fused multiply-add, the product.
#if KERNEL_AVX512
  /// 32 registers: 24 accumulators.
  typealias TwoVectorTile = Tile<12, 2>
  typealias ThreeVectorTile = Tile<8, 3>
  typealias OneVectorTile = Tile<12, 1>
#elseif KERNEL_AVX2
  /// 16 registers: 12 accumulators in the wide tile, 9 in the other, for with 12 the compiler spills one.
  typealias TwoVectorTile = Tile<6, 2>
  typealias ThreeVectorTile = Tile<3, 3>
  typealias OneVectorTile = Tile<6, 1>
#elseif arch(arm64)
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

// The same budgets: where products and sums of words are two instructions, a register holds the products.
#if KERNEL_AVX512 || arch(arm64)
  typealias QuantizedTwoVectorTile = QuantizedTile<12, 2>
  typealias QuantizedThreeVectorTile = QuantizedTile<8, 3>
  typealias QuantizedOneVectorTile = QuantizedTile<12, 1>
#else
  typealias QuantizedTwoVectorTile = QuantizedTile<6, 2>
  typealias QuantizedThreeVectorTile = QuantizedTile<3, 3>
  typealias QuantizedOneVectorTile = QuantizedTile<6, 1>
#endif
