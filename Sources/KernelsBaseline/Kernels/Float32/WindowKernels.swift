import CBuiltins
import KernelInterface

/// A window of constant size and stride, sliding over runs of outputs.
///
/// Runs are as long as the registers allow, since the products of one output wait for each other. What is left over is
/// done in runs of four, the last of which reaches back over outputs already done.
enum SlidingWindow<let size: Int, let stride: Int, let run: Int> {
  @inline(never)
  fileprivate static func computeChannels<Function: ActivationFunction>(
    _ row: DepthwiseRow, _ interior: Range<Int>, _: Function.Type
  ) {
    guard interior.count >= 4 else {
      computeEdge(row, outputs: 0..<row.outputWidth, Function.self)
      return
    }
    computeEdge(row, outputs: 0..<interior.lowerBound, Function.self)
    forEachVector(row.channelCount) { channel in
      var total = Vector(repeating: 0)
      var x = interior.lowerBound
      while x &+ run <= interior.upperBound {
        OutputRun<size, stride, run>.compute(
          row, channel: channel, x: x, doneCount: 0, total: &total, Function.self)
        x &+= run
      }
      while x < interior.upperBound {
        let start = min(x, interior.upperBound &- 4)
        OutputRun<size, stride, 4>.compute(
          row, channel: channel, x: start, doneCount: x &- start, total: &total, Function.self)
        x = start &+ 4
      }
      if let sums = row.sums { store(load(sums + channel) + total, sums + channel) }
    }
    computeEdge(row, outputs: interior.upperBound..<row.outputWidth, Function.self)
  }
}

#if KERNEL_AVX512 || arch(arm64)
  private typealias WideWindow = SlidingWindow<7, 1, 8>
#else
  /// Six sums, seven taps and a pixel are what 16 registers hold.
  private typealias WideWindow = SlidingWindow<7, 1, 6>
#endif

/// Outputs computed at once. Each input pixel under them is loaded once for a row of taps, and the sums and the taps stay
/// in registers.
private enum OutputRun<let size: Int, let stride: Int, let run: Int> {
  /// Computes `run` outputs, of which the first `doneCount` are in the total already.
  @inline(__always)
  static func compute<Function: ActivationFunction>(
    _ row: DepthwiseRow, channel: Int, x: Int, doneCount: Int, total: inout Vector, _: Function.Type
  ) {
    let pixelStride = row.inputPixelStride
    let start = (x &* stride &- row.padLeft) &* pixelStride &+ channel
    let span = (run &- 1) &* stride &+ size
    var sums = InlineArray<run, Vector>(repeating: load(row.bias + channel))
    let weight = row.weight + channel
    for ky in 0..<size {
      guard let pixels = row.rows[ky] else { continue }
      let taps = InlineArray<size, Vector> { load(weight + (ky &* size &+ $0) &* row.weightStride) }
      var input = pixels + start
      // A loop over the pixels would not be unrolled, and the sums would lie in memory. Spans are 15 at most.
      if span > 0 { feed(0, &input, pixelStride, taps, &sums) }
      if span > 1 { feed(1, &input, pixelStride, taps, &sums) }
      if span > 2 { feed(2, &input, pixelStride, taps, &sums) }
      if span > 3 { feed(3, &input, pixelStride, taps, &sums) }
      if span > 4 { feed(4, &input, pixelStride, taps, &sums) }
      if span > 5 { feed(5, &input, pixelStride, taps, &sums) }
      if span > 6 { feed(6, &input, pixelStride, taps, &sums) }
      if span > 7 { feed(7, &input, pixelStride, taps, &sums) }
      if span > 8 { feed(8, &input, pixelStride, taps, &sums) }
      if span > 9 { feed(9, &input, pixelStride, taps, &sums) }
      if span > 10 { feed(10, &input, pixelStride, taps, &sums) }
      if span > 11 { feed(11, &input, pixelStride, taps, &sums) }
      if span > 12 { feed(12, &input, pixelStride, taps, &sums) }
      if span > 13 { feed(13, &input, pixelStride, taps, &sums) }
      if span > 14 { feed(14, &input, pixelStride, taps, &sums) }
    }
    let output = row.output + (x &* row.outputPixelStride &+ channel)
    if let arguments = row.arguments {
      let place = arguments + (x &* row.argumentStride &+ channel)
      for i in 0..<run { store_streamed(sums[i], place + i &* row.argumentStride) }
    }
    for i in 0..<run {
      let value = Function.apply(sums[i])
      if i >= doneCount { total += value }
      store(value, output + i &* row.outputPixelStride)
    }
  }

  /// Adds a pixel's products with the taps to the sums that it belongs to.
  ///
  /// - Parameter place: The pixel's, from the first under the run. A constant: the compiler drops the tests on it.
  @inline(__always)
  private static func feed(
    _ place: Int, _ input: inout UnsafePointer<Float>, _ pixelStride: Int, _ taps: InlineArray<size, Vector>,
    _ sums: inout InlineArray<run, Vector>
  ) {
    let value = load(input)
    input += pixelStride
    for kx in 0..<size {
      let offset = place &- kx
      if offset < 0 || offset % stride != 0 || offset / stride >= run { continue }
      sums[offset / stride].accumulate(taps[kx], value)
    }
  }
}

