import KernelInterface

/// See ``KernelInterface/ElementType/int8``. A multiplication of words adds up the products of their values.
enum Int8Elements: ProductElements {
  static var areWholeNumbers: Bool { true }
  static var areStepsUnrolled: Bool { false }

  @inline(__always)
  static func accumulate(_ sums: inout Words, _ a: Int32, _ b: Words) {
    sums.accumulate(Words(repeating: a), b)
  }

  @inline(__always)
  static func floats(_ sums: Words) -> Vector { sums.floats }
}

/// The kernels of 8-bit products. Never inlined, see ``isBuiltForInstructionSet()``.
@inline(never)
package func int8Product() -> ProductKernels {
  ProductKernels(
    valuesPerWord: valuesPerWord, levelOffset: levelOffset, multiply: { multiply($0, Int8Elements.self) },
    pack: { packInt8($0) }, windows: levelWindows())
}

// A word holds the values of a few steps of the depth: four bytes if an instruction multiplies bytes, otherwise two
// numbers of 16 bits.
#if KERNEL_HAS_ITS_INSTRUCTIONS && (KERNEL_AVX512 || KERNEL_AVX2)
  let valuesPerWord = 4
  let levelOffset = 0
#elseif KERNEL_HAS_ITS_INSTRUCTIONS && KERNEL_DOT_PRODUCT
  let valuesPerWord = 4
  #if arch(wasm32)
    /// The host decides if the bytes of a level are signed.
    var levelOffset: Int {
      var sum = Words(repeating: 0)
      sum.accumulate(Words(repeating: 255), Words(repeating: 1))
      return sum[0] == 255 ? 0 : 128
    }
  #else
    let levelOffset = 128
  #endif
#else
  let valuesPerWord = 2
  let levelOffset = 0
#endif

extension Words {
  #if KERNEL_HAS_ITS_INSTRUCTIONS && (KERNEL_AVX512 || KERNEL_AVX2)
    /// Writes the bytes of four vectors of floats.
    @inline(__always)
    func store(_ words: UnsafeMutablePointer<Int32>, ofVector vector: Int) {
      let place = words + vector &* Words.scalarCount / valuesPerWord
      UnsafeMutableRawPointer(place).storeBytes(of: self, as: Words.self)
    }

    /// Writes the bytes of the first of four vectors.
    @inline(__always)
    func storeQuarter(_ words: UnsafeMutablePointer<Int32>, ofVector vector: Int) {
      let place = UnsafeMutableRawPointer(words + vector &* Words.scalarCount / valuesPerWord)
      #if KERNEL_AVX512
        place.storeBytes(of: lowHalf.lowHalf, as: SIMD4<Int32>.self)
      #else
        place.storeBytes(of: lowHalf.lowHalf, as: SIMD2<Int32>.self)
      #endif
    }
  #elseif KERNEL_HAS_ITS_INSTRUCTIONS && KERNEL_DOT_PRODUCT
    /// Writes the lowest bytes of the lanes less ``levelOffset``, a vector's share of words.
    @inline(__always)
    func storeLowParts(_ words: UnsafeMutablePointer<Int32>, ofVector vector: Int, offset: Words) {
      let bytes = (self ^ offset).lowBytes
      UnsafeMutableRawPointer(words + vector).storeBytes(of: bytes, as: SIMD4<UInt8>.self)
    }
  #else
    /// Writes the lower halves of the lanes, a vector's share of words.
    @inline(__always)
    func storeLowParts(_ words: UnsafeMutablePointer<Int32>, ofVector vector: Int, offset: Words) {
      let place = UnsafeMutableRawPointer(words + vector &* Words.scalarCount / valuesPerWord)
      #if KERNEL_AVX512
        place.storeBytes(of: SIMD16<Int16>(truncatingIfNeeded: self), as: SIMD16<Int16>.self)
      #elseif KERNEL_AVX2
        place.storeBytes(of: SIMD8<Int16>(truncatingIfNeeded: self), as: SIMD8<Int16>.self)
      #else
        place.storeBytes(of: lowHalves, as: SIMD4<Int16>.self)
      #endif
    }
  #endif
}

/// See ``PackingPass``.
func packInt8(_ pass: PackingPass) {
  let vectors = pass.columnCount / Vector.scalarCount
  let offset = Words(repeating: Int32(levelOffset))
  for row in 0..<pass.rowCount {
    let values = pass.values + row &* pass.valueStride
    let words = pass.words + row &* pass.wordStride
    #if KERNEL_HAS_ITS_INSTRUCTIONS && (KERNEL_AVX512 || KERNEL_AVX2)
      var vector = 0
      while vector &+ 4 <= vectors {
        let a = pass.wholeNumbers(values, vector)
        let b = pass.wholeNumbers(values, vector &+ 1)
        let c = pass.wholeNumbers(values, vector &+ 2)
        let d = pass.wholeNumbers(values, vector &+ 3)
        Words.bytes(a, b, c, d).store(words, ofVector: vector)
        vector &+= 4
      }
      while vector < vectors {
        let numbers = pass.wholeNumbers(values, vector)
        Words.bytes(numbers, numbers, numbers, numbers).storeQuarter(words, ofVector: vector)
        vector &+= 1
      }
    #else
      for vector in 0..<vectors {
        let number = pass.raised(values, vector).lowered(to: 12_583_167)
        unsafeBitCast(number, to: Words.self).storeLowParts(words, ofVector: vector, offset: offset)
      }
    #endif
  }
}

extension PackingPass {
  /// ``magic`` and a vector's nearest whole numbers, 0 or more. The sum with the zero point is not rounded.
  ///
  /// Clamp before adding, to a limit that is not a constant. Otherwise the compiler merges the addition into the clamp and
  /// emits two more instructions.
  @inline(__always)
  fileprivate func raised(_ values: UnsafePointer<Float>, _ vector: Int) -> Vector {
    let column = vector &* Vector.scalarCount
    let scaled = (load(values + column) * load(factors! + column)).raised(to: Vector(repeating: -zeroPoint))
    return scaled + (magic + Vector(repeating: zeroPoint))
  }

  #if KERNEL_HAS_ITS_INSTRUCTIONS && (KERNEL_AVX512 || KERNEL_AVX2)
    /// A vector's nearest whole numbers, 0 or more; far above 255 some other number above it.
    @inline(__always)
    fileprivate func wholeNumbers(_ values: UnsafePointer<Float>, _ vector: Int) -> Words {
      unsafeBitCast(raised(values, vector), to: Words.self) &- unsafeBitCast(magic, to: Words.self)
    }
  #endif
}

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
