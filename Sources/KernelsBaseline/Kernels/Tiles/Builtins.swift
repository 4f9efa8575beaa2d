import Builtin

// All that is written in the compiler's own operations, so that nothing else depends on their names: the arithmetic of
// vectors, conversions, and the instructions that multiply whole numbers.

/// Keeps the compiler from moving loads from one step of the depth to another: it would gather more of them than there
/// are registers. No instruction.
@inline(__always)
func keepLoadsApart() { Builtin.fence_seqcst_singlethread() }

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

extension Vector {
  /// The first half of the lanes, and of another vector the second half.
  @inline(__always)
  func firstHalf(then other: Vector) -> Vector {
    var result = other
    for lane in 0..<Vector.scalarCount / 2 { result[lane] = self[lane] }
    #if KERNEL_AVX512 && KERNEL_HAS_ITS_INSTRUCTIONS
      let mask = VectorBits(0, 0, 0, 0, 0, 0, 0, 0, .max, .max, .max, .max, .max, .max, .max, .max)
      result._storage._value = Builtin.bitcast_Vec16xInt32_Vec16xFPIEEE32(
        Builtin.int_x86_avx512_pternlog_d_512(
          Builtin.bitcast_Vec16xFPIEEE32_Vec16xInt32(_storage._value),
          Builtin.bitcast_Vec16xFPIEEE32_Vec16xInt32(other._storage._value), mask._storage._value,
          (0xD8 as Int32)._value))
    #endif
    return result
  }
}

/// A bit for each lane of a vector, the first lane's the lowest; in as few bytes as hold them.
#if KERNEL_AVX512
  typealias LaneBits = UInt16
#else
  typealias LaneBits = UInt8
#endif

extension Vector {
  /// Ones in the lanes that lie between two others.
  @inline(__always)
  func bits(above low: Vector, below high: Vector) -> LaneBits {
    let (x, low, high) = (_storage._value, low._storage._value, high._storage._value)
    #if KERNEL_AVX512
      let lanes = Builtin.and_Vec16xInt1(
        Builtin.fcmp_olt_Vec16xFPIEEE32(low, x), Builtin.fcmp_olt_Vec16xFPIEEE32(x, high))
      return LaneBits(Builtin.bitcast_Vec16xInt1_Int16(lanes))
    #elseif KERNEL_AVX2
      let lanes = Builtin.and_Vec8xInt1(
        Builtin.fcmp_olt_Vec8xFPIEEE32(low, x), Builtin.fcmp_olt_Vec8xFPIEEE32(x, high))
      return LaneBits(Builtin.bitcast_Vec8xInt1_Int8(lanes))
    #else
      let lanes = Builtin.and_Vec4xInt1(
        Builtin.fcmp_olt_Vec4xFPIEEE32(low, x), Builtin.fcmp_olt_Vec4xFPIEEE32(x, high))
      return LaneBits(Builtin.zext_Int4_Int8(Builtin.bitcast_Vec4xInt1_Int4(lanes)))
    #endif
  }

  /// 1 in the lanes whose bit is set, 0 in the others.
  @inline(__always)
  init(onesAt bits: LaneBits) {
    self = Vector(repeating: 1)
    #if KERNEL_AVX512
      let mask = Builtin.sext_Vec16xInt1_Vec16xInt32(Builtin.bitcast_Int16_Vec16xInt1(bits._value))
      _storage._value = Builtin.bitcast_Vec16xInt32_Vec16xFPIEEE32(
        Builtin.and_Vec16xInt32(Builtin.bitcast_Vec16xFPIEEE32_Vec16xInt32(_storage._value), mask))
    #elseif KERNEL_AVX2
      let mask = Builtin.sext_Vec8xInt1_Vec8xInt32(Builtin.bitcast_Int8_Vec8xInt1(bits._value))
      _storage._value = Builtin.bitcast_Vec8xInt32_Vec8xFPIEEE32(
        Builtin.and_Vec8xInt32(Builtin.bitcast_Vec8xFPIEEE32_Vec8xInt32(_storage._value), mask))
    #else
      let mask = Builtin.sext_Vec4xInt1_Vec4xInt32(
        Builtin.bitcast_Int4_Vec4xInt1(Builtin.trunc_Int8_Int4(bits._value)))
      _storage._value = Builtin.bitcast_Vec4xInt32_Vec4xFPIEEE32(
        Builtin.and_Vec4xInt32(Builtin.bitcast_Vec4xFPIEEE32_Vec4xInt32(_storage._value), mask))
    #endif
  }
}

