extension ParityReport {
  /// Compares things that must be the same.
  mutating func compare<Value: Equatable>(
    _ stage: String, fixture: String, place: String, expected: Value, found: Value
  ) {
    let departure = Departure(
      fixture: fixture, place: place, expected: "\(expected)", found: "\(found)")
    record(stage, tolerance: nil, departure: expected == found ? nil : departure)
  }

  /// Compares numbers with a tolerance for their differences divided by `scale`; without one they must be equal as Float32. `found`
  /// is asked for by the flat index; a number that is not finite departs.
  mutating func compare(
    _ stage: String, fixture: String, tolerance: Double?, scale: Double = 1,
    samples: ParityManifest.Samples, foundShape: [Int], found: (Int) -> Float
  ) {
    guard samples.shape == foundShape else {
      let departure = Departure(
        fixture: fixture, place: "shape", expected: "\(samples.shape)", found: "\(foundShape)")
      return record(stage, tolerance: tolerance, departure: departure)
    }
    var greatest = 0.0
    var departure: Departure?
    let count = foundShape.reduce(1, *)
    for (index, expected) in zip(samples.indices, samples.values) {
      precondition((0..<count).contains(index), "index \(index) in a fixture of shape \(foundShape)")
      let value = found(index)
      let difference = abs(Double(value) - expected) / scale
      if tolerance.map({ difference <= $0 }) ?? (value == Float(expected)) {
        greatest = max(greatest, difference)
        continue
      }
      greatest = max(greatest, difference.isFinite ? difference : .infinity)
      departure =
        departure
        ?? Departure(
          fixture: fixture, place: "\(Self.position(index, in: foundShape))",
          expected: "\(Float(expected))", found: "\(value)")
    }
    record(stage, tolerance: tolerance, difference: greatest, departure: departure)
  }

  /// Compares a list of numbers with a tolerance, as above.
  mutating func compare(
    _ stage: String, fixture: String, tolerance: Double, scale: Double = 1, expected: [Double],
    found: [Float]
  ) {
    let samples = ParityManifest.Samples(
      shape: [expected.count], indices: Array(expected.indices), values: expected)
    compare(
      stage, fixture: fixture, tolerance: tolerance, scale: scale, samples: samples,
      foundShape: [found.count],
      found: { found[$0] })
  }

  /// Flat row-major index to one index a dimension.
  static func position(_ index: Int, in shape: [Int]) -> [Int] {
    var rest = index
    var position: [Int] = []
    for size in shape.reversed() {
      position.insert(rest % size, at: 0)
      rest /= size
    }
    return position
  }
}
