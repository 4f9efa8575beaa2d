import KernelInterface

/// A window of constant size and stride, sliding over a run of outputs.
///
/// `run` outputs are computed at once from the `span` input pixels under them, `span = (run - 1) * stride + size`, so
/// that each pixel is loaded once for a row of taps. Value generics cannot compute it, so it is stated.
enum Window<let size: Int, let stride: Int, let run: Int, let span: Int> {
  @inline(never)
  fileprivate static func computeChannels<Function: ActivationFunction>(
    _ row: DepthwiseRow, _ interior: Range<Int>, _: Function.Type
  ) {
    guard interior.count >= run else {
      computeEdge(row, outputs: 0..<row.outputWidth, Function.self)
      return
    }
    computeEdge(row, outputs: 0..<interior.lowerBound, Function.self)
    forEachVector(row.channelCount) { channel in
      var total = Vector(repeating: 0)
      var x = interior.lowerBound
      while x &+ run <= interior.upperBound {
        computeRun(row, channel: channel, x: x, doneCount: 0, total: &total, Function.self)
        x &+= run
      }
      if x < interior.upperBound {
        // The last run reaches back over outputs already done.
        let start = interior.upperBound &- run
        computeRun(row, channel: channel, x: start, doneCount: x &- start, total: &total, Function.self)
      }
      if let sums = row.sums { store(load(sums + channel) + total, sums + channel) }
    }
    computeEdge(row, outputs: interior.upperBound..<row.outputWidth, Function.self)
  }

  /// Computes `run` outputs, of which the first `doneCount` are in the total already.
  @inline(__always)
  static func computeRun<Function: ActivationFunction>(
    _ row: DepthwiseRow, channel: Int, x: Int, doneCount: Int, total: inout Vector, _: Function.Type
  ) {
    let pixelStride = row.inputPixelStride
    let start = (x &* stride &- row.padLeft) &* pixelStride &+ channel
    var sums = InlineArray<run, Vector>(repeating: load(row.bias + channel))
    let weight = row.weight + channel
    for ky in 0..<size {
      guard let pixels = row.rows[ky] else { continue }
      var inputs = InlineArray<span, Vector>(repeating: Vector(repeating: 0))
      for i in 0..<span { inputs[i] = load(pixels + (start &+ i &* pixelStride)) }
      for kx in 0..<size {
        let tap = load(weight + (ky &* size &+ kx) &* row.weightStride)
        for i in 0..<run { sums[i].accumulate(tap, inputs[i &* stride &+ kx]) }
      }
    }
    let output = row.output + (x &* row.outputPixelStride &+ channel)
    for i in 0..<run {
      let value = Function.apply(sums[i])
      if i >= doneCount { total += value }
      store(value, output + i &* row.outputPixelStride)
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
          let pixel = left &+ kx &* row.dilation
          if pixel < 0 || pixel >= row.inputWidth { continue }
          let taps = row.weight + ((ky &* row.kernelSize &+ kx) &* row.weightStride &+ channel)
          let inputs = pixels + (pixel &* row.inputPixelStride &+ channel)
          for j in 0..<vectors { sums[j].accumulate(load(inputs + j &* width), load(taps + j &* width)) }
        }
      }
      for j in 0..<vectors {
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
  let reach = (row.kernelSize &- 1) &* row.dilation
  let first = min((row.padLeft &+ row.stride &- 1) / row.stride, row.outputWidth)
  let room = row.inputWidth &- 1 &- reach &+ row.padLeft
  let last = room < 0 ? 0 : min(room / row.stride &+ 1, row.outputWidth)
  return first..<max(first, last)
}

private struct Channels: ActivationLoop {
  let row: DepthwiseRow

  @inline(__always)
  func run<Function: ActivationFunction>(_: Function.Type) {
    let interior = interior(row)
    switch (row.kernelSize, row.stride, row.dilation) {
    case (3, 1, 1): Window<3, 1, 4, 6>.computeChannels(row, interior, Function.self)
    case (3, 2, 1): Window<3, 2, 4, 9>.computeChannels(row, interior, Function.self)
    case (5, 1, 1): Window<5, 1, 4, 8>.computeChannels(row, interior, Function.self)
    case (5, 2, 1): Window<5, 2, 2, 7>.computeChannels(row, interior, Function.self)
    default: computeEdge(row, outputs: 0..<row.outputWidth, Function.self)
    }
  }
}

/// See ``DepthwiseRow``.
func depthwiseRow(_ row: DepthwiseRow) {
  row.activation.select(Channels(row: row))
}
