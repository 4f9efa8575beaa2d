// The register budget of each instruction set, for every type of elements. A tile of R rows by W vectors takes R * W
// accumulators, W registers for the panel's row and one or two for the broadcast element and, where products and sums are
// two instructions, the product.
#if KERNEL_AVX512 || arch(arm64)
  /// 32 registers: 24 accumulators.
  typealias TwoVectorTile<Elements: ProductElements> = Tile<Elements, 12, 2>
  typealias ThreeVectorTile<Elements: ProductElements> = Tile<Elements, 8, 3>
  typealias OneVectorTile<Elements: ProductElements> = Tile<Elements, 12, 1>
  let rowTile = 12
#else
  /// 16 registers: 12 accumulators in the wide tile, 9 in the other, for with 12 the compiler spills one.
  typealias TwoVectorTile<Elements: ProductElements> = Tile<Elements, 6, 2>
  typealias ThreeVectorTile<Elements: ProductElements> = Tile<Elements, 3, 3>
  typealias OneVectorTile<Elements: ProductElements> = Tile<Elements, 6, 1>
  let rowTile = 6
#endif
