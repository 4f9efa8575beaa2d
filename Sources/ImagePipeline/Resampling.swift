import Builtin

/// The inputs that make up each output of a one-dimensional resize, with their fixed-point weights.
///
/// This is `precompute_coeffs` and `normalize_coeffs_8bpc` of Pillow's Resample.c, operation by operation, because the
/// weights are rounded: another order of the same arithmetic gives other pixels.
@safe final class ResamplingWeights {
  /// The fraction bits of a weight: 1.0 is `1 << 22`.
  static let precisionBits: Int32 = 22

  let outputCount: Int

  /// Weights that are stored for one output, from its first input on.
  let windowSize: Int

  /// First input of each output; never decreases.
  let starts: UnsafeMutablePointer<Int>

  /// Number of inputs of each output, 1...windowSize.
  let counts: UnsafeMutablePointer<Int>

  /// `[outputCount, windowSize]`, of which the first `counts` in each row are set.
  let values: UnsafeMutablePointer<Int32>

  /// The same as words that ``PairedFactors`` or ``PlainFactors`` multiply.
  let words: UnsafeMutablePointer<Int32>

  let arePaired: Bool

  /// - Parameter kept: the outputs that are computed; nil: all.
  init(
    inputSize: Int, outputSize: Int, kept: Range<Int>? = nil, interpolation: Interpolation = .bilinear
  ) {
    let scale = Double(inputSize) / Double(outputSize)
    let filterScale = max(scale, 1)
    let support = interpolation.support * filterScale
    let inverseScale = 1 / filterScale
    let kept = kept ?? 0..<outputSize
    outputCount = kept.count
    windowSize = Int(support.rounded(.up)) * 2 + 1
    unsafe starts = .allocate(capacity: outputCount)
    unsafe counts = .allocate(capacity: outputCount)
    unsafe values = .allocate(capacity: outputCount * windowSize)
    unsafe words = .allocate(capacity: outputCount * windowSize)
    var largest: Int32 = 0
    var window = [Double](repeating: 0, count: windowSize)
    for (output, place) in kept.enumerated() {
      let center = (Double(place) + 0.5) * scale
      let start = max(Int(center - support + 0.5), 0)
      let count = min(Int(center + support + 0.5), inputSize) - start
      var sum = 0.0
      for index in 0..<count {
        let weight = interpolation.weight(at: (Double(index + start) - center + 0.5) * inverseScale)
        window[index] = weight
        sum += weight
      }
      unsafe starts[output] = start
      unsafe counts[output] = count
      for index in 0..<count {
        let scaled = window[index] / sum * Double(1 << Self.precisionBits)
        let value = Int32(scaled < 0 ? scaled - 0.5 : scaled + 0.5)
        unsafe values[output * windowSize + index] = value
        largest = max(largest, value)
      }
    }
    arePaired = PairedFactors.areFaster && largest <= PairedFactors.largestWeight
    for output in 0..<outputCount {
      let first = output * windowSize
      for index in unsafe first..<(first + counts[output]) {
        unsafe words[index] = unsafe arePaired ? PairedFactors.word(ofWeight: values[index]) : values[index]
      }
    }
  }

  deinit {
    unsafe starts.deallocate()
    unsafe counts.deallocate()
    unsafe values.deallocate()
    unsafe words.deallocate()
  }
}

/// Four rows of bytes as the words that weights multiply, which are resampled horizontally at once.
@safe struct ResamplingWords: ~Copyable {
  private let words: UnsafeMutablePointer<Int32>
  /// Bytes of a row.
  private let count: Int
  /// A vector of the last pixel reads one word more.
  private var stride: Int { count + 1 }

  init(count: Int) {
    self.count = count
    unsafe words = .allocate(capacity: 4 * (count + 1))
    unsafe words.initialize(repeating: 0, count: 4 * (count + 1))
  }

  deinit { unsafe words.deallocate() }

