import Testing

@testable import NetworkModule

/// Positions of another grid, against PyTorch's `interpolate(mode="bicubic", antialias=True)`, and rotary ones, against
/// timm's `RotaryEmbeddingDinoV3`.
@Suite struct PositionTests {
  private static let cases: [(from: Int, to: Int, weights: [[Double]])] = [
    (
      3, 5,
      [
        [1.0754717, -0.0754717, 0.0], [0.6492537, 0.3955224, -0.0447761], [0.0, 1.0, 0.0],
        [-0.0447761, 0.3955224, 0.6492537], [0.0, -0.0754717, 1.0754717],
      ]
    ),
    (
      5, 3,
      [
        [0.5846154, 0.4461538, 0.0, -0.0307692, 0.0],
        [-0.0372093, 0.2465116, 0.5813953, 0.2465116, -0.0372093],
        [0.0, -0.0307692, 0.0, 0.4461538, 0.5846154],
      ]
    ),
  ]

  @Test(arguments: cases.indices) func weightsAreThoseOfPyTorch(index: Int) {
    let (from, to, expected) = Self.cases[index]
    for (row, found) in NetworkWeights.bicubicWeights(from: from, to: to).enumerated() {
      var weights = [Double](repeating: 0, count: from)
      for (place, weight) in found { weights[place] = weight }
      for place in 0..<from {
        #expect(abs(weights[place] - expected[row][place]) < 1e-6, "\(from) to \(to), \(row), \(place)")
      }
    }
  }

  @Test func theSameSizeKeepsTheValues() {
    for (row, weights) in NetworkWeights.bicubicWeights(from: 37, to: 37).enumerated() {
      #expect(weights.allSatisfy { abs($0.weight - ($0.place == row ? 1 : 0)) < 1e-12 })
    }
  }

  /// `torch.atan2` of the sines and cosines of timm 1.0.31, for a head of 12 channels on a grid of 2x3.
  @Test func anglesAreThoseOfTimm() {
    let form = RotaryPositions.Form(headCount: 1, firstCount: 5, height: 2, width: 3)
    let expected: [[Double]] = [
      [3.141593, -0.676836, -0.145820, 2.094395, -0.902447, -0.194426],
      [3.141593, -0.676836, -0.145820, 0.000000, 0.000000, 0.000000],
      [3.141593, -0.676836, -0.145820, -2.094395, 0.902447, 0.194426],
      [-3.141593, 0.676836, 0.145820, 2.094395, -0.902447, -0.194426],
      [-3.141593, 0.676836, 0.145820, 0.000000, 0.000000, 0.000000],
      [-3.141593, 0.676836, 0.145820, -2.094395, 0.902447, 0.194426],
    ]
    for (token, row) in expected.enumerated() {
      let found = form.angles(ofToken: token, headSize: 12)
      #expect(found.count == row.count)
      for (i, (angle, value)) in zip(found, row).enumerated() {
        // Whole turns are one.
        let turns = (angle - value) / (2 * .pi)
        #expect(abs(turns - turns.rounded()) < 1e-6, "token \(token), pair \(i): \(angle), \(value)")
      }
    }
  }
}
