import KernelInterface

/// Turns the sums of a tile, dense rows of its vectors, into the product's elements: compiled once for a type of elements rather
/// than once for each tile and activation, because a call costs less than a step of the depth.
enum Epilogue<Elements: ProductElements> {
  /// False if the sums are the elements.
  @inline(__always)
  static func isNeeded(_ product: MatrixProduct) -> Bool {
    // `!=` would call the other module's, for each tile.
    if case .identity = product.activation { return Elements.areWholeNumbers || product.residual != nil }
    return true
  }

  @inline(never)
  static func apply(
    _ product: MatrixProduct, sums: UnsafeRawPointer, place: Int, rows: Int, column: Int, vectors: Int
  ) {
    let tile = Place(
      product: product, sums: sums.assumingMemoryBound(to: Float.self), first: place, column: column,
      rows: rows, vectors: vectors)
    if Elements.areWholeNumbers, let levels = product.levels {
      product.activation.select(Levels(tile: tile, levels: levels))
    } else {
      product.activation.select(Values(tile: tile))
    }
  }

  /// A tile's sums, and where its elements go.
  private struct Place {
    let product: MatrixProduct
    let sums: UnsafePointer<Float>
    let first, column, rows, vectors: Int

    /// Hands over the tile by columns of four vectors and of one: the place of the first, in `C`, the sums, and the scale.
    @inline(__always)
    func forEach(
      four: (Int, UnsafePointer<Float>, Vector) -> Void, one: (Int, UnsafePointer<Float>, Vector) -> Void
    ) {
      for j in 0..<vectors {
        let offset = j &* Vector.scalarCount
        let scale =
          Elements.areWholeNumbers ? load(product.scale! + (column &+ offset)) : Vector(repeating: 1)
        var i = 0
        while i &+ 4 <= rows {
          four(
            first &+ i &* product.cStride &+ offset, sums + (i &* vectors &* Vector.scalarCount &+ offset),
            scale)
          i &+= 4
        }
        while i < rows {
          one(
            first &+ i &* product.cStride &+ offset, sums + (i &* vectors &* Vector.scalarCount &+ offset),
            scale)
          i &+= 1
        }
      }
    }

    /// The sums of a few rows times their scales.
    @inline(__always)
    func values<let count: Int>(_ sums: UnsafePointer<Float>, _ scale: Vector) -> InlineArray<count, Vector> {
      InlineArray { i in
        let sums = Elements.floats(
          UnsafeRawPointer(sums + i &* vectors &* Vector.scalarCount).loadUnaligned(as: Elements.Sums.self))
        return Elements.areWholeNumbers ? sums * scale : sums
      }
    }
  }

  private struct Values: ActivationLoop {
    let tile: Place

    @inline(__always)
    func run<Function: ActivationFunction>(_: Function.Type) {
      tile.forEach {
        activate(tile.values($1, $2) as InlineArray<4, Vector>, $0, Function.self)
      } one: {
        activate(tile.values($1, $2) as InlineArray<1, Vector>, $0, Function.self)
      }
    }

    @inline(__always)
    private func activate<let count: Int, Function: ActivationFunction>(
      _ sums: InlineArray<count, Vector>, _ place: Int, _: Function.Type
    ) {
      let (product, stride) = (tile.product, tile.product.cStride)
      var values = sums
      if let residual = product.residual {
        for i in 0..<count { values[i] += load(residual + (place &+ i &* stride)) }
      }
      if Elements.areWholeNumbers {
        Function.applyExactly(&values)
      } else {
        for i in 0..<count { values[i] = Function.apply(values[i]) }
      }
      for i in 0..<count { store(values[i], product.c + (place &+ i &* stride)) }
    }
  }

  private struct Levels: ActivationLoop {
    let tile: Place
    let levels: MatrixProduct.Levels

    @inline(__always)
    func run<Function: ActivationFunction>(_: Function.Type) {
      let rounding = LevelRounding(levels)
      tile.forEach {
        round(tile.values($1, $2) as InlineArray<4, Vector>, $0, rounding, Function.self)
      } one: {
        round(tile.values($1, $2) as InlineArray<1, Vector>, $0, rounding, Function.self)
      }
    }

    @inline(__always)
    private func round<let count: Int, Function: ActivationFunction>(
      _ values: InlineArray<count, Vector>, _ place: Int, _ rounding: LevelRounding, _: Function.Type
    ) {
      var numbers = values
      if Function.self != Identity.self {
        Function.applyExactly(&numbers)
        for i in 0..<count { numbers[i] = numbers[i] * rounding.factor }
      }
      for i in 0..<count {
        store(rounding.level(of: numbers[i]), tile.product.c + (place &+ i &* tile.product.cStride))
      }
    }
  }
}

/// From values to the nearest levels, see ``KernelInterface/MatrixProduct/Levels``.
struct LevelRounding {
  let factor: Vector
  private let least: Vector
  private let greatest: Vector

  @inline(__always)
  init(_ levels: MatrixProduct.Levels) {
    factor = Vector(repeating: levels.factor)
    least = Vector(repeating: levels.least)
    greatest = Vector(repeating: levels.greatest)
  }

  /// Rounds before it clamps. Otherwise the compiler merges the addition of ``magic`` into the clamp and emits two more
  /// instructions.
  @inline(__always)
  func level(of number: Vector) -> Vector {
    ((number + magic) - magic).raised(to: least).lowered(to: greatest)
  }
}

/// Adding 1.5 x 2^23 rounds to a whole number and leaves it in the low bits.
@inline(__always)
var magic: Vector { Vector(repeating: 12_582_912) }
