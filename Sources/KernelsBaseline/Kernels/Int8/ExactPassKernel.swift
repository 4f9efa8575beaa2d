import Builtin
import KernelInterface

extension ExactPass: ActivationLoop {
  @inline(__always)
  func run<Function: ActivationFunction>(_: Function.Type) {
    var column = 0
    while column < columnCount {
      let scale = scales.map { load($0 + column) } ?? Vector(repeating: 1)
      if let levels {
        computeLevels(levels, column: column, scale: scale, Function.self)
      } else {
        for row in 0..<rowCount {
          store(value(row, column, scale, Function.self), output + (row &* outputStride &+ column))
        }
      }
      column &+= Vector.scalarCount
    }
  }

  @inline(__always)
  private func value<Function: ActivationFunction>(
    _ row: Int, _ column: Int, _ scale: Vector, _: Function.Type
  ) -> Vector {
    Function.applyExactly(load(values + (row &* valueStride &+ column)) * scale)
  }

  @inline(__always)
  private func computeLevels<Function: ActivationFunction>(
    _ levels: MatrixProduct.Levels, column: Int, scale: Vector, _: Function.Type
  ) {
    let rounding = LevelRounding(levels)
    var total = Vector(repeating: 0)
    for row in 0..<rowCount {
      let level = rounding.level(of: value(row, column, scale, Function.self) * rounding.factor)
      total += level
      store(level, output + (row &* outputStride &+ column))
    }
    guard let sums else { return }
    let place = UnsafeMutableRawPointer(sums + column)
    place.storeBytes(of: place.loadUnaligned(as: Words.self) &+ total.words, as: Words.self)
  }
}

/// See ``ExactPass``.
func activateExactly(_ pass: ExactPass) { pass.activation.select(pass) }

extension Vector {
  /// The lanes, which are whole numbers.
  @inline(__always)
  fileprivate var words: Words {
    var result = Words()
    #if KERNEL_AVX512
      result._storage._value = Builtin.fptosi_Vec16xFPIEEE32_Vec16xInt32(_storage._value)
    #elseif KERNEL_AVX2
      result._storage._value = Builtin.fptosi_Vec8xFPIEEE32_Vec8xInt32(_storage._value)
    #else
      result._storage._value = Builtin.fptosi_Vec4xFPIEEE32_Vec4xInt32(_storage._value)
    #endif
    return result
  }
}
