import Builtin
import KernelInterface

extension ExactPass: ActivationLoop {
  @inline(__always)
  func run<Function: ActivationFunction>(_: Function.Type) {
    var column = 0
    while column < columnCount {
      let scale = scales.map { load($0 + column) } ?? Vector(repeating: 1)
      var total = Vector(repeating: 0)
      var row = 0
      while row &+ 4 <= rowCount {
        ExactRows<4>.compute(self, row, column, scale, &total, Function.self)
        row &+= 4
      }
      while row < rowCount {
        ExactRows<1>.compute(self, row, column, scale, &total, Function.self)
        row &+= 1
      }
      if let sums {
        let place = UnsafeMutableRawPointer(sums + column)
        place.storeBytes(of: place.loadUnaligned(as: Words.self) &+ total.words, as: Words.self)
      }
      column &+= Vector.scalarCount
    }
  }
}

/// A few rows at once.
private enum ExactRows<let count: Int> {
  @inline(__always)
  static func compute<Function: ActivationFunction>(
    _ pass: ExactPass, _ row: Int, _ column: Int, _ scale: Vector, _ total: inout Vector, _: Function.Type
  ) {
    let first = pass.values + (row &* pass.valueStride &+ column)
    var x = InlineArray<count, Vector> { load(first + $0 &* pass.valueStride) * scale }
    Function.applyExactly(&x)
    if let levels = pass.levels {
      let rounding = LevelRounding(levels)
      for i in 0..<count { x[i] = rounding.level(of: x[i] * rounding.factor) }
      for i in 0..<count { total += x[i] }
    }
    let place = pass.output + (row &* pass.outputStride &+ column)
    for i in 0..<count { store(x[i], place + i &* pass.outputStride) }
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