  /// Sets row 0, 1, 2 or 3.
  func set(_ row: Int, _ bytes: UnsafePointer<UInt8>, for weights: ResamplingWeights) {
    let target = unsafe words + row * stride
    if weights.arePaired {
      unsafe Self.widen(bytes, count: count, target, PairedFactors.self)
    } else {
      unsafe Self.widen(bytes, count: count, target, PlainFactors.self)
    }
  }

  private static func widen<Factors: ResamplingFactors>(
    _ bytes: UnsafePointer<UInt8>, count: Int, _ words: UnsafeMutablePointer<Int32>, _: Factors.Type
  ) {
    let blockEnd = count - count % 16
    for x in Swift.stride(from: 0, to: blockEnd, by: 16) {
      let lanes = unsafe Factors.widened(UnsafeRawPointer(bytes + x).loadUnaligned(as: SIMD16<UInt8>.self))
      let target = unsafe UnsafeMutableRawPointer(words + x)
      unsafe target.storeBytes(of: lanes.0, as: Lanes.self)
      unsafe (target + 16).storeBytes(of: lanes.1, as: Lanes.self)
      unsafe (target + 32).storeBytes(of: lanes.2, as: Lanes.self)
      unsafe (target + 48).storeBytes(of: lanes.3, as: Lanes.self)
    }
    for x in blockEnd..<count { unsafe words[x] = Factors.word(ofByte: bytes[x]) }
  }

  /// Writes the four rows, `weights.outputCount` pixels each, `stride` bytes apart. A byte behind each of them is changed.
  func resample(_ weights: ResamplingWeights, _ result: UnsafeMutablePointer<UInt8>, stride: Int) {
    if weights.arePaired {
      unsafe resample(weights, result, resultStride: stride, PairedFactors.self)
    } else {
      unsafe resample(weights, result, resultStride: stride, PlainFactors.self)
    }
  }

  private func resample<Factors: ResamplingFactors>(
    _ weights: ResamplingWeights, _ result: UnsafeMutablePointer<UInt8>, resultStride: Int, _: Factors.Type
  ) {
    let rowBytes = stride * MemoryLayout<Int32>.stride
    var target = UnsafeMutableRawPointer(result)
    for output in 0..<weights.outputCount {
      var sums = Sums<Factors>()
      var source = unsafe UnsafeRawPointer(words + weights.starts[output] * 3)
      var weight = unsafe weights.words + output * weights.windowSize
      for _ in unsafe 0..<weights.counts[output] {
        unsafe sums.add(
          (
            source.loadUnaligned(as: Lanes.self), (source + rowBytes).loadUnaligned(as: Lanes.self),
            (source + 2 * rowBytes).loadUnaligned(as: Lanes.self),
            (source + 3 * rowBytes).loadUnaligned(as: Lanes.self)
          ), weight.pointee)
        unsafe source += 12
        unsafe weight += 1
      }
      let rows = unsafe unsafeBitCast(sums.bytes, to: SIMD4<UInt32>.self)
      unsafe target.storeBytes(of: rows[0], as: UInt32.self)
      unsafe (target + resultStride).storeBytes(of: rows[1], as: UInt32.self)
      unsafe (target + 2 * resultStride).storeBytes(of: rows[2], as: UInt32.self)
      unsafe (target + 3 * resultStride).storeBytes(of: rows[3], as: UInt32.self)
      unsafe target += 3
    }
  }
}

extension ResamplingWeights {
  /// Writes output row `output`, `count` bytes: the weighted sum of its input rows, of which the first is at `rows` and which lie
  /// `stride` bytes apart.
  func combineRows(
    _ rows: UnsafePointer<UInt8>, stride: Int, count: Int, output: Int, _ result: UnsafeMutablePointer<UInt8>
  ) {
    if arePaired {
      unsafe combineRows(rows, stride, count, output, result, PairedFactors.self)
    } else {
      unsafe combineRows(rows, stride, count, output, result, PlainFactors.self)
    }
  }

