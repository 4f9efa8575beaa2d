import Builtin
import CBuiltins

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

// The operations of the standard library's vectors are loops over lanes that the optimiser has to put together again.
// It mostly does, until a function grows, and one operation done lane by lane undoes everything. These are the vector
// instructions themselves, pure Swift all the same: what the standard library is written in.
#if KERNEL_AVX512
  private typealias Lanes = Builtin.Vec16xFPIEEE32

  @inline(__always) private func added(_ a: Lanes, _ b: Lanes) -> Lanes { Builtin.fadd_Vec16xFPIEEE32(a, b) }
  @inline(__always) private func subtracted(_ a: Lanes, _ b: Lanes) -> Lanes {
    Builtin.fsub_Vec16xFPIEEE32(a, b)
  }
  @inline(__always) private func multiplied(_ a: Lanes, _ b: Lanes) -> Lanes {
    Builtin.fmul_Vec16xFPIEEE32(a, b)
  }
  @inline(__always) private func divided(_ a: Lanes, _ b: Lanes) -> Lanes {
    Builtin.fdiv_Vec16xFPIEEE32(a, b)
  }
  @inline(__always) private func fused(_ a: Lanes, _ b: Lanes, _ c: Lanes) -> Lanes {
    Builtin.int_fma_Vec16xFPIEEE32(a, b, c)
  }
  /// `high` where `a < b`, otherwise `low`.
  @inline(__always)
  private func choose(_ a: Lanes, isBelow b: Lanes, _ high: Lanes, _ low: Lanes) -> Lanes {
    let mask = Builtin.sext_Vec16xInt1_Vec16xInt32(Builtin.fcmp_olt_Vec16xFPIEEE32(a, b))
    let bits = Builtin.bitcast_Vec16xFPIEEE32_Vec16xInt32(low)
    let flips = Builtin.xor_Vec16xInt32(Builtin.bitcast_Vec16xFPIEEE32_Vec16xInt32(high), bits)
    return Builtin.bitcast_Vec16xInt32_Vec16xFPIEEE32(
      Builtin.xor_Vec16xInt32(bits, Builtin.and_Vec16xInt32(flips, mask)))
  }
#elseif KERNEL_AVX2
  private typealias Lanes = Builtin.Vec8xFPIEEE32

  @inline(__always) private func added(_ a: Lanes, _ b: Lanes) -> Lanes { Builtin.fadd_Vec8xFPIEEE32(a, b) }
  @inline(__always) private func subtracted(_ a: Lanes, _ b: Lanes) -> Lanes {
    Builtin.fsub_Vec8xFPIEEE32(a, b)
  }
  @inline(__always) private func multiplied(_ a: Lanes, _ b: Lanes) -> Lanes {
    Builtin.fmul_Vec8xFPIEEE32(a, b)
  }
  @inline(__always) private func divided(_ a: Lanes, _ b: Lanes) -> Lanes {
    Builtin.fdiv_Vec8xFPIEEE32(a, b)
  }
  @inline(__always) private func fused(_ a: Lanes, _ b: Lanes, _ c: Lanes) -> Lanes {
    Builtin.int_fma_Vec8xFPIEEE32(a, b, c)
  }
  /// `high` where `a < b`, otherwise `low`.
  @inline(__always)
  private func choose(_ a: Lanes, isBelow b: Lanes, _ high: Lanes, _ low: Lanes) -> Lanes {
    let mask = Builtin.sext_Vec8xInt1_Vec8xInt32(Builtin.fcmp_olt_Vec8xFPIEEE32(a, b))
    let bits = Builtin.bitcast_Vec8xFPIEEE32_Vec8xInt32(low)
    let flips = Builtin.xor_Vec8xInt32(Builtin.bitcast_Vec8xFPIEEE32_Vec8xInt32(high), bits)
    return Builtin.bitcast_Vec8xInt32_Vec8xFPIEEE32(
      Builtin.xor_Vec8xInt32(bits, Builtin.and_Vec8xInt32(flips, mask)))
  }
