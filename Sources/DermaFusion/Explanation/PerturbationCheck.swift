/// Hides and shows parts of an image in the order of a map, and watches probabilities.
struct PerturbationCheck<Failure: Error> {
  /// The areas under each probability's curve.
  struct Areas {
    let deletion: [Double]
    let insertion: [Double]
  }

  /// `[size, size, 3]`, normalised.
  let pixels: [Float]
  let size: Int
  /// Of an image like ``pixels``, the same number each time.
  let probabilities: ([Float]) throws(Failure) -> [Double]

  /// Equal parts that the image is hidden in.
  static var steps: Int { 16 }
  /// Blurring leaves this many means across the image: about the width of RISE's Gaussian.
  private static var blurCells: Int { 4 }

  /// The areas under the probabilities against the share of the image that is hidden or shown, strongest places first.
  ///
  /// - Parameter map: `[size, size]`
  func areas(_ map: [Float]) throws(Failure) -> Areas {
    // Equal values keep the order of the image, so that the answer does not depend on the sort.
    let order = map.indices.sorted { (map[$0], $1) > (map[$1], $0) }
    return Areas(
      deletion: try areas(order, from: pixels, to: meanColour()),
      insertion: try areas(order, from: blurred(), to: pixels))
  }

  private func areas(_ order: [Int], from start: [Float], to end: [Float]) throws(Failure) -> [Double] {
    var current = start
    var values = [try probabilities(current)]
    for step in 0..<Self.steps {
      for pixel in order[order.count * step / Self.steps..<order.count * (step + 1) / Self.steps] {
        for channel in 0..<3 { current[pixel * 3 + channel] = end[pixel * 3 + channel] }
      }
      values.append(try probabilities(current))
    }
    return values[0].indices.map { index in
      let ends = (values[0][index] + values[Self.steps][index]) / 2
      return (values.reduce(0) { $0 + $1[index] } - ends) / Double(Self.steps)
    }
  }

  private func meanColour() -> [Float] {
    let area = size * size
    let means = (0..<3).map { channel in
      Float((0..<area).reduce(0) { $0 + Double(pixels[$1 * 3 + channel]) } / Double(area))
    }
    return (0..<area * 3).map { means[$0 % 3] }
  }

  private func blurred() -> [Float] {
    var result = pixels
    let cells = Self.blurCells
    for channel in 0..<3 {
      var sums = [Double](repeating: 0, count: cells * cells)
      var counts = sums
      for pixel in 0..<size * size {
        let cell = pixel / size * cells / size * cells + pixel % size * cells / size
        sums[cell] += Double(pixels[pixel * 3 + channel])
        counts[cell] += 1
      }
      let means = sums.indices.map { Float(sums[$0] / counts[$0]) }
      let smooth = Heatmap.resized(means, height: cells, width: cells, side: size)
      for pixel in smooth.indices { result[pixel * 3 + channel] = smooth[pixel] }
    }
    return result
  }
}
