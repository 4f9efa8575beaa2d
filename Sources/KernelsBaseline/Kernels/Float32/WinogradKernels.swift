import KernelInterface

/// See ``WinogradInput``.
func winogradInput(_ tile: WinogradInput) {
  let plane = tile.planeStride
  forEachVector(tile.channelCount) { channel in
    let a = Quadruple(tile, column: 0, channel).inputTransformed()
    let b = Quadruple(tile, column: 1, channel).inputTransformed()
    let c = Quadruple(tile, column: 2, channel).inputTransformed()
    let d = Quadruple(tile, column: 3, channel).inputTransformed()
    let output = tile.output + channel
    Quadruple(a.x, b.x, c.x, d.x).inputTransformed().write(output, plane)
    Quadruple(a.y, b.y, c.y, d.y).inputTransformed().write(output + 4 &* plane, plane)
    Quadruple(a.z, b.z, c.z, d.z).inputTransformed().write(output + 8 &* plane, plane)
    Quadruple(a.w, b.w, c.w, d.w).inputTransformed().write(output + 12 &* plane, plane)
  }
}

/// See ``WinogradOutput``.
func winogradOutput(_ tile: WinogradOutput) { tile.activation.select(tile) }

extension WinogradOutput: ActivationLoop {
  @inline(__always)
  func run<Function: ActivationFunction>(_: Function.Type) {
    forEachVector(channelCount) { channel in
      let source = input + channel
      let a = Quadruple(source, planeStride).outputTransformed()
      let b = Quadruple(source + 4 &* planeStride, planeStride).outputTransformed()
      let c = Quadruple(source + 8 &* planeStride, planeStride).outputTransformed()
      let d = Quadruple(source + 12 &* planeStride, planeStride).outputTransformed()
      let bias = load(bias + channel)
      finish(a.left + b.left + c.left + bias, places[0], channel, Function.self)
      finish(a.right + b.right + c.right + bias, places[1], channel, Function.self)
      finish(b.left - c.left - d.left + bias, places[2], channel, Function.self)
      finish(b.right - c.right - d.right + bias, places[3], channel, Function.self)
    }
  }

  @inline(__always)
  private func finish<Function: ActivationFunction>(
    _ sum: Vector, _ place: Int?, _ channel: Int, _: Function.Type
  ) {
    guard let place else { return }
    let index = place &+ channel
    let value = if let residual { sum + load(residual + index) } else { sum }
    store(Function.apply(value), output + index)
  }
}

/// Four vectors along one side of a tile.
private struct Quadruple {
  let x, y, z, w: Vector

  @inline(__always)
  init(_ x: Vector, _ y: Vector, _ z: Vector, _ w: Vector) {
    self.x = x
    self.y = y
    self.z = z
    self.w = w
  }

  @inline(__always)
  init(_ tile: WinogradInput, column: Int, _ channel: Int) {
    self.init(
      load(tile.pixels[column] + channel), load(tile.pixels[4 &+ column] + channel),
      load(tile.pixels[8 &+ column] + channel), load(tile.pixels[12 &+ column] + channel))
  }

  @inline(__always)
  init(_ source: UnsafePointer<Float>, _ stride: Int) {
    self.init(load(source), load(source + stride), load(source + 2 &* stride), load(source + 3 &* stride))
  }

  /// `B^T` times the four.
  @inline(__always)
  func inputTransformed() -> Quadruple { Quadruple(x - z, y + z, z - y, y - w) }

  /// `A^T` times the four.
  @inline(__always)
  func outputTransformed() -> (left: Vector, right: Vector) { (x + y + z, y - z - w) }

  @inline(__always)
  func write(_ target: UnsafeMutablePointer<Float>, _ stride: Int) {
    store(x, target)
    store(y, target + stride)
    store(z, target + 2 &* stride)
    store(w, target + 3 &* stride)
  }
}
