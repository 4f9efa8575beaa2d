import Testing

@testable import Figures

@Suite struct CoverageTests {
  /// The share of each pixel that lies in a rectangle.
  private func expected(_ width: Int, _ height: Int, x: ClosedRange<Float>, y: ClosedRange<Float>) -> [Float]
  {
    func share(_ pixel: Int, _ range: ClosedRange<Float>) -> Float {
      max(min(range.upperBound, Float(pixel + 1)) - max(range.lowerBound, Float(pixel)), 0)
    }
    return (0..<width * height).map { share($0 % width, x) * share($0 / width, y) }
  }

  @Test(arguments: [
    (Float(1), Float(4), Float(2), Float(5)), (1.25, 3.5, 0.125, 6.75), (0, 7, 0, 7), (2.3, 2.6, 3.1, 3.4),
    (5.5, 6.999, 1, 1.5),
  ])
  func aRectangleCoversItsShareOfEachPixel(left: Float, right: Float, top: Float, bottom: Float) {
    let corners: [SIMD2<Float>] = [[left, top], [right, top], [right, bottom], [left, bottom]]
    for polygon in [corners, corners.reversed()] {
      var coverage = Coverage(width: 7, height: 7)
      coverage.add(polygon)
      for (index, (found, wanted)) in zip(coverage.values, expected(7, 7, x: left...right, y: top...bottom))
        .enumerated()
      {
        #expect(abs(found - wanted) < 1e-5, "pixel \(index % 7), \(index / 7): \(found), expected \(wanted)")
      }
    }
  }

  /// A sloping edge against many samples of each pixel.
  @Test func aTriangleCoversWhatSamplesSay() {
    let corners: [SIMD2<Float>] = [[1.3, 0.7], [11.6, 4.2], [3.9, 9.8]]
    var coverage = Coverage(width: 13, height: 11)
    coverage.add(corners)
    let samples = 64
    for (index, found) in coverage.values.enumerated() {
      var inside = 0
      for sample in 0..<samples * samples {
        let point = SIMD2(
          Float(index % 13) + (Float(sample % samples) + 0.5) / Float(samples),
          Float(index / 13) + (Float(sample / samples) + 0.5) / Float(samples))
        let signs = (0..<3).map { corner in
          let (from, to) = (corners[corner], corners[(corner + 1) % 3])
          return (to.x - from.x) * (point.y - from.y) - (to.y - from.y) * (point.x - from.x) >= 0
        }
        if signs.allSatisfy({ $0 }) || signs.allSatisfy({ !$0 }) { inside += 1 }
      }
      let wanted = Float(inside) / Float(samples * samples)
      #expect(abs(found - wanted) < 0.02, "pixel \(index % 13), \(index / 13): \(found), expected \(wanted)")
    }
  }

  @Test func aCircleHasItsArea() {
    for radius: Float in [3, 7.25, 9.5] {
      var coverage = Coverage(width: 24, height: 24)
      coverage.addCircle(centre: [12, 12], radius: radius)
      let area = coverage.values.reduce(0, +)
      #expect(abs(area / (.pi * radius * radius) - 1) < 0.01, "radius \(radius): \(area)")
    }
  }

  @Test func whatLiesOutsideIsLeftOut() {
    var coverage = Coverage(width: 4, height: 4)
    coverage.add([[-3, -3], [9, -3], [9, 2], [-3, 2]])
    #expect(coverage.values == [1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0])
  }
}
