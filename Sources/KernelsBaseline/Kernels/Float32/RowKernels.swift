import KernelInterface

/// Ones, and zeros in the lanes behind the last column.
@inline(__always)
private func lastLanes(_ columnCount: Int) -> Vector {
  var lanes = Vector(repeating: 1)
  let rest = columnCount % Vector.scalarCount
  if rest > 0 { for lane in rest..<Vector.scalarCount { lanes[lane] = 0 } }
  return lanes
}

/// The sum of all lanes, in the same order for vectors of any width: column `c` belongs to the sum `c % 64`, the four sums
/// that share `c % 16` are added in pairs, and the 16 that are left one after another.
@inline(__always)
private func sum(_ count: Int, _ term: (Int) -> Vector) -> Float {
  let width = Vector.scalarCount
  let parts = 16 / width
  var sums = InlineArray<4, Sixteen>(repeating: Sixteen(repeating: Vector(repeating: 0)))
  var c = 0
  while c &+ 64 <= count {
    for i in 0..<4 {
      for part in 0..<parts { sums[i][part] += term(c &+ 16 &* i &+ part &* width) }
    }
    c &+= 64
  }
  // The places are constants, or the sums would lie in memory.
  for i in 0..<4 {
    for part in 0..<parts {
      let rest = c &+ 16 &* i &+ part &* width
      if rest < count { sums[i][part] += term(rest) }
    }
  }
  var result: Float = 0
  for part in 0..<parts {
    let vector = (sums[0][part] + sums[1][part]) + (sums[2][part] + sums[3][part])
    for lane in 0..<width { result += vector[lane] }
  }
  return result
}

#if KERNEL_AVX512
  private typealias Sixteen = InlineArray<1, Vector>
#elseif KERNEL_AVX2
  private typealias Sixteen = InlineArray<2, Vector>
#else
  private typealias Sixteen = InlineArray<4, Vector>
#endif

func normalizeRows(_ pass: RowNormalization) {
  let width = Vector.scalarCount
  let padded = (pass.columnCount &+ width &- 1) / width &* width
  let (last, lanes) = (padded &- width, lastLanes(pass.columnCount))
  let share = 1 / Float(pass.columnCount)
  for r in 0..<pass.rowCount {
    let values = pass.values + r &* pass.rowStride
    let output = pass.output + r &* pass.rowStride
    let mean = Vector(repeating: sum(padded) { load(values + $0) } * share)
    let squares = sum(padded) { c in
      var difference = load(values + c) - mean
      if c == last { difference *= lanes }
      return difference * difference
    }
    let inverse = Vector(repeating: 1 / (squares * share + pass.epsilon).squareRoot())
    guard let gradient = pass.gradient.map({ $0 + r &* pass.rowStride }) else {
      forEachVector(padded) { c in
        var result = load(pass.offset + c)
        result.accumulate((load(values + c) - mean) * inverse, load(pass.scale + c))
        store(result, output + c)
      }
      continue
    }
    let scaled = sum(padded) { load(gradient + $0) * load(pass.scale + $0) } * share
    let projected =
      sum(padded) { c in
        load(gradient + c) * load(pass.scale + c) * ((load(values + c) - mean) * inverse)
      } * share
    forEachVector(padded) { c in
      let normalized = (load(values + c) - mean) * inverse
      var result = load(gradient + c) * load(pass.scale + c) - Vector(repeating: scaled)
      result.accumulate(normalized, Vector(repeating: -projected))
      result *= inverse
      if c == last { result *= lanes }
      store(result, output + c)
    }
  }
}

/// The greatest of some numbers.
@inline(__always)
private func greatest(_ values: UnsafePointer<Float>, _ count: Int) -> Float {
  let width = Vector.scalarCount
  if count < width {
    var greatest = values[0]
    for i in 0..<count { greatest = max(greatest, values[i]) }
    return greatest
  }
  // Four side by side; the last vector reaches back.
  var vectors = InlineArray<4, Vector>(repeating: load(values + (count &- width)))
  var i = 0
  while i &+ 4 &* width <= count {
    for j in 0..<4 { vectors[j] = vectors[j].raised(to: load(values + (i &+ j &* width))) }
    i &+= 4 &* width
  }
  while i &+ width <= count {
    vectors[0] = vectors[0].raised(to: load(values + i))
    i &+= width
  }
  var lanes = vectors[0].raised(to: vectors[1]).raised(to: vectors[2].raised(to: vectors[3]))
  var half = width / 2
  while half > 0 {
    for lane in 0..<half { lanes[lane] = max(lanes[lane], lanes[lane &+ half]) }
    half /= 2
  }
  return lanes[0]
}

func softmaxRows(_ pass: RowSoftmax) {
  let width = Vector.scalarCount
  let padded = (pass.columnCount &+ width &- 1) / width &* width
  let (last, lanes) = (padded &- width, lastLanes(pass.columnCount))
  for r in 0..<pass.rowCount {
    let values = pass.values + r &* pass.rowStride
    if let gradient = pass.gradient.map({ $0 + r &* pass.rowStride }) {
      let mean = Vector(repeating: sum(padded) { load(values + $0) * load(gradient + $0) })
      forEachVector(padded) { c in store(load(values + c) * (load(gradient + c) - mean), gradient + c) }
      continue
    }
    let offset = Vector(repeating: greatest(values, pass.columnCount))
    let sum = sum(padded) { c in
      var power = exponential(load(values + c) - offset)
      if c == last { power *= lanes }
      store(power, values + c)
      return power
    }
    pass.factors[r] = 1 / sum
  }
}