#else
  private typealias Lanes = Builtin.Vec4xFPIEEE32

  @inline(__always) private func added(_ a: Lanes, _ b: Lanes) -> Lanes { Builtin.fadd_Vec4xFPIEEE32(a, b) }
  @inline(__always) private func subtracted(_ a: Lanes, _ b: Lanes) -> Lanes {
    Builtin.fsub_Vec4xFPIEEE32(a, b)
  }
  @inline(__always) private func multiplied(_ a: Lanes, _ b: Lanes) -> Lanes {
    Builtin.fmul_Vec4xFPIEEE32(a, b)
  }
  @inline(__always) private func divided(_ a: Lanes, _ b: Lanes) -> Lanes {
    Builtin.fdiv_Vec4xFPIEEE32(a, b)
  }
  @inline(__always) private func fused(_ a: Lanes, _ b: Lanes, _ c: Lanes) -> Lanes {
    Builtin.int_fma_Vec4xFPIEEE32(a, b, c)
  }
  /// `high` where `a < b`, otherwise `low`.
  @inline(__always)
  private func choose(_ a: Lanes, isBelow b: Lanes, _ high: Lanes, _ low: Lanes) -> Lanes {
    let mask = Builtin.sext_Vec4xInt1_Vec4xInt32(Builtin.fcmp_olt_Vec4xFPIEEE32(a, b))
    let bits = Builtin.bitcast_Vec4xFPIEEE32_Vec4xInt32(low)
    let flips = Builtin.xor_Vec4xInt32(Builtin.bitcast_Vec4xFPIEEE32_Vec4xInt32(high), bits)
    return Builtin.bitcast_Vec4xInt32_Vec4xFPIEEE32(
      Builtin.xor_Vec4xInt32(bits, Builtin.and_Vec4xInt32(flips, mask)))
  }
#endif

extension Vector {
  @inline(__always)
  private init(_ lanes: Lanes) {
    self.init()
    _storage._value = lanes
  }

  @inline(__always)
  static func + (_ a: Vector, _ b: Vector) -> Vector { Vector(added(a._storage._value, b._storage._value)) }

  @inline(__always)
  static func - (_ a: Vector, _ b: Vector) -> Vector {
    Vector(subtracted(a._storage._value, b._storage._value))
  }

  @inline(__always)
  static func * (_ a: Vector, _ b: Vector) -> Vector {
    Vector(multiplied(a._storage._value, b._storage._value))
  }

  @inline(__always)
  static func / (_ a: Vector, _ b: Vector) -> Vector {
    Vector(divided(a._storage._value, b._storage._value))
  }

  @inline(__always)
  static func += (_ a: inout Vector, _ b: Vector) { a = a + b }

  @inline(__always)
  static func *= (_ a: inout Vector, _ b: Vector) { a = a * b }

  /// `self += a * b`, fused where the instruction set has it. Elsewhere fusing would be a call into libm.
  @inline(__always)
  mutating func accumulate(_ a: Vector, _ b: Vector) {
    #if KERNEL_AVX512 || KERNEL_AVX2 || arch(arm64)
      self = Vector(fused(a._storage._value, b._storage._value, _storage._value))
    #else
      self += a * b
    #endif
  }

  // Each of these is one maximum or minimum instruction, in the order of operands that keeps NaN.

  @inline(__always)
  func raised(to low: Float) -> Vector { raised(to: Vector(repeating: low)) }

  @inline(__always)
  func raised(to low: Vector) -> Vector {
    Vector(choose(_storage._value, isBelow: low._storage._value, low._storage._value, _storage._value))
  }

  @inline(__always)
  func lowered(to high: Float) -> Vector { lowered(to: Vector(repeating: high)) }

  @inline(__always)
  func lowered(to high: Vector) -> Vector {
    Vector(choose(high._storage._value, isBelow: _storage._value, high._storage._value, _storage._value))
  }
}

/// Whether the compiler was given the flags of this module's instruction set. Unlike everything else here it runs on
/// any CPU: it returns a constant.
package func isBuiltForInstructionSet() -> Bool {
  #if KERNEL_DOT_PRODUCT && KERNEL_AVX512
    caller_is_built_for_avx512vnni()
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
