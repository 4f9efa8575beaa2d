import KernelInterface

/// Turns the sums of a tile, which lie in `C`, into the product's elements: compiled once for a type of elements rather
/// than once for each tile and activation, because a call costs less than a step of the depth.
enum Epilogue<Elements: ProductElements> {
  @inline(__always)
  static func finish(_ product: MatrixProduct, row: Int, rows: Int, column: Int, vectors: Int) {
    if !Elements.areWholeNumbers && product.residual == nil && product.activation == .identity { return }
    apply(product, row: row, rows: rows, column: column, vectors: vectors)
  }

  @inline(never)
  private static func apply(_ product: MatrixProduct, row: Int, rows: Int, column: Int, vectors: Int) {
    let place = row &* product.cStride &+ column
    if Elements.areWholeNumbers, let levels = product.levels {
      product.activation.select(
        Levels(product: product, levels: levels, place: place, column: column, rows: rows, vectors: vectors))
    } else {
      product.activation.select(
        Values(product: product, place: place, column: column, rows: rows, vectors: vectors))
    }
  }

  /// The sums times their scales.
  @inline(__always)
  private static func value(_ place: UnsafeMutablePointer<Float>, scale: Vector) -> Vector {
    let sums = Elements.floats(UnsafeRawPointer(place).loadUnaligned(as: Elements.Sums.self))
    return Elements.areWholeNumbers ? sums * scale : sums
  }

  @inline(__always)
  private static func scale(_ product: MatrixProduct, _ column: Int) -> Vector {
    Elements.areWholeNumbers ? load(product.scale! + column) : Vector(repeating: 1)
  }

  @inline(__always)
  private static func activated<Function: ActivationFunction>(_ x: Vector, _: Function.Type) -> Vector {
    guard Elements.areWholeNumbers else { return Function.apply(x) }
    var x: InlineArray<1, Vector> = [x]
    Function.applyExactly(&x)
    return x[0]
  }

  private struct Values: ActivationLoop {
    let product: MatrixProduct
    let place, column, rows, vectors: Int

    @inline(__always)
    func run<Function: ActivationFunction>(_: Function.Type) {
      for j in 0..<vectors {
        let first = place &+ j &* Vector.scalarCount
        let scale = scale(product, column &+ j &* Vector.scalarCount)
        if let residual = product.residual {
          for i in 0..<rows {
            let place = first &+ i &* product.cStride
            let sum = value(product.c + place, scale: scale) + load(residual + place)
            store(activated(sum, Function.self), product.c + place)
          }
        } else {
          for i in 0..<rows {
            let place = product.c + (first &+ i &* product.cStride)
            store(activated(value(place, scale: scale), Function.self), place)
          }
        }
      }
    }
  }

  private struct Levels: ActivationLoop {
    let product: MatrixProduct
    let levels: MatrixProduct.Levels
    let place, column, rows, vectors: Int

    @inline(__always)
    func run<Function: ActivationFunction>(_: Function.Type) {
      let rounding = LevelRounding(levels)
      for j in 0..<vectors {
        let first = product.c + (place &+ j &* Vector.scalarCount)
        let scale = scale(product, column &+ j &* Vector.scalarCount)
        var i = 0
        while i &+ 4 <= rows {
          round(InlineArray<4, _>(repeating: scale), first + i &* product.cStride, rounding, Function.self)
          i &+= 4
        }
        while i < rows {
          round(InlineArray<1, _>(repeating: scale), first + i &* product.cStride, rounding, Function.self)
          i &+= 1
        }
      }
    }

    /// The levels of a few rows at once.
    @inline(__always)
    private func round<let count: Int, Function: ActivationFunction>(
      _ scales: InlineArray<count, Vector>, _ first: UnsafeMutablePointer<Float>, _ rounding: LevelRounding,
      _: Function.Type
    ) {
      var numbers = scales
      for i in 0..<count { numbers[i] = value(first + i &* product.cStride, scale: scales[i]) }
      if Function.self != Identity.self {
        Function.applyExactly(&numbers)
        for i in 0..<count { numbers[i] = numbers[i] * rounding.factor }
      }
      for i in 0..<count { store(rounding.level(of: numbers[i]), first + i &* product.cStride) }
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
