import KernelInterface

/// The depthwise convolution of levels, where one instruction adds up the products of four bytes of any weights.
func levelWindows() -> ProductKernels.Windows? {
  #if KERNEL_HAS_ITS_INSTRUCTIONS && (KERNEL_AVX512 || KERNEL_AVX2) && KERNEL_DOT_PRODUCT
    ProductKernels.Windows(
      pack: { packWindows($0) },
      computeRow: { row in
        switch (row.kernelSize, row.stride) {
        case (3, 1): WindowsOfARun<3, 1>.computeRow(row)
        case (3, _): WindowsOfARun<3, 2>.computeRow(row)
        case (_, 1): WindowsOfARun<5, 1>.computeRow(row)
        default: WindowsOfARun<5, 2>.computeRow(row)
        }
      })
  #else
    nil
  #endif
}

#if KERNEL_HAS_ITS_INSTRUCTIONS && (KERNEL_AVX512 || KERNEL_AVX2) && KERNEL_DOT_PRODUCT
  /// See ``LevelWindowPass``.
  private func packWindows(_ pass: LevelWindowPass) {
    let stride = pass.pixelStride
    forEachVector(pass.channelCount) { channel in
      let row = pass.row + channel
      var (pixel, word) = (0, row)
      while pixel < pass.width {
        let place = row + pixel &* stride
        if pixel >= pass.levels.lowerBound, pixel &+ 4 <= pass.levels.upperBound {
          storeWord(word) { load(place + $0 &* stride) }
        } else {
          storeWord(word) {
            pass.levels.contains(pixel &+ $0) ? load(place + $0 &* stride) : Vector(repeating: 0)
          }
        }
        pixel &+= 4
        word += stride
      }
    }
  }

  /// Stores four levels as bytes, the first one lowest.
  @inline(__always)
  private func storeWord(_ place: UnsafeMutablePointer<Float>, _ level: (Int) -> Vector) {
    var (low, high) = (level(0), level(2))
    low.accumulate(level(1), Vector(repeating: 256))
    high.accumulate(level(3), Vector(repeating: 256))
    let word = low.words | high.words &<< Words(repeating: 16)
    UnsafeMutableRawPointer(place).storeBytes(of: word, as: Words.self)
  }

  // As many words at once as there are registers for their sums and the taps.
  #if KERNEL_AVX512
    private typealias WindowsOfARun<let size: Int, let stride: Int> = LevelWindow<size, stride, 3>
  #else
    private typealias WindowsOfARun<let size: Int, let stride: Int> = LevelWindow<size, stride, 2>
  #endif

  /// Windows of a size and a stride. The outputs whose first pixels lie in a word are computed together: their windows end in
  /// the next word. So many words at once, because the products of one output wait for each other.
  private enum LevelWindow<let size: Int, let stride: Int, let run: Int> {
    /// Outputs of a word, by the place of their first pixel.
    typealias Outputs = InlineArray<4, Words>
    /// For each output its taps on its word and on the next.
    typealias Taps = InlineArray<4, InlineArray<2, Words>>

    private static var outputCount: Int { 4 / stride }

    /// See ``ProductKernels/Windows/computeRow``.
    @inline(never)
    static func computeRow(_ row: DepthwiseRow) {
      forEachVector(row.channelCount) { channel in
        var x = 0
        while x &+ run &* outputCount <= row.outputWidth {
          compute(row, channel, x, run &* outputCount)
          x &+= run &* outputCount
        }
        while x < row.outputWidth {
          LevelWindow<size, stride, 1>.compute(row, channel, x, min(row.outputWidth &- x, outputCount))
          x &+= outputCount
        }
      }
    }

    /// Computes some outputs from the first of a word on.
    @inline(__always)
    private static func compute(_ row: DepthwiseRow, _ channel: Int, _ x: Int, _ count: Int) {
      let bias = words(row.bias + channel)
      var sums = InlineArray<run, Outputs>(repeating: Outputs(repeating: bias))
      let first = x / outputCount &* row.inputPixelStride &+ channel
      for ky in 0..<size {
        guard let pixels = row.rows[ky] else { continue }
        let weight = row.weight + (ky &* 2 &* outputCount &* row.weightStride &+ channel)
        let taps = Taps { output in
          InlineArray<2, Words> { part in
            output < outputCount
              ? words(weight + (2 &* output &+ part) &* row.weightStride) : Words(repeating: 0)
          }
        }
        var input = pixels + first
        var word = words(input)
        // Loops over words and outputs would not be unrolled, and the sums would lie in memory.
        feed(0, &input, row.inputPixelStride, &word, taps, &sums)
        feed(1, &input, row.inputPixelStride, &word, taps, &sums)
        feed(2, &input, row.inputPixelStride, &word, taps, &sums)
      }
      let output = row.output + (x &* row.outputPixelStride &+ channel)
      for i in 0..<count {
        store(sums[i / outputCount][i % outputCount].floats, output + i &* row.outputPixelStride)
      }
    }

    /// Adds the products of a word and of the next one, which becomes `word`.
    @inline(__always)
    private static func feed(
      _ place: Int, _ input: inout UnsafePointer<Float>, _ pixelStride: Int, _ word: inout Words,
      _ taps: Taps, _ sums: inout InlineArray<run, Outputs>
    ) {
      if place >= run { return }
      input += pixelStride
      let next = words(input)
      add(0, word, next, taps, &sums[place])
      add(1, word, next, taps, &sums[place])
      add(2, word, next, taps, &sums[place])
      add(3, word, next, taps, &sums[place])
      word = next
    }

    @inline(__always)
    private static func add(
      _ output: Int, _ word: Words, _ next: Words, _ taps: Taps, _ sums: inout Outputs
    ) {
      if output >= outputCount { return }
      sums[output].accumulate(word, taps[output][0])
      if output &* stride &+ size > 4 { sums[output].accumulate(next, taps[output][1]) }
    }

    @inline(__always)
    private static func words(_ place: UnsafePointer<Float>) -> Words {
      UnsafeRawPointer(place).loadUnaligned(as: Words.self)
    }
  }
#endif
