import NetworkModule

extension ActivationMap {
  /// The map's positive part, smooth and placed where the network looks: `[side, side]` over the square that the model
  /// saw, in the units of ``signedValues``, 0 at the least.
  ///
  /// Each of the map's pixels lies on the centre of its receptive field. Between them the map is interpolated by the cubic
  /// of Mitchell and Netravali ("Reconstruction Filters in Computer Graphics", 1988), which has no creases and next to no
  /// overshoot; beyond the outermost centres it goes on as it ends.
  ///
  /// - Parameter side: at least 1.
  public func placedSupport(side: Int) -> [Float] {
    let across = Self.taps(columns, side: side, inputSize: size)
    let down = Self.taps(rows, side: side, inputSize: size)
    let wide = unsafe [Float](unsafeUninitializedCapacity: height * side) { target, count in
      count = height * side
      for y in 0..<height {
        for (x, tap) in across.enumerated() {
          var sum: Float = 0
          for index in 0..<4 {
            sum += max(signedValues[y * width + tap.places[index]], 0) * tap.weights[index]
          }
          unsafe target[y * side + x] = sum
        }
      }
    }
    return unsafe [Float](unsafeUninitializedCapacity: side * side) { target, count in
      count = side * side
      unsafe wide.withUnsafeBufferPointer { wide in
        for (y, tap) in down.enumerated() {
          let rows = (0..<4).map { tap.places[$0] * side }
          for x in 0..<side {
            let upper = unsafe wide[rows[0] + x] * tap.weights[0] + wide[rows[1] + x] * tap.weights[1]
            let lower = unsafe wide[rows[2] + x] * tap.weights[2] + wide[rows[3] + x] * tap.weights[3]
            unsafe target[y * side + x] = max(upper + lower, 0)
          }
        }
      }
    }
  }

  /// ``placedSupport(side:)`` at the network's input size, scaled to 0...1: what pictures draw. All 0 where the status is not
  /// ``Status/ok``.
  public var placedValues: [Float] {
    if status != .ok { return values }
    let support = placedSupport(side: size)
    let greatest = support.max() ?? 0
    return greatest > 0 ? support.map { $0 / greatest } : support
  }

  private typealias Tap = (places: SIMD4<Int>, weights: SIMD4<Float>)

  /// For each of `side` pixels, the four of the map around it and their weights.
  private static func taps(_ geometry: FeatureMapGeometry, side: Int, inputSize: Int) -> [Tap] {
    let scale = Double(inputSize) / Double(side)
    return (0..<side).map { index in
      let inputPlace = (Double(index) + 0.5) * scale - 0.5
      let place = (inputPlace - geometry.first) / geometry.step
      let before = place.rounded(.down)
      var tap: Tap = (.zero, .zero)
      for offset in 0..<4 {
        tap.places[offset] = min(max(Int(before) + offset - 1, 0), geometry.count - 1)
        tap.weights[offset] = Float(mitchell(place - before - Double(offset - 1)))
      }
      return tap
    }
  }

  /// B = C = 1/3; the four weights of a place add up to 1.
  private static func mitchell(_ distance: Double) -> Double {
    let x = abs(distance)
    if x < 1 { return ((7 * x - 12) * x * x + 16.0 / 3) / 6 }
    if x < 2 { return (((-7.0 / 3 * x + 12) * x - 20) * x + 32.0 / 3) / 6 }
    return 0
  }

  /// Where the map's mass lies on average, each pixel at the centre of its receptive field, in fractions of the cropped
  /// image's sides: `x` 0 (left) ... 1 (right), `y` 0 (top) ... 1 (bottom); nil when there is nothing to show.
  public var massCentre: (x: Double, y: Double)? {
    guard status == .ok else { return nil }
    var (sum, x, y) = (0.0, 0.0, 0.0)
    for row in 0..<height {
      for column in 0..<width {
        let value = Double(max(signedValues[row * width + column], 0))
        sum += value
        x += value * Double(column)
        y += value * Double(row)
      }
    }
    let fraction = { (geometry: FeatureMapGeometry, place: Double) in
      min(max((geometry.first + place * geometry.step + 0.5) / Double(size), 0), 1)
    }
    return (fraction(columns, x / sum), fraction(rows, y / sum))
  }
}
