import KernelInterface

/// See ``PackingPass``.
func packInt8(_ pass: PackingPass) {
  let vectors = pass.columnCount / Vector.scalarCount
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
        unsafeBitCast(number, to: Words.self).storeLowParts(words, ofVector: vector)
      }
    #endif
  }
}

extension PackingPass {
  /// ``magic`` and a vector's nearest whole numbers, 0 or more. The sum with the zero point is not rounded.
  ///
  /// The limit stands before the sum, and is no constant: else the compiler would draw the sum into their choice, which then
  /// takes two instructions more.
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