/// Outputs whose window leaves the row: one at a time, any size, four vectors of channels at once where there are as
/// many, since the sum of one would wait for itself.
@inline(never)
private func computeEdge<Function: ActivationFunction>(
  _ row: DepthwiseRow, outputs: Range<Int>, _: Function.Type
) {
  if outputs.isEmpty { return }
  var channel = 0
  while channel &+ 4 &* Vector.scalarCount <= row.channelCount {
    Edge<4>.compute(row, channel: channel, outputs: outputs, Function.self)
    channel &+= 4 &* Vector.scalarCount
  }
  while channel < row.channelCount {
    Edge<1>.compute(row, channel: channel, outputs: outputs, Function.self)
    channel &+= Vector.scalarCount
  }
}

private enum Edge<let vectors: Int> {
  @inline(__always)
  static func compute<Function: ActivationFunction>(
    _ row: DepthwiseRow, channel: Int, outputs: Range<Int>, _: Function.Type
  ) {
    let width = Vector.scalarCount
    var totals = InlineArray<vectors, Vector>(repeating: Vector(repeating: 0))
    for x in outputs {
      let left = x &* row.stride &- row.padLeft
      var sums = totals
      for j in 0..<vectors { sums[j] = load(row.bias + (channel &+ j &* width)) }
      for ky in 0..<row.kernelSize {
        guard let pixels = row.rows[ky] else { continue }
        for kx in 0..<row.kernelSize {
          let pixel = left &+ kx
          if pixel < 0 || pixel >= row.inputWidth { continue }
          let taps = row.weight + ((ky &* row.kernelSize &+ kx) &* row.weightStride &+ channel)
          let inputs = pixels + (pixel &* row.inputPixelStride &+ channel)
          for j in 0..<vectors { sums[j].accumulate(load(inputs + j &* width), load(taps + j &* width)) }
        }
      }
      for j in 0..<vectors {
        if let arguments = row.arguments {
          store_streamed(sums[j], arguments + (x &* row.argumentStride &+ channel &+ j &* width))
        }
        let value = Function.apply(sums[j])
        totals[j] += value
        store(value, row.output + (x &* row.outputPixelStride &+ channel &+ j &* width))
      }
    }
    guard let rowSums = row.sums else { return }
    for j in 0..<vectors {
      let place = rowSums + (channel &+ j &* width)
      store(load(place) + totals[j], place)
    }
  }
}

/// The outputs whose whole window lies in the row.
@inline(__always)
private func interior(_ row: DepthwiseRow) -> Range<Int> {
  let first = min((row.padLeft &+ row.stride &- 1) / row.stride, row.outputWidth)
  let room = row.inputWidth &- row.kernelSize &+ row.padLeft
  let last = room < 0 ? 0 : min(room / row.stride &+ 1, row.outputWidth)
  return first..<max(first, last)
}

private struct Channels: ActivationLoop {
  let row: DepthwiseRow

  @inline(__always)
  func run<Function: ActivationFunction>(_: Function.Type) {
    let interior = interior(row)
    switch (row.kernelSize, row.stride) {
    case (3, 1): SlidingWindow<3, 1, 6>.computeChannels(row, interior, Function.self)
    case (3, 2): SlidingWindow<3, 2, 6>.computeChannels(row, interior, Function.self)
    case (5, 1): SlidingWindow<5, 1, 8>.computeChannels(row, interior, Function.self)
    case (5, 2): SlidingWindow<5, 2, 6>.computeChannels(row, interior, Function.self)
    case (7, 1): WideWindow.computeChannels(row, interior, Function.self)
    default: computeEdge(row, outputs: 0..<row.outputWidth, Function.self)
    }
  }
}

/// See ``DepthwiseRow``.
func depthwiseRow(_ row: DepthwiseRow) {
  row.activation.select(Channels(row: row))
  if row.arguments != nil { finish_streamed_stores() }
}

/// See ``MaxPoolingRow``.
func maxPoolingRow(_ row: MaxPoolingRow) {
  for x in 0..<row.outputWidth {
    let left = x &* row.stride &- row.padLeft
    let columns = max(left, 0)..<min(left &+ row.kernelSize, row.inputWidth)
    let output = row.output + x &* row.outputPixelStride
    forEachVector(row.channelCount) { channel in
      var greatest = Vector(repeating: -.infinity)
      for ky in 0..<row.kernelSize {
        guard let pixels = row.rows[ky] else { continue }
        for column in columns {
          greatest = greatest.raised(to: load(pixels + (column &* row.inputPixelStride &+ channel)))
        }
      }
      store(greatest, output + channel)
    }
  }
}
