import KernelInterface

func scaleColumns(
  _ matrix: UnsafeMutablePointer<Float>, _ rowCount: Int, _ columnCount: Int, _ rowStride: Int,
  _ factors: UnsafePointer<Float>
) {
  for r in 0..<rowCount {
    let row = matrix + r &* rowStride
    forEachVector(columnCount) { c in store(load(row + c) * load(factors + c), row + c) }
  }
}

func scaleRows(
  _ output: UnsafeMutablePointer<Float>, _ matrix: UnsafePointer<Float>, _ rowCount: Int,
  _ columnCount: Int, _ factors: UnsafePointer<Float>
) {
  for r in 0..<rowCount {
    let factor = Vector(repeating: factors[r])
    let offset = r &* columnCount
    forEachVector(columnCount) { c in
      store(load(matrix + (offset &+ c)) * factor, output + (offset &+ c))
    }
  }
}

func addRows(
  _ sums: UnsafeMutablePointer<Float>, _ matrix: UnsafePointer<Float>, _ rowCount: Int,
  _ columnCount: Int, _ rowStride: Int
) {
  for r in 0..<rowCount {
    let row = matrix + r &* rowStride
    forEachVector(columnCount) { c in store(load(sums + c) + load(row + c), sums + c) }
  }
}

private struct Elements: ActivationLoop {
  let values: UnsafeMutablePointer<Float>
  let count: Int

  @inline(__always)
  func run<Function: ActivationFunction>(_: Function.Type) {
    forEachVector(count) { i in store(Function.apply(load(values + i)), values + i) }
  }
}

func activate(_ values: UnsafeMutablePointer<Float>, _ count: Int, _ activation: Activation) {
  activation.select(Elements(values: values, count: count))
}

/// Twelve chains hide the latency of two multiply-adds a cycle on every CPU so far.
func peakProbe(_ repetitions: Int) -> Int {
  var sums = InlineArray<12, Vector>(repeating: Vector(repeating: 0))
  for i in 0..<12 { sums[i] = Vector(repeating: Float(i)) }
  let factor = Vector(repeating: Float(repetitions) * 1e-9)
  for _ in 0..<repetitions {
    for i in 0..<12 { sums[i].accumulate(sums[i], factor) }
  }
  var total = Vector(repeating: 0)
  for i in 0..<12 { total += sums[i] }
  // The sum is used, so that the loop is not removed.
  return total[0].isNaN ? 0 : repetitions &* 12 &* 2 &* Vector.scalarCount
}
