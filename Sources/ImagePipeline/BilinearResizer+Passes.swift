extension BilinearResizer {
  private typealias Lanes = SIMD4<Int32>

  private static var precisionBits: Int32 { ResamplingWeights.precisionBits }
  private static var half: Int32 { 1 << (precisionBits - 1) }

  /// Packs four rows: byte j of `words[x]` is `rows[j][x]`.
  static func interleave(
    _ rows: (UnsafePointer<UInt8>, UnsafePointer<UInt8>, UnsafePointer<UInt8>, UnsafePointer<UInt8>),
    count: Int,
    _ words: UnsafeMutablePointer<UInt32>
  ) {
    for x in 0..<count {
      words[x] =
        UInt32(rows.0[x]) | UInt32(rows.1[x]) << 8 | UInt32(rows.2[x]) << 16 | UInt32(rows.3[x]) << 24
    }
  }

  /// Unpacks what ``interleave(_:count:_:)`` packs, into rows that follow one another `stride` bytes apart.
  static func separate(
    _ words: UnsafePointer<UInt32>, count: Int, _ rows: UnsafeMutablePointer<UInt8>, stride: Int
  ) {
    for row in 0..<4 {
      let target = rows + row * stride
      let shift = UInt32(row * 8)
      for x in 0..<count { target[x] = UInt8(truncatingIfNeeded: words[x] &>> shift) }
    }
  }

  /// Resamples four packed rows of pixels, `[inputs, 3]` words, into packed rows of `weights.outputCount` pixels. Reads and
  /// writes one word more than the rows have.
  ///
  /// A word's four bytes are the same place in four rows and share their weights, so nothing has to be gathered.
  static func resampleRows(
    _ words: UnsafePointer<UInt32>, _ weights: ResamplingWeights, _ result: UnsafeMutablePointer<UInt32>
  ) {
    let source = UnsafeRawPointer(words)
    let target = UnsafeMutableRawPointer(result)
    for output in 0..<weights.outputCount {
      var sums = Sums()
      sums.add(
        source + weights.starts[output] * 12, stride: 12, weights.parts + output * weights.windowSize,
        count: weights.counts[output])
      (target + output * 12).storeBytes(of: sums.bytes, as: SIMD4<UInt32>.self)
    }
  }

  /// Writes one row of `count` bytes as the weighted sum of `rowCount` rows, which lie `stride` bytes apart.
  static func combineRows(
    _ rows: UnsafePointer<UInt8>, stride: Int, count: Int, _ parts: UnsafePointer<ResamplingWeights.Parts>,
    rowCount: Int, _ result: UnsafeMutablePointer<UInt8>
  ) {
    let blockEnd = count - count % 16
    for x in Swift.stride(from: 0, to: blockEnd, by: 16) {
      var sums = Sums()
      sums.add(UnsafeRawPointer(rows + x), stride: stride, parts, count: rowCount)
      UnsafeMutableRawPointer(result + x).storeBytes(of: sums.bytes, as: SIMD4<UInt32>.self)
    }
    for x in blockEnd..<count {
      var sum = half
      for index in 0..<rowCount { sum &+= Int32(rows[x + index * stride]) &* parts[index].whole }
      result[x] = UInt8(truncatingIfNeeded: min(sum >> precisionBits, 255))
    }
  }

  /// Sixteen weighted sums of bytes. Byte j of four words is a lane of accumulator j, so no byte has to be moved.
  private struct Sums {
    private var high = (Lanes(), Lanes(), Lanes(), Lanes())
    private var low = (
      Lanes(repeating: half), Lanes(repeating: half), Lanes(repeating: half), Lanes(repeating: half)
    )

    /// Adds the 16 bytes at `bytes`, at `bytes + stride` and so on, each with its weight.
    @inline(__always)
    mutating func add(
      _ bytes: UnsafeRawPointer, stride: Int, _ parts: UnsafePointer<ResamplingWeights.Parts>, count: Int
    ) {
      var bytes = bytes
      var parts = parts
      for _ in 0..<count {
        let words = bytes.loadUnaligned(as: SIMD4<UInt32>.self)
        let values = (
          Lanes(truncatingIfNeeded: words & 0xFF), Lanes(truncatingIfNeeded: words &>> 8 & 0xFF),
          Lanes(truncatingIfNeeded: words &>> 16 & 0xFF), Lanes(truncatingIfNeeded: words &>> 24)
        )
        let highPart = Lanes(repeating: Int32(parts.pointee.high))
        let lowPart = Lanes(repeating: Int32(parts.pointee.low))
        high.0 &+= values.0 &* highPart
        high.1 &+= values.1 &* highPart
        high.2 &+= values.2 &* highPart
        high.3 &+= values.3 &* highPart
        low.0 &+= values.0 &* lowPart
        low.1 &+= values.1 &* lowPart
        low.2 &+= values.2 &* lowPart
        low.3 &+= values.3 &* lowPart
        bytes += stride
        parts += 1
      }
    }

    /// The sums, shifted, clipped to 255 and packed as they came.
    var bytes: SIMD4<UInt32> {
      @inline(__always) get {
        Self.clipped(high.0, low.0) | Self.clipped(high.1, low.1) &<< 8 | Self.clipped(high.2, low.2) &<< 16
          | Self.clipped(high.3, low.3) &<< 24
      }
    }

    @inline(__always)
    private static func clipped(_ high: Lanes, _ low: Lanes) -> SIMD4<UInt32> {
      let shifted = ((high &<< ResamplingWeights.lowBits) &+ low) &>> precisionBits
      return SIMD4<UInt32>(truncatingIfNeeded: shifted.replacing(with: 255, where: shifted .> 255))
    }
  }
}