  private func combineRows<Factors: ResamplingFactors>(
    _ rows: UnsafePointer<UInt8>, _ stride: Int, _ count: Int, _ output: Int,
    _ result: UnsafeMutablePointer<UInt8>, _: Factors.Type
  ) {
    let (first, rowCount) = unsafe (output * windowSize, counts[output])
    let blockEnd = count - count % 16
    for x in Swift.stride(from: 0, to: blockEnd, by: 16) {
      var sums = Sums<Factors>()
      var source = unsafe UnsafeRawPointer(rows + x)
      for index in first..<first + rowCount {
        unsafe sums.add(
          Factors.widened(source.loadUnaligned(as: SIMD16<UInt8>.self)), words[index])
        unsafe source += stride
      }
      unsafe UnsafeMutableRawPointer(result + x).storeBytes(of: sums.bytes, as: SIMD16<UInt8>.self)
    }
    for x in blockEnd..<count {
      var sum = Self.half
      for index in 0..<rowCount { unsafe sum &+= Int32(rows[x + index * stride]) &* values[first + index] }
      unsafe result[x] = UInt8(truncatingIfNeeded: min(max(sum >> Self.precisionBits, 0), 255))
    }
  }

  /// A half: what makes a shift round.
  static var half: Int32 { 1 << (precisionBits - 1) }
}

private typealias Lanes = SIMD4<Int32>
private typealias Quad = (Lanes, Lanes, Lanes, Lanes)

/// Sixteen weighted sums of bytes.
private struct Sums<Factors: ResamplingFactors> {
  private var sums = (
    Lanes(repeating: ResamplingWeights.half), Lanes(repeating: ResamplingWeights.half),
    Lanes(repeating: ResamplingWeights.half), Lanes(repeating: ResamplingWeights.half)
  )

  @inline(__always)
  mutating func add(_ words: Quad, _ weight: Int32) {
    let weight = Lanes(repeating: weight)
    sums.0 &+= Factors.products(words.0, weight)
    sums.1 &+= Factors.products(words.1, weight)
    sums.2 &+= Factors.products(words.2, weight)
    sums.3 &+= Factors.products(words.3, weight)
  }

  /// The sums, shifted and limited to 0...255.
  var bytes: SIMD16<UInt8> {
    @inline(__always) get {
      let bits = ResamplingWeights.precisionBits
      return limited((sums.0 &>> bits, sums.1 &>> bits, sums.2 &>> bits, sums.3 &>> bits))
    }
  }
}

/// A way to multiply bytes by weights of 22 bits.
private protocol ResamplingFactors {
  /// The word of a byte for ``products(_:_:)``.
  static func word(ofByte byte: UInt8) -> Int32
  /// The words of 16 bytes, in their order.
  static func widened(_ bytes: SIMD16<UInt8>) -> Quad
  static func products(_ bytes: Lanes, _ weights: Lanes) -> Lanes
}

/// Numbers of 32 bits.
private enum PlainFactors: ResamplingFactors {
  @inline(__always)
  static func word(ofByte byte: UInt8) -> Int32 { Int32(byte) }

  @inline(__always)
  static func widened(_ bytes: SIMD16<UInt8>) -> Quad {
    let (low, high) = (bytes.lowHalf, bytes.highHalf)
    return (
      Lanes(truncatingIfNeeded: low.lowHalf), Lanes(truncatingIfNeeded: low.highHalf),
      Lanes(truncatingIfNeeded: high.lowHalf), Lanes(truncatingIfNeeded: high.highHalf)
    )
  }

  @inline(__always)
  static func products(_ bytes: Lanes, _ weights: Lanes) -> Lanes { bytes &* weights }
}

/// Two numbers of 16 bits, whose products one instruction adds: 128 times the byte with the weight's upper bits, and the byte
/// with the lower 7. For x86-64 and WebAssembly, where a product of 32 bits takes several instructions.
private enum PairedFactors: ResamplingFactors {
  #if arch(x86_64) || arch(wasm32)
    static let areFaster = true
  #else
    static let areFaster = false
  #endif
  /// Weights are 1 at most, but for bicubic and Lanczos at the edge of an image that grows.
  static let largestWeight = Int32(Int16.max) * 129