extension Vector {
  /// The lanes, which are whole numbers.
  @inline(__always)
  var words: Words {
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

extension Words {
  /// Adds, lane by lane, the products of a word's values: those of `a`, at most 255 less the offset, and those of `b`, as
  /// ``KernelInterface/ElementType/int8`` bounds them. None of the instructions can overflow.
  @inline(__always)
  mutating func accumulate(_ a: Words, _ b: Words) {
    #if KERNEL_HAS_ITS_INSTRUCTIONS && KERNEL_AVX512 && KERNEL_DOT_PRODUCT
      _storage._value = Builtin.int_x86_avx512_vpdpbusd_512(
        _storage._value, a._storage._value, b._storage._value)
    #elseif KERNEL_HAS_ITS_INSTRUCTIONS && KERNEL_AVX512
      let pairs = Builtin.int_x86_avx512_pmaddubs_w_512(
        Builtin.bitcast_Vec16xInt32_Vec64xInt8(a._storage._value),
        Builtin.bitcast_Vec16xInt32_Vec64xInt8(b._storage._value))
      _storage._value = Builtin.add_Vec16xInt32(
        _storage._value,
        Builtin.int_x86_avx512_pmaddw_d_512(
          pairs, Builtin.bitcast_Vec16xInt32_Vec32xInt16(Words.pairOfOnes._storage._value)))
    #elseif KERNEL_HAS_ITS_INSTRUCTIONS && KERNEL_AVX2 && KERNEL_DOT_PRODUCT
      _storage._value = Builtin.int_x86_avx512_vpdpbusd_256(
        _storage._value, a._storage._value, b._storage._value)
    #elseif KERNEL_HAS_ITS_INSTRUCTIONS && KERNEL_AVX2
      let pairs = Builtin.int_x86_avx2_pmadd_ub_sw(
        Builtin.bitcast_Vec8xInt32_Vec32xInt8(a._storage._value),
        Builtin.bitcast_Vec8xInt32_Vec32xInt8(b._storage._value))
      _storage._value = Builtin.add_Vec8xInt32(
        _storage._value,
        Builtin.int_x86_avx2_pmadd_wd(
          pairs, Builtin.bitcast_Vec8xInt32_Vec16xInt16(Words.pairOfOnes._storage._value)))
    #elseif KERNEL_HAS_ITS_INSTRUCTIONS && KERNEL_DOT_PRODUCT && arch(wasm32)
      _storage._value = Builtin.int_wasm_relaxed_dot_i8x16_i7x16_add_signed(
        Builtin.bitcast_Vec4xInt32_Vec16xInt8(b._storage._value),
        Builtin.bitcast_Vec4xInt32_Vec16xInt8(a._storage._value), _storage._value)
    #elseif KERNEL_HAS_ITS_INSTRUCTIONS && KERNEL_DOT_PRODUCT
      _storage._value = Builtin.int_aarch64_neon_sdot_Vec4xInt32_Vec16xInt8(
        _storage._value, Builtin.bitcast_Vec4xInt32_Vec16xInt8(a._storage._value),
        Builtin.bitcast_Vec4xInt32_Vec16xInt8(b._storage._value))
    #elseif !KERNEL_AVX512 && !KERNEL_AVX2 && arch(x86_64)
      _storage._value = Builtin.add_Vec4xInt32(
        _storage._value,
        Builtin.int_x86_sse2_pmadd_wd(
          Builtin.bitcast_Vec4xInt32_Vec8xInt16(a._storage._value),
          Builtin.bitcast_Vec4xInt32_Vec8xInt16(b._storage._value)))
    #elseif arch(wasm32)
      _storage._value = Builtin.add_Vec4xInt32(
        _storage._value,
        Builtin.int_wasm_dot(
          Builtin.bitcast_Vec4xInt32_Vec8xInt16(a._storage._value),
          Builtin.bitcast_Vec4xInt32_Vec8xInt16(b._storage._value)))
    #else
      let half = Words(repeating: 16)
      self = self &+ (a & Words(repeating: 0xFFFF)) &* ((b &<< half) &>> half)
      self = self &+ (a &>> half) &* (b &>> half)
    #endif
  }

  /// Two numbers 1 of 16 bits in each lane.
  @inline(__always)
  private static var pairOfOnes: Words { Words(repeating: 0x1_0001) }

  /// The lanes as floats, rounded to the nearest.
  @inline(__always)
  var floats: Vector {
    var result = Vector()
    #if KERNEL_AVX512
      result._storage._value = Builtin.sitofp_Vec16xInt32_Vec16xFPIEEE32(_storage._value)
    #elseif KERNEL_AVX2
      result._storage._value = Builtin.sitofp_Vec8xInt32_Vec8xFPIEEE32(_storage._value)
    #else
      result._storage._value = Builtin.sitofp_Vec4xInt32_Vec4xFPIEEE32(_storage._value)
    #endif
    return result
  }

  #if !KERNEL_AVX512 && !KERNEL_AVX2
    /// The lowest byte of each lane.
    @inline(__always)
    var lowBytes: SIMD4<UInt8> {
      var result = SIMD4<UInt8>()
      result._storage._value = Builtin.trunc_Vec4xInt32_Vec4xInt8(_storage._value)
      return result
    }

    /// The lower half of each lane.
    @inline(__always)
    var lowHalves: SIMD4<Int16> {
      var result = SIMD4<Int16>()
      result._storage._value = Builtin.trunc_Vec4xInt32_Vec4xInt16(_storage._value)
      return result
    }
  #endif

  #if KERNEL_HAS_ITS_INSTRUCTIONS && (KERNEL_AVX512 || KERNEL_AVX2)
    /// The lanes of four vectors, each 0 or more, as bytes; 255 where a lane is more.
    @inline(__always)
    static func bytes(_ a: Words, _ b: Words, _ c: Words, _ d: Words) -> Words {
      var result = Words()
      #if KERNEL_AVX512
        let first = Builtin.int_x86_avx512_packssdw_512(a._storage._value, b._storage._value)
        let second = Builtin.int_x86_avx512_packssdw_512(c._storage._value, d._storage._value)
        let bytes = Builtin.int_x86_avx512_packuswb_512(first, second)
        let order = Words(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15)
        result._storage._value = Builtin.int_x86_avx512_permvar_si_512(
          Builtin.bitcast_Vec64xInt8_Vec16xInt32(bytes), order._storage._value)
      #else
        let first = Builtin.int_x86_avx2_packssdw(a._storage._value, b._storage._value)
        let second = Builtin.int_x86_avx2_packssdw(c._storage._value, d._storage._value)
        let bytes = Builtin.int_x86_avx2_packuswb(first, second)
        let order = Words(0, 4, 1, 5, 2, 6, 3, 7)
        result._storage._value = Builtin.int_x86_avx2_permd(
          Builtin.bitcast_Vec32xInt8_Vec8xInt32(bytes), order._storage._value)
      #endif
      return result
    }
  #endif
}
