import SystemModule

/// The least value of a smooth convex function by limited-memory BFGS.
enum Minimizer {
  private static let stepLimit = 500
  /// Steps whose slopes are remembered.
  private static let memory = 12
  /// No slope is steeper where the search ends.
  private static let flatSlope = 1e-8

  /// - Parameters:
  ///   - start: a place at which the function is finite.
  ///   - evaluate: the function's value and slope; an infinite value outside of its domain.
  /// - Returns: the place of the least value that was found.
  static func minimum(
    from start: [Double], _ evaluate: ([Double]) -> (value: Double, slope: [Double])
  ) -> [Double] {
    var place = start
    var (value, slope) = evaluate(place)
    var steps: [(step: [Double], change: [Double], product: Double)] = []
    for _ in 0..<stepLimit {
      if !slope.contains(where: { abs($0) > flatSlope }) { break }
      let direction = self.direction(slope, steps)
      let descent = Mathematics.dot(direction, slope)
      guard descent < 0 else { break }
      // Nothing is known of the curvature at first: a step of length 1 is safe where all values are near 1.
      var share = steps.isEmpty ? 1 / max(1, Mathematics.dot(slope, slope).squareRoot()) : 1
      var next = (place: place, value: value, slope: slope)
      var hasDescended = false
      while share > 1e-12 {
        next.place = zip(place, direction).map { $0 + share * $1 }
        (next.value, next.slope) = evaluate(next.place)
        if next.value <= value + 1e-4 * share * descent {
          hasDescended = true
          break
        }
        share /= 2
      }
      guard hasDescended else { break }
      let step = zip(next.place, place).map(-)
      let change = zip(next.slope, slope).map(-)
      let product = Mathematics.dot(step, change)
      if product > 0 { steps.append((step, change, product)) }
      if steps.count > memory { steps.removeFirst() }
      (place, value, slope) = next
    }
    return place
  }

  /// The negative slope times an estimate of the inverse of the second derivative.
  private static func direction(
    _ slope: [Double], _ steps: [(step: [Double], change: [Double], product: Double)]
  ) -> [Double] {
    var direction = slope.map { -$0 }
    var shares: [Double] = []
    for (step, change, product) in steps.reversed() {
      let share = Mathematics.dot(step, direction) / product
      Mathematics.add(change, times: -share, to: &direction)
      shares.append(share)
    }
    if let (_, change, product) = steps.last {
      let scale = product / Mathematics.dot(change, change)
      for index in direction.indices { direction[index] *= scale }
    }
    for ((step, change, product), share) in zip(steps, shares.reversed()) {
      Mathematics.add(step, times: share - Mathematics.dot(change, direction) / product, to: &direction)
    }
    return direction
  }
}