  static func word(ofWeight weight: Int32) -> Int32 {
    let upper = min(weight >> 7, Int32(Int16.max))
    return upper & 0xFFFF | (weight - upper << 7) << 16
  }

  @inline(__always)
  static func word(ofByte byte: UInt8) -> Int32 { Int32(byte) << 7 | Int32(byte) << 16 }

  @inline(__always)
  static func widened(_ bytes: SIMD16<UInt8>) -> Quad {
    let (low, high) = zipped(bytes, SIMD16<UInt8>())
    let (first, second) = unsafe pairs(unsafeBitCast(low, to: SIMD8<UInt16>.self))
    let (third, fourth) = unsafe pairs(unsafeBitCast(high, to: SIMD8<UInt16>.self))
    return (first, second, third, fourth)
  }

  @inline(__always)
  private static func pairs(_ bytes: SIMD8<UInt16>) -> (Lanes, Lanes) {
    var (low, high) = (SIMD8<UInt16>(), SIMD8<UInt16>())
    (low._storage._value, high._storage._value) = Builtin.interleave_Vec8xInt16(
      (bytes &<< 7)._storage._value, bytes._storage._value)
    return unsafe (unsafeBitCast(low, to: Lanes.self), unsafeBitCast(high, to: Lanes.self))
  }

  @inline(__always)
  private static func zipped(_ a: SIMD16<UInt8>, _ b: SIMD16<UInt8>) -> (SIMD16<UInt8>, SIMD16<UInt8>) {
    var (low, high) = (SIMD16<UInt8>(), SIMD16<UInt8>())
    (low._storage._value, high._storage._value) = Builtin.interleave_Vec16xInt8(
      a._storage._value, b._storage._value)
    return (low, high)
  }

  @inline(__always)
  static func products(_ bytes: Lanes, _ weights: Lanes) -> Lanes {
    #if arch(x86_64) || arch(wasm32)
      let bytes = Builtin.bitcast_Vec4xInt32_Vec8xInt16(bytes._storage._value)
      let weights = Builtin.bitcast_Vec4xInt32_Vec8xInt16(weights._storage._value)
      var result = Lanes()
      #if arch(x86_64)
        result._storage._value = Builtin.int_x86_sse2_pmadd_wd(bytes, weights)
      #else
        result._storage._value = Builtin.int_wasm_dot(bytes, weights)
      #endif
      return result
    #else
      preconditionFailure("pairs of \(bytes) and \(weights) where numbers of 32 bits are multiplied")
    #endif
  }
}

/// Sixteen numbers, limited to 0...255.
@inline(__always)
private func limited(_ lanes: Quad) -> SIMD16<UInt8> {
  var result = SIMD16<UInt8>()
  #if arch(x86_64)
    result._storage._value = Builtin.int_x86_sse2_packuswb_128(
      Builtin.int_x86_sse2_packssdw_128(lanes.0._storage._value, lanes.1._storage._value),
      Builtin.int_x86_sse2_packssdw_128(lanes.2._storage._value, lanes.3._storage._value))
  #elseif arch(wasm32)
    result._storage._value = Builtin.int_wasm_narrow_unsigned_Vec16xInt8_Vec8xInt16(
      Builtin.int_wasm_narrow_signed_Vec8xInt16_Vec4xInt32(lanes.0._storage._value, lanes.1._storage._value),
      Builtin.int_wasm_narrow_signed_Vec8xInt16_Vec4xInt32(lanes.2._storage._value, lanes.3._storage._value))
  #else
    let (low, high) = (Lanes(repeating: 0), Lanes(repeating: 255))
    func bytes(_ lanes: Lanes) -> SIMD4<UInt8> {
      SIMD4(truncatingIfNeeded: lanes.clamped(lowerBound: low, upperBound: high))
    }
    result = SIMD16(
      lowHalf: SIMD8(lowHalf: bytes(lanes.0), highHalf: bytes(lanes.1)),
      highHalf: SIMD8(lowHalf: bytes(lanes.2), highHalf: bytes(lanes.3)))
  #endif
  return result
}
