import KernelInterface

/// A window of constant size and stride, sliding over a run of outputs.
///
/// `run` outputs are computed at once from the `span` input pixels under them, `span = (run - 1) * stride + size`, so
/// that each pixel is loaded once for a row of taps. Value generics cannot compute it, so it is stated.
enum Window<let size: Int, let stride: Int, let run: Int, let span: Int> {
  @inline(__always)
  static func computeRow<Function: ActivationFunction>(
    _ row: DepthwiseRow, channel: Int, interior: Range<Int>, _: Function.Type
  ) {
    var total = Vector(repeating: 0)
    edge(row, channel: channel, outputs: 0..<interior.lowerBound, total: &total, Function.self)
    var x = interior.lowerBound
    while x &+ run <= interior.upperBound {
      computeRun(row, channel: channel, x: x, total: &total, Function.self)
      x &+= run
    }
    edge(row, channel: channel, outputs: x..<row.outputWidth, total: &total, Function.self)
    if let sums = row.sums { store(load(sums + channel) + total, sums + channel) }
  }

  @inline(__always)
  static func computeRun<Function: ActivationFunction>(
    _ row: DepthwiseRow, channel: Int, x: Int, total: inout Vector, _: Function.Type
  ) {
    let pixelStride = row.inputPixelStride
    let start = (x &* stride &- row.padLeft) &* pixelStride &+ channel
    var sums = InlineArray<run, Vector>(repeating: load(row.bias + channel))
    var weight = row.weight + channel
    for ky in 0..<size {
      if let pixels = row.rows[ky] {
        var inputs = InlineArray<span, Vector>(repeating: Vector(repeating: 0))
        for i in 0..<span { inputs[i] = load(pixels + (start &+ i &* pixelStride)) }
        for kx in 0..<size {
          let tap = load(weight + kx &* row.weightStride)
          for i in 0..<run { sums[i].accumulate(inputs[i &* stride &+ kx], tap) }
        }
      }
      weight += size &* row.weightStride
    }
    let output = row.output + (x &* row.outputPixelStride &+ channel)
    for i in 0..<run {
      let value = Function.apply(sums[i])
      total += value
      store(value, output + i &* row.outputPixelStride)
    }
  }
}

/// Outputs whose window leaves the row, and what is left over when runs are full: one at a time, any size.
@inline(never)
private func edge<Function: ActivationFunction>(
  _ row: DepthwiseRow, channel: Int, outputs: Range<Int>, total: inout Vector, _: Function.Type
) {
  for x in outputs {
    let left = x &* row.stride &- row.padLeft
    var sum = load(row.bias + channel)
    for ky in 0..<row.kernelSize {
      guard let pixels = row.rows[ky] else { continue }
      for kx in 0..<row.kernelSize {
        let pixel = left &+ kx &* row.dilation
        if pixel < 0 || pixel >= row.inputWidth { continue }
        let tap = load(row.weight + ((ky &* row.kernelSize &+ kx) &* row.weightStride &+ channel))
        sum.accumulate(load(pixels + (pixel &* row.inputPixelStride &+ channel)), tap)
      }
    }
    let value = Function.apply(sum)
    total += value
    store(value, row.output + (x &* row.outputPixelStride &+ channel))
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
    default:
      forEachVector(row.channelCount) { channel in
        var total = Vector(repeating: 0)
        edge(row, channel: channel, outputs: 0..<row.outputWidth, total: &total, Function.self)
        if let sums = row.sums { store(load(sums + channel) + total, sums + channel) }
      }
    }
  }
}

extension Window {
  @inline(never)
  fileprivate static func computeChannels<Function: ActivationFunction>(
    _ row: DepthwiseRow, _ interior: Range<Int>, _: Function.Type
  ) {
    forEachVector(row.channelCount) {
      computeRow(row, channel: $0, interior: interior, Function.self)
    }
  }
}

/// See ``DepthwiseRow``.
func depthwiseRow(_ row: DepthwiseRow) {
  row.activation.select(Channels(row: row))
}
